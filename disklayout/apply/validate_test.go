package apply

import (
	"encoding/binary"
	"hash/crc32"
	"strings"
	"testing"

	"github.com/ingotmetal/ingot/disklayout"
	"github.com/ingotmetal/ingot/disklayout/probe"
)

const diskSize = 2 * disklayout.GiB

// aPlan is a plan on an empty disk.
func aPlan(t testing.TB, sector uint32) disklayout.Plan {
	t.Helper()
	no := false
	d := disklayout.Disk{Name: "sda", Serial: "S1", Size: diskSize, LogicalSector: sector, PhysicalSector: 4096, Rotational: &no, Transport: "sata", Signatures: []disklayout.Signature{}}
	p, err := disklayout.Realize(disklayout.Request{Layout: disklayout.GPT, Disks: []disklayout.Selector{{Serial: "S1"}}, Root: disklayout.GiB}, []disklayout.Disk{d},
		disklayout.Stamp{Server: disklayout.UUID{1}})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestValidateRefuses breaks one rule of a GPT at a time.
func TestValidateRefuses(t *testing.T) {
	for name, change := range map[string]func(t *disklayout.Table){
		"sector":            func(t *disklayout.Table) { t.SectorSize = 1024 },
		"no disk GUID":      func(t *disklayout.Table) { t.DiskGUID = disklayout.UUID{} },
		"protective MBR":    func(t *disklayout.Table) { t.ProtectiveSectors-- },
		"header":            func(t *disklayout.Table) { t.PrimaryHeader = 2 },
		"entries":           func(t *disklayout.Table) { t.PrimaryEntries = 3 },
		"backup header":     func(t *disklayout.Table) { t.BackupHeader-- },
		"backup entries":    func(t *disklayout.Table) { t.BackupEntries-- },
		"first usable":      func(t *disklayout.Table) { t.FirstUsable = 3 },
		"last usable":       func(t *disklayout.Table) { t.LastUsable = t.BackupEntries },
		"no partitions":     func(t *disklayout.Table) { t.Parts = nil },
		"too many":          func(t *disklayout.Table) { t.Parts = make([]disklayout.Part, 9) },
		"number 0":          func(t *disklayout.Table) { t.Parts[0].Number = 0 },
		"number 129":        func(t *disklayout.Table) { t.Parts[0].Number = 129 },
		"number twice":      func(t *disklayout.Table) { t.Parts[0].Number = 2 },
		"no type":           func(t *disklayout.Table) { t.Parts[0].Type = disklayout.UUID{} },
		"no GUID":           func(t *disklayout.Table) { t.Parts[0].UUID = disklayout.UUID{} },
		"GUID twice":        func(t *disklayout.Table) { t.Parts[0].UUID = t.Parts[1].UUID },
		"the disk's GUID":   func(t *disklayout.Table) { t.Parts[0].UUID = t.DiskGUID },
		"long name":         func(t *disklayout.Table) { t.Parts[0].Name = strings.Repeat("x", 37) },
		"36 emoji":          func(t *disklayout.Table) { t.Parts[0].Name = strings.Repeat("\U0001F600", 36) },
		"over the mark":     func(t *disklayout.Table) { shift(t, 0, -1) },
		"overlap":           func(t *disklayout.Table) { t.Parts[0].Last++; t.Parts[0].Size += uint64(t.SectorSize) },
		"into the next":     func(t *disklayout.Table) { shift(t, 1, -1) },
		"over the backup":   func(t *disklayout.Table) { shift(t, 2, 8) },
		"backwards":         func(t *disklayout.Table) { t.Parts[2].Last = t.Parts[2].First - 1; t.Parts[2].Size = 0 },
		"bytes and sectors": func(t *disklayout.Table) { t.Parts[2].Size -= uint64(t.SectorSize) },
		"not on a MiB": func(t *disklayout.Table) {
			p := &t.Parts[2]
			p.First++
			p.Start += uint64(t.SectorSize)
			p.Size -= uint64(t.SectorSize)
		},
	} {
		for _, sector := range []uint32{512, 4096} {
			p := aPlan(t, sector)
			if err := validate(p.Table, diskSize); err != nil {
				t.Fatal(err)
			}
			change(p.Table)
			err := validate(p.Table, diskSize)
			if e, ok := err.(*Refused); !ok || e.Reason != TableInvalid {
				t.Errorf("%s in sectors of %d: got %v", name, sector, err)
			}
		}
	}
}

// shift moves a partition by so many MiB.
func shift(t *disklayout.Table, i int, by int64) {
	p, sector := &t.Parts[i], int64(t.SectorSize)
	p.First, p.Last = uint64(int64(p.First)+by<<20/sector), uint64(int64(p.Last)+by<<20/sector)
	p.Start = uint64(int64(p.Start) + by<<20)
}

// TestBuiltBytesAreChecked changes a byte of each piece and expects the dry run
// to see it: a probe reads another table, or none.
func TestBuiltBytesAreChecked(t *testing.T) {
	p := aPlan(t, 512)
	for name, spoil := range map[string]func(l *layout){
		"header":         func(l *layout) { l.primaryHeader.bytes[40] ^= 1 },
		"backup header":  func(l *layout) { l.backupHeader.bytes[40] ^= 1 },
		"entries":        func(l *layout) { l.primaryEntries.bytes[57] ^= 1 }, // shared with the backup's
		"mark":           func(l *layout) { l.done.bytes[100] ^= 1 },
		"fat":            func(l *layout) { l.esp[0].bytes[82] = 0 },
		"overlap":        func(l *layout) { l.mbr.bytes = append(l.mbr.bytes, 0) },
		"another number": func(l *layout) { respell(l, 128*127) },
	} {
		l, err := build(&p, disklayout.Stamp{Server: p.Server, Epoch: 7}, nil)
		if err != nil {
			t.Fatal(err)
		}
		spoil(l)
		if err := l.agrees(); err == nil {
			t.Errorf("%s: nobody sees it", name)
		}
	}
}

// respell moves the first entry to another place, with right checksums.
func respell(l *layout, to int) {
	array := l.primaryEntries.bytes
	copy(array[to:], array[:128])
	clear(array[:128])
	for _, h := range []piece{l.primaryHeader, l.backupHeader} {
		binary.LittleEndian.PutUint32(h.bytes[88:], crc32.ChecksumIEEE(array))
		clear(h.bytes[16:20])
		binary.LittleEndian.PutUint32(h.bytes[16:], crc32.ChecksumIEEE(h.bytes[:92]))
	}
}

// TestTheMarkStandsAlone keeps it clear of tables of both sector sizes and of
// every partition.
func TestTheMarkStandsAlone(t *testing.T) {
	for _, sector := range []uint32{512, 4096} {
		p := aPlan(t, sector)
		if entries := (p.Table.PrimaryEntries)*uint64(sector) + entryCount*entrySize; entries > probe.MarkOffset || probe.MarkOffset+markArea > p.Table.Parts[0].Start {
			t.Errorf("entries end at %d, partitions begin at %d", entries, p.Table.Parts[0].Start)
		}
	}
}
