package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"reflect"
	"regexp"
	"strconv"
	"strings"

	"sigs.k8s.io/yaml"
	goyaml "sigs.k8s.io/yaml/goyaml.v3"
)

// MaxFile is the size of the largest file that is read, in bytes.
const MaxFile = 1 << 20

// A file is what a configuration file of one daemon says.
type file[T any] interface {
	Filled() T
	faults() []*Invalid
}

// Load reads ingotd's file at path, fills it and checks it. Each fault is an *Invalid;
// all of them are joined.
func Load(path string) (Config, error) { return load[Config](path) }

// LoadBooter is Load for booterd's file.
func LoadBooter(path string) (Booter, error) { return load[Booter](path) }

func load[T file[T]](path string) (T, error) {
	var none T
	f, err := os.Open(path)
	if err != nil {
		return none, unread(path, err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, MaxFile+1))
	if err != nil {
		return none, unread(path, err)
	}
	return parse[T](path, data)
}

func unread(path string, err error) error {
	what := err.Error()
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		what = pe.Err.Error()
	}
	return &Invalid{File: path, What: "cannot be read: " + what}
}

// Parse is Load for the bytes of a file called name. Empty bytes are a good file.
func Parse(name string, data []byte) (Config, error) { return parse[Config](name, data) }

// ParseBooter is Parse for booterd's file.
func ParseBooter(name string, data []byte) (Booter, error) { return parse[Booter](name, data) }

func parse[T file[T]](name string, data []byte) (T, error) {
	var none T
	w := &walker{file: name, of: reflect.TypeFor[T](), lines: map[string]int{}}
	root := w.document(data)
	if len(w.faults) > 0 {
		return none, w.joined()
	}
	c, err := decode[T](root)
	if err != nil { // the walk has seen every field; this is a fault of ours
		w.fault(0, "", "cannot be decoded: "+err.Error())
		return none, w.joined()
	}
	c = c.Filled()
	for _, e := range c.faults() {
		e.File, e.Line = name, w.line(e.Path)
		w.faults = append(w.faults, e)
	}
	return c, w.joined()
}

// decode builds the value from what was walked, strictly once more.
func decode[T any](root any) (c T, err error) {
	raw, err := json.Marshal(root)
	if err != nil {
		return c, err
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	return c, d.Decode(&c)
}

// Marshal writes a Config or a Booter as a file that is read back. It holds no secret:
// neither has a place for one.
func Marshal(c any) ([]byte, error) { return yaml.Marshal(c) }

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
