package cpio

import (
	"fmt"
	"io"
	"path"
	"strings"
)

// trailer is the name of the last entry.
const trailer = "TRAILER!!!"

// A Writer writes an archive. Add every entry in the order of their names, folders
// before what is in them, then Close it.
type Writer struct {
	w       io.Writer
	folders map[string]bool
	last    string
	inode   uint32
}

// NewWriter writes to w.
func NewWriter(w io.Writer) *Writer { return &Writer{w: w, folders: map[string]bool{".": true}} }

// Add writes an entry. The error is an *Invalid, after which the archive can go on
// without it, or w's, after which it cannot.
func (w *Writer) Add(e Entry) error {
	if err := w.check(e); err != nil {
		return err
	}
	w.last = e.Name
	if e.Mode&kinds == Directory {
		w.folders[e.Name] = true
	}
	w.inode++
	return w.entry(e, w.inode)
}

// Close writes the end. It does not close what is written to.
func (w *Writer) Close() error { return w.entry(Entry{Name: trailer}, 0) }

func (w *Writer) check(e Entry) error {
	bad := func(why string) error { return &Invalid{e.Name, why} }
	switch kind := e.Mode & kinds; {
	case len(e.Name) > MaxName || kind == Link && len(e.Body) > MaxName:
		return bad("is too long")
	case e.Name == trailer || e.Name == "." || !Clean(e.Name):
		return bad("is not the name of an entry")
	case e.Name <= w.last:
		return bad("is not in the order of names")
	case !w.folders[path.Dir(e.Name)]:
		return bad("has no folder")
	case kind != Regular && kind != Directory && kind != Link && kind != Character || e.Mode>>16 != 0:
		return bad("is of no kind that is written")
	case kind != Regular && kind != Link && len(e.Body) > 0:
		return bad("is no file, and has a content")
	case kind == Link && len(e.Body) == 0:
		return bad("leads nowhere")
	case int64(len(e.Body)) > MaxBody:
		return bad("is too large")
	}
	return nil
}

// Clean reports whether a name is one below the root, written in the one way.
func Clean(name string) bool {
	return name != "" && name == path.Clean(name) && name[0] != '/' && name != ".." && !strings.HasPrefix(name, "../") && !strings.Contains(name, "\x00")
}

// headerSize is the length of a header: a magic and 13 numbers of 8 digits.
const headerSize = 6 + 13*8

func (w *Writer) entry(e Entry, inode uint32) error {
	links := 1
	if e.Mode&kinds == Directory {
		links = 2
	}
	header := fmt.Sprintf("070701%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X",
		inode, e.Mode, 0, 0, links, 0, len(e.Body), 0, 0, e.Major, e.Minor, len(e.Name)+1, 0)
	head := header + e.Name + "\x00"
	for _, part := range [][]byte{[]byte(head), padding(len(head)), e.Body, padding(len(e.Body))} {
		if _, err := w.w.Write(part); err != nil {
			return err
		}
	}
	return nil
}

// padding fills up to a multiple of 4.
func padding(n int) []byte { return make([]byte, -n&3) }
