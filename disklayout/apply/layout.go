package apply

import (
	"fmt"
	"hash/crc32"
	"slices"

	"github.com/ingotmetal/ingot/disklayout"
	"github.com/ingotmetal/ingot/disklayout/probe"
)

// markArea is what a mark takes on a disk: one sector, whatever its size.
const markArea = 4096

// A layout is every byte that an install writes but for the image.
type layout struct {
	table
	size       uint64 // of the disk
	sector     uint32
	mark, done piece
	esp        pieces
	root       *disklayout.Part
	parts      []disklayout.Part
	disk       disklayout.UUID
}

// build makes the layout of a plan and validates it: by the rules, and by what
// package probe reads of its bytes.
func build(p *disklayout.Plan, stamp disklayout.Stamp, boot *program) (*layout, error) {
	w := &p.Disks[0]
	if err := validate(p.Table, w.Size); err != nil {
		return nil, err
	}
	first, err := part(p.Table, "esp")
	if err != nil {
		return nil, err
	}
	root, err := part(p.Table, "root")
	if err != nil {
		return nil, err
	}
	fat, err := esp(first, p.Table.SectorSize, boot)
	if err != nil {
		return nil, err
	}
	l := &layout{table: encode(p.Table), size: w.Size, sector: p.Table.SectorSize, esp: fat, root: root, parts: p.Table.Parts, disk: p.Table.DiskGUID}
	l.marks(p, stamp)
	return l, l.agrees()
}

// marks makes the mark of a layout that is being written, and of one that is.
func (l *layout) marks(p *disklayout.Plan, stamp disklayout.Stamp) {
	m := probe.Mark{Stamp: stamp, Disk: l.disk, Plan: p.Digest}
	for i := range l.parts {
		m.Parts = append(m.Parts, probe.Place{Start: l.parts[i].Start, Size: l.parts[i].Size})
	}
	area := func(done bool) piece {
		m.Done = done
		b := make([]byte, markArea)
		copy(b, m.Bytes())
		return piece{probe.MarkOffset, b}
	}
	l.mark, l.done = area(false), area(true)
}

// all are the layout's pieces with the final mark, in order.
func (l *layout) all() pieces {
	return slices.Concat(pieces{l.mbr, l.primaryHeader, l.primaryEntries, l.done, l.backupEntries, l.backupHeader}, l.esp).sorted()
}

// agrees reads the built bytes as a disk: the table must be the planned one, and
// nothing else there.
func (l *layout) agrees() error {
	all := l.all()
	if all.overlaps() || all[len(all)-1].end() > l.size {
		return refuse(TableInvalid, "", "its pieces overlap, or end behind the disk", nil)
	}
	if !l.sums() {
		return refuse(TableInvalid, "", "a checksum of its GPT is wrong", nil)
	}
	f, err := probe.Look(all, int64(l.size), l.sector)
	if err != nil {
		return refuse(TableInvalid, "", "what was built cannot be read", err)
	}
	return l.is(f, false)
}

// sums checks both copies' checksums: of the header, with zeros in their place,
// and of the entries.
func (l *layout) sums() bool {
	for _, c := range [][2]piece{{l.primaryHeader, l.primaryEntries}, {l.backupHeader, l.backupEntries}} {
		head := slices.Clone(c[0].bytes[:headerSize])
		clear(head[16:20])
		if crc32.ChecksumIEEE(head) != le.Uint32(c[0].bytes[16:]) || crc32.ChecksumIEEE(c[1].bytes) != le.Uint32(head[88:]) {
			return false
		}
	}
	return true
}

// is compares what a probe found with the layout. With more, the partitions may
// hold more: an image.
func (l *layout) is(f probe.Found, more bool) error {
	wrong := func(format string, a ...any) error {
		return refuse(TableInvalid, "", fmt.Sprintf(format, a...), nil)
	}
	if f.Mark == nil || !f.Vouched {
		return wrong("the mark does not vouch for it")
	}
	want := l.signatures()
	for _, s := range f.Signatures {
		known := slices.Contains(want, place{s.Type, s.Offset})
		if s.Type == "gpt" && s.UUID != l.disk.String() && known {
			return wrong("its GPT at byte %d is damaged, or another", s.Offset)
		}
		if s.Stamp != f.Mark.Stamp.String() || !known && !more {
			return wrong("it has a %s at byte %d", s.Type, s.Offset)
		}
		want = slices.DeleteFunc(want, func(p place) bool { return p == place{s.Type, s.Offset} })
	}
	if len(want) > 0 {
		return wrong("it has no %s at byte %d", want[0].typ, want[0].at)
	}
	return l.sameParts(f.Partitions, wrong)
}

func (l *layout) sameParts(found []disklayout.Partition, wrong func(string, ...any) error) error {
	if len(found) != len(l.parts) {
		return wrong("it has %d partitions", len(found))
	}
	for i := range l.parts {
		p := &l.parts[i]
		want := disklayout.Partition{Number: uint32(p.Number), Start: p.Start, Size: p.Size, Type: p.Type.String(), UUID: p.UUID.String(), Label: p.Name}
		if !slices.Contains(found, want) {
			return wrong("partition %d is not as planned", p.Number)
		}
	}
	return nil
}

// A place is a signature without its texts.
type place struct {
	typ string
	at  uint64
}

// signatures are those of a written layout without an image.
func (l *layout) signatures() []place {
	return []place{{"gpt", l.primaryHeader.at}, {probe.MarkType, probe.MarkOffset}, {"vfat", l.esp[0].at + 82}, {"gpt", l.backupHeader.at}}
}
