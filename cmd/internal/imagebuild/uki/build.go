package uki

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
)

// page is what sections in memory are aligned to, at least.
const page = 4096

// readable is what a section of data is: initialized, and read.
const readable = 0x40000040

// Build makes an image of stub, such as systemd's linuxx64.efi.stub, with sections
// behind its own. The error is an *Invalid.
func Build(stub []byte, sections []Section) ([]byte, error) {
	l, err := read("stub", stub)
	if err != nil {
		return nil, err
	}
	if l.head.DataDirectory[4].Size != 0 {
		return nil, &Invalid{"stub", "is signed, and what is put behind it would void that: take the one without a signature"}
	}
	if err := l.accepts(sections); err != nil {
		return nil, err
	}
	out, err := l.room(stub, len(sections))
	if err != nil {
		return nil, err
	}
	memory := up(int64(l.head.SizeOfImage), l.unit())
	le, table := binary.LittleEndian, l.table+len(l.file.Sections)*sizeSection
	var data uint32
	for i, s := range sections {
		at := up(int64(len(out)), int64(l.head.FileAlignment))
		size := up(int64(len(s.Data)), int64(l.head.FileAlignment))
		out = append(out, make([]byte, at-int64(len(out)))...)
		h := out[table+i*sizeSection:]
		copy(h[:8], s.Name)
		for j, v := range []int64{int64(len(s.Data)), memory, size, at} {
			le.PutUint32(h[8+4*j:], uint32(v))
		}
		le.PutUint32(h[36:], readable)
		out = append(append(out, s.Data...), make([]byte, size-int64(len(s.Data)))...)
		memory = up(memory+int64(len(s.Data)), l.unit())
		data += uint32(size)
	}
	if memory > MaxImage || len(out) > MaxImage {
		return nil, &Invalid{"image", fmt.Sprintf("would have %d bytes in memory, at most %d", memory, MaxImage)}
	}
	le.PutUint16(out[l.optional-sizeFileHeader+6:], uint16(len(l.file.Sections)+len(sections)))
	le.PutUint32(out[l.optional+offSizeOfImage:], uint32(memory))
	le.PutUint32(out[l.optional+offInitialized:], l.head.SizeOfInitializedData+data)
	le.PutUint32(out[l.optional+offCheckSum:], 0) // firmware looks at none
	_, err = read("image", out)
	return out, err
}

// unit is what sections in memory are aligned to.
func (l layout) unit() int64 { return max(page, int64(l.head.SectionAlignment)) }

// accepts reports what keeps sections from the image.
func (l layout) accepts(sections []Section) error {
	if len(sections)+len(l.file.Sections) > MaxSections {
		return &Invalid{"image", "would have too many sections"}
	}
	var names []string
	for _, s := range l.file.Sections {
		if len(s.Name) > 8 {
			return &Invalid{"stub", "has a section with a long name: strip it"}
		}
		names = append(names, s.Name)
	}
	var size int64
	for _, s := range sections {
		size += int64(len(s.Data))
		switch {
		case len(s.Name) < 2 || len(s.Name) > 8 || s.Name[0] != '.' || strings.ContainsAny(s.Name, "\x00 "):
			return &Invalid{"section", fmt.Sprintf("%.20q has no name of 2 to 8 bytes that begins with a dot", s.Name)}
		case slices.Contains(names, s.Name):
			return &Invalid{"stub", "has a section " + s.Name + " already: take one without a kernel"}
		case len(s.Data) == 0:
			return &Invalid{"section", s.Name + " is empty"}
		case size > MaxImage:
			return &Invalid{"image", fmt.Sprintf("would have more than %d bytes", MaxImage)}
		}
		names = append(names, s.Name)
	}
	return nil
}

// room is a copy of the stub with room for n more entries in its table: where there is
// none, its data moves back in the file, and stays where it is in memory. Symbols are
// left out: no firmware reads them.
func (l *layout) room(stub []byte, n int) ([]byte, error) {
	need := l.table + (len(l.file.Sections)+n)*sizeSection
	move := 0
	if need > l.first {
		move = int(up(int64(need-l.first), int64(l.head.FileAlignment)))
	}
	headers := max(int64(l.head.SizeOfHeaders), up(int64(need), int64(l.head.FileAlignment)))
	for _, s := range l.file.Sections {
		if int64(s.VirtualAddress) < headers {
			return nil, &Invalid{"stub", "has no room for more sections"}
		}
	}
	out := make([]byte, 0, len(stub)+move)
	out = append(out, stub[:l.first]...)
	clear(out[l.table+len(l.file.Sections)*sizeSection:]) // what lies between is no entry
	out = append(append(out, make([]byte, move)...), stub[l.first:l.end]...)
	le := binary.LittleEndian
	le.PutUint32(out[l.optional+offHeaders:], uint32(headers))
	clear(out[l.optional-offSymbols : l.optional-offSymbols+8])
	for i, s := range l.file.Sections {
		if s.Size > 0 {
			le.PutUint32(out[l.table+i*sizeSection+20:], s.Offset+uint32(move))
		}
	}
	return out, nil
}
