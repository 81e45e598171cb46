package kmod

import (
	"bytes"
	"compress/gzip"
	"debug/elf"
	"io"
	"strings"

	"github.com/klauspost/compress/zstd"
	"github.com/ulikunitz/xz"
)

// ends are how the files of modules end.
var ends = []string{".ko", ".ko.xz", ".ko.zst", ".ko.gz"}

// IsModule reports whether a file is a module, by its name.
func IsModule(path string) bool {
	for _, end := range ends {
		if strings.HasSuffix(path, end) {
			return true
		}
	}
	return false
}

// Read reads the module at a path. The error is an *Invalid.
func Read(path string, body []byte) (Module, error) {
	body, err := unpacked(path, body)
	if err != nil {
		return Module{}, &Invalid{path, "cannot be unpacked: " + err.Error()}
	}
	if len(body) > MaxModule {
		return Module{}, &Invalid{path, "is too large"}
	}
	f, err := elf.NewFile(bytes.NewReader(body))
	if err != nil {
		return Module{}, &Invalid{path, "is no module: " + err.Error()}
	}
	section := f.Section(".modinfo")
	if f.Type != elf.ET_REL || section == nil || section.Type == elf.SHT_NOBITS {
		return Module{}, &Invalid{path, "is no module: it says nothing of itself"}
	}
	info, err := section.Data()
	if err != nil {
		return Module{}, &Invalid{path, "is no module: " + err.Error()}
	}
	m := Module{Name: Name(path), Body: body}
	before, _, _ := strings.Cut(path[strings.LastIndexByte(path, '/')+1:], ".ko")
	m.Path = path[:strings.LastIndexByte(path, '/')+1] + before + ".ko"
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
func unpacked(path string, body []byte) ([]byte, error) {
	var r io.Reader
	var err error
	switch path[strings.LastIndexByte(path, '.')+1:] {
	case "xz":
		r, err = xz.NewReader(bytes.NewReader(body))
	case "gz":
		r, err = gzip.NewReader(bytes.NewReader(body))
	case "zst":
		var z *zstd.Decoder
		if z, err = zstd.NewReader(bytes.NewReader(body), zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(MaxModule)); err == nil {
			defer z.Close()
		}
		r = z
	default:
		return body, nil
	}
	if err != nil {
		return nil, err
	}
	return io.ReadAll(io.LimitReader(r, MaxModule+1))
}
