package uki

import (
	"bytes"
	"debug/pe"
	"encoding/binary"
	"fmt"
	"slices"
)

// Offsets of fields in a file for UEFI (PE Format of Microsoft, "Optional Header"),
// from the begin of the optional header.
const (
	offInitialized = 8
	offSizeOfImage = 56
	offHeaders     = 60
	offCheckSum    = 64
	offCertificate = 144 // the entry of the data directory
	offSymbols     = 12  // before it: where symbols are, and how many
	sizeOptional   = 240 // with 16 entries
	sizeSection    = 40
	sizeFileHeader = 24 // with its magic
	efiApplication = 10 // the subsystem
)

// layout is where things are in a program for UEFI.
type layout struct {
	file     *pe.File
	head     *pe.OptionalHeader64
	optional int // offset of the optional header
	table    int // offset of the table of sections
	first    int // offset of the first section's data
	end      int // end of the last section's data
}

// read finds where things are in a program, and refuses what is not laid out as
// linkers do: headers, then the sections' data in any order without overlaps, then
// nothing.
func read(what string, raw []byte) (l layout, err error) {
	bad := func(format string, args ...any) (layout, error) {
		return layout{}, &Invalid{what, fmt.Sprintf(format, args...)}
	}
	if len(raw) < 0x40 || len(raw) > MaxImage || raw[0] != 'M' || raw[1] != 'Z' {
		return bad("is no program for UEFI")
	}
	if l.file, err = pe.NewFile(bytes.NewReader(raw)); err != nil {
		return bad("is no program for UEFI: %v", err)
	}
	head, ok := l.file.OptionalHeader.(*pe.OptionalHeader64)
	l.head = head
	l.optional = int(binary.LittleEndian.Uint32(raw[0x3c:])) + sizeFileHeader
	l.table = l.optional + sizeOptional
	switch n := len(l.file.Sections); {
	case !ok || l.file.SizeOfOptionalHeader != sizeOptional || head.NumberOfRvaAndSizes != 16:
		return bad("is no program of 64 bits")
	case head.Subsystem != efiApplication:
		return bad("is no program for UEFI: its subsystem is %d", head.Subsystem)
	case !power(head.FileAlignment) || !power(head.SectionAlignment) || head.FileAlignment < 16 || head.FileAlignment > 1<<16 || head.SectionAlignment > 1<<21:
		return bad("is aligned to %d and %d", head.FileAlignment, head.SectionAlignment)
	case n == 0 || n > MaxSections || l.table+n*sizeSection > int(head.SizeOfHeaders) || int(head.SizeOfHeaders) > len(raw):
		return bad("has %d sections", n)
	}
	return l, l.extents(what, len(raw))
}

func power(n uint32) bool { return n > 0 && n&(n-1) == 0 }

// extents checks where the sections are, in the file and in memory.
func (l *layout) extents(what string, size int) error {
	type span struct{ from, to int64 }
	var inFile, inMemory []span
	for _, s := range l.file.Sections {
		if s.Size > 0 {
			inFile = append(inFile, span{int64(s.Offset), int64(s.Offset) + int64(s.Size)})
		}
		inMemory = append(inMemory, span{int64(s.VirtualAddress), int64(s.VirtualAddress) + int64(max(s.VirtualSize, 1))})
	}
	headers := span{0, int64(l.head.SizeOfHeaders)}
	for _, spans := range [][]span{inFile, inMemory} {
		slices.SortFunc(spans, func(a, b span) int { return int(a.from - b.from) })
		before := headers
		for _, s := range spans {
			if s.from < before.to {
				return &Invalid{what, "has sections that overlap"}
			}
			before = s
		}
	}
	if len(inFile) == 0 || inFile[len(inFile)-1].to > int64(size) || inMemory[len(inMemory)-1].to > int64(l.head.SizeOfImage) {
		return &Invalid{what, "has sections that end beyond it"}
	}
	l.first, l.end = int(inFile[0].from), int(inFile[len(inFile)-1].to)
	return nil
}

// up rounds up to a multiple of a power of two.
func up(n, to int64) int64 { return (n + to - 1) &^ (to - 1) }

// Machine is the type of the machine that a program is for, such as 0x8664
// (IMAGE_FILE_MACHINE_AMD64). The error is an *Invalid.
func Machine(raw []byte) (uint16, error) {
	l, err := read("stub", raw)
	if err != nil {
		return 0, err
	}
	return l.file.Machine, nil
}
