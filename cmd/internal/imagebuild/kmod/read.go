package kmod

import (
	"bytes"
	"debug/elf"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/ingotmetal/ingot/cmd/internal/imagebuild/unpack"
)

// ends are how the files of modules end.
var ends = []string{".ko", ".ko.xz", ".ko.zst", ".ko.gz"}

// IsModule reports whether a file is a module, by its name.
func IsModule(name string) bool {
	return slices.ContainsFunc(ends, func(end string) bool { return strings.HasSuffix(name, end) })
}

// Read reads the module at a path. The error is an *Invalid.
func Read(name string, body []byte) (Module, error) {
	body, err := unpacked(name, body)
	if err != nil {
		return Module{}, &Invalid{name, "cannot be unpacked: " + err.Error()}
	}
	if len(body) > MaxModule {
		return Module{}, &Invalid{name, "is too large"}
	}
	f, err := elf.NewFile(bytes.NewReader(body))
	if err != nil {
		return Module{}, &Invalid{name, "is no module: " + err.Error()}
	}
	section := f.Section(".modinfo")
	if f.Type != elf.ET_REL || section == nil || section.Type == elf.SHT_NOBITS {
		return Module{}, &Invalid{name, "is no module: it says nothing of itself"}
	}
	info, err := section.Data()
	if err != nil {
		return Module{}, &Invalid{name, "is no module: " + err.Error()}
	}
	dir, file := path.Split(name)
	file, _, _ = strings.Cut(file, ".ko")
	m := Module{Name: Name(name), Path: dir + file + ".ko", Body: body}
	m.tell(string(info))
	return m, nil
}

// tell takes in what a module says of itself: name=value, each with a zero at its end.
func (m *Module) tell(info string) {
	for entry := range strings.SplitSeq(info, "\x00") {
		name, value, _ := strings.Cut(entry, "=")
		switch name {
		case "depends":
			for need := range strings.SplitSeq(value, ",") {
				if need != "" {
					m.Needs = append(m.Needs, Name(need))
				}
			}
		case "softdep":
			m.Before = append(m.Before, before(value)...)
		case "vermagic":
			m.Release, _, _ = strings.Cut(value, " ")
		}
	}
}

// before are the modules that a softdep names before the module: "pre: a b post: c".
func before(softdep string) (out []string) {
	pre := false
	for word := range strings.FieldsSeq(softdep) {
		if strings.HasSuffix(word, ":") {
			pre = word == "pre:"
		} else if pre {
			out = append(out, Name(word))
		}
	}
	return out
}

// unpacked undoes the compression that a path shows.
func unpacked(name string, body []byte) ([]byte, error) {
	r, done, known, err := unpack.Reader(path.Ext(name), bytes.NewReader(body), MaxModule)
	if !known {
		return body, nil
	}
	if err != nil {
		return nil, err
	}
	defer done()
	return io.ReadAll(io.LimitReader(r, MaxModule+1))
}
