package apply

import (
	"encoding/binary"
	"hash/crc32"
	"unicode/utf16"

	"github.com/ingotmetal/ingot/disklayout"
)

var le = binary.LittleEndian

// Sizes of a GPT (UEFI specification, chapter 5).
const (
	headerSize = 92
	entrySize  = 128
	entryCount = 128
	nameUnits  = 36 // UTF-16
)

// A table is a GPT as it lies on a disk.
type table struct {
	mbr                           piece
	primaryHeader, backupHeader   piece
	primaryEntries, backupEntries piece
}

// encode makes the bytes of a table that is valid.
func encode(t *disklayout.Table) table {
	sector := uint64(t.SectorSize)
	array := entries(t)
	sum := crc32.ChecksumIEEE(array)
	return table{
		mbr:            piece{0, protective(t)},
		primaryHeader:  piece{t.PrimaryHeader * sector, header(t, t.PrimaryHeader, t.BackupHeader, t.PrimaryEntries, sum)},
		backupHeader:   piece{t.BackupHeader * sector, header(t, t.BackupHeader, t.PrimaryHeader, t.BackupEntries, sum)},
		primaryEntries: piece{t.PrimaryEntries * sector, array},
		backupEntries:  piece{t.BackupEntries * sector, array},
	}
}

// protective is the MBR that keeps tools without GPT away: one entry of type EE
// from sector 1, its CHS fields as the UEFI specification's table 5-4 has them.
func protective(t *disklayout.Table) []byte {
	b := make([]byte, t.SectorSize)
	e := b[446:]
	copy(e, []byte{0, 0x00, 0x02, 0x00, 0xee, 0xff, 0xff, 0xff})
	le.PutUint32(e[8:], 1)
	le.PutUint32(e[12:], t.ProtectiveSectors)
	b[510], b[511] = 0x55, 0xaa
	return b
}

func header(t *disklayout.Table, own, other, array uint64, sum uint32) []byte {
	b := make([]byte, t.SectorSize)
	copy(b, "EFI PART\x00\x00\x01\x00")
	le.PutUint32(b[12:], headerSize)
	le.PutUint64(b[24:], own)
	le.PutUint64(b[32:], other)
	le.PutUint64(b[40:], t.FirstUsable)
	le.PutUint64(b[48:], t.LastUsable)
	putGUID(b[56:], t.DiskGUID)
	le.PutUint64(b[72:], array)
	le.PutUint32(b[80:], entryCount)
	le.PutUint32(b[84:], entrySize)
	le.PutUint32(b[88:], sum)
	le.PutUint32(b[16:], crc32.ChecksumIEEE(b[:headerSize]))
	return b
}

func entries(t *disklayout.Table) []byte {
	b := make([]byte, entryCount*entrySize)
	for i := range t.Parts {
		p := &t.Parts[i]
		e := b[(p.Number-1)*entrySize:][:entrySize]
		putGUID(e, p.Type)
		putGUID(e[16:], p.UUID)
		le.PutUint64(e[32:], p.First)
		le.PutUint64(e[40:], p.Last)
		for n, u := range utf16.Encode([]rune(p.Name)) {
			le.PutUint16(e[56+2*n:], u)
		}
	}
	return b
}

// putGUID writes the first three groups little-endian.
func putGUID(b []byte, u disklayout.UUID) {
	copy(b, []byte{u[3], u[2], u[1], u[0], u[5], u[4], u[7], u[6]})
	copy(b[8:16], u[8:])
}
