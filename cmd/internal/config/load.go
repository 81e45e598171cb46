package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"regexp"
	"strconv"
	"strings"

	"sigs.k8s.io/yaml"
	goyaml "sigs.k8s.io/yaml/goyaml.v3"
)

// MaxFile is the size of the largest file that is read, in bytes.
const MaxFile = 1 << 20

// Load reads the file at path, fills it and checks it. Each fault is an *Invalid;
// all of them are joined.
func Load(path string) (Config, error) {
	f, err := os.Open(path)
	if err != nil {
		return Config{}, unread(path, err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, MaxFile+1))
	if err != nil {
		return Config{}, unread(path, err)
	}
	return Parse(path, data)
}

func unread(path string, err error) error {
	what := err.Error()
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		what = pe.Err.Error()
	}
	return &Invalid{File: path, What: "cannot be read: " + what}
}

// Parse is Load for the bytes of a file called name. Empty bytes are a good file.
func Parse(name string, data []byte) (Config, error) {
	w := &walker{file: name, lines: map[string]int{}}
	root := w.document(data)
	if len(w.faults) > 0 {
		return Config{}, w.joined()
	}
	c, err := decode(root)
	if err != nil { // the walk has seen every field; this is a fault of ours
		w.fault(0, "", "cannot be decoded: "+err.Error())
		return Config{}, w.joined()
	}
	c = c.Filled()
	for _, e := range c.faults() {
		e.File, e.Line = name, w.line(e.Path)
		w.faults = append(w.faults, e)
	}
	return c, w.joined()
}

// decode builds the Config from the walked values, strictly once more.
func decode(root any) (Config, error) {
	raw, err := json.Marshal(root)
	if err != nil {
		return Config{}, err
	}
	var c Config
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	return c, d.Decode(&c)
}

// Marshal writes c as a file that Parse reads back. It holds no secret: a Config
// has no place for one.
func Marshal(c Config) ([]byte, error) { return yaml.Marshal(c) }

// syntaxLine is where the parser says which line it could not read.
var syntaxLine = regexp.MustCompile(`^yaml: line (\d+): `)

// document reads the one document of data and returns its values in the shape of
// JSON.
func (w *walker) document(data []byte) any {
	if len(data) > MaxFile {
		w.fault(0, "", fmt.Sprintf("is larger than %d bytes", MaxFile))
		return nil
	}
	d := goyaml.NewDecoder(bytes.NewReader(data))
	var doc, more goyaml.Node
	err := d.Decode(&doc)
	if errors.Is(err, io.EOF) {
		return map[string]any{}
	}
	if err != nil {
		w.syntax(err)
		return nil
	}
	if err := d.Decode(&more); !errors.Is(err, io.EOF) {
		w.fault(more.Line, "", "holds more than one YAML document; keep one")
		return nil
	}
	return w.root(doc.Content[0])
}

// syntax reports what the parser could not read.
func (w *walker) syntax(err error) {
	what, line := err.Error(), 0
	if m := syntaxLine.FindStringSubmatch(what); m != nil {
		line, _ = strconv.Atoi(m[1]) // digits by the pattern
		what = what[len(m[0]):]
	}
	what = strings.TrimPrefix(what, "yaml: ")
	w.fault(line, "", "is no YAML: "+what)
}
