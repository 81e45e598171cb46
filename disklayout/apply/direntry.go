package apply

import (
	"path"
	"strings"
)

// Attributes of an entry of a folder (FAT specification, "Directory Structure").
const (
	volume  = 0x08
	folder  = 0x10
	archive = 0x20
)

// firstDay is the first that FAT counts, 1 January 1980.
const firstDay = 1 | 1<<5

// An entry is one of a folder, with a short name of 11 bytes.
type entry struct {
	name       string
	attributes byte
	cluster    uint32
	size       uint32
}

// label is the volume's, in the root.
var label = entry{espLabel + strings.Repeat(" ", 11-len(espLabel)), volume, 0, 0}

// list is what a folder holds.
func list(entries []entry) []byte {
	out := make([]byte, 32*len(entries))
	for i, e := range entries {
		b := out[32*i:]
		copy(b, e.name)
		b[11] = e.attributes
		for _, date := range []int{16, 18, 24} { // made, read, written
			le.PutUint16(b[date:], firstDay)
		}
		le.PutUint16(b[20:], uint16(e.cluster>>16))
		le.PutUint16(b[26:], uint16(e.cluster))
		le.PutUint32(b[28:], e.size)
	}
	return out
}

// name is the program's in its folder: 8 letters and 3.
func (p *program) name() string {
	base, end, _ := strings.Cut(path.Base(p.path), ".")
	return base + strings.Repeat(" ", 8-len(base)) + end
}
