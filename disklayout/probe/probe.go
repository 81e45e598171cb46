package probe

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/ingotmetal/ingot/disklayout"
)

// A Found is what a look at one disk finds. Neither list is nil, in the order
// of their places.
type Found struct {
	Signatures []disklayout.Signature
	Partitions []disklayout.Partition
	Mark       *Mark // nil: none that can be read
	Vouched    bool  // the mark vouches for its layout: nobody has laid out the disk since
}

// Look looks at a disk of size bytes with logical sectors of so many bytes, 512
// or 4096. The sector tells where the entries of an MBR lead; a GPT is found
// in both sizes. The error is a [*NotLooked], and then nothing is found.
func Look(r io.ReaderAt, size int64, sector uint32) (Found, error) {
	if size < 0 || sector != 512 && sector != 4096 {
		return Found{}, &NotLooked{Why: fmt.Sprintf("a disk of %d bytes in sectors of %d", size, sector)}
	}
	l := look{reader: newReader(r, size), sector: int64(sector)}
	l.whole()
	for _, p := range l.places {
		l.within(p)
	}
	if l.failed != nil {
		return Found{}, l.failed
	}
	return l.found(), nil
}

// Signatures are those that Look finds.
func Signatures(r io.ReaderAt, size int64, sector uint32) ([]disklayout.Signature, error) {
	f, err := Look(r, size, sector)
	return f.Signatures, err
}

// Within looks at length bytes from start as if they were a partition, whatever
// the tables say: what a new table would bring to light. Offsets are from the
// disk's start, and no signature has a stamp.
func Within(r io.ReaderAt, size, start, length int64) ([]disklayout.Signature, error) {
	l := look{reader: newReader(r, size), sector: 512}
	if start < 0 || length < 0 || start > size-length {
		return nil, &NotLooked{Offset: start, Why: "the partition is not on the disk"}
	}
	l.within(span{start, length})
	if l.failed != nil {
		return nil, l.failed
	}
	return l.found().Signatures, nil
}

// A span is a range of bytes of a disk.
type span struct{ start, size int64 }

func (s span) holds(at int64) bool { return at >= s.start && at-s.start < s.size }

// A look is one look at one disk.
type look struct {
	*reader
	sector  int64
	sigs    []disklayout.Signature
	parts   []disklayout.Partition
	places  []span // partitions to look into
	tables  []gpt
	other   bool // a table that is no GPT
	mark    *Mark
	vouched bool
}

// whole looks at the disk as a whole, and notes its partitions.
func (l *look) whole() {
	v := &view{l.reader, 0, l.size}
	l.mark = readMark(v)
	l.gpts(v)
	l.mbr(v, true)
	l.magics(v)
	l.pools(v)
	if l.mark != nil {
		l.add(disklayout.Signature{Type: MarkType, Offset: MarkOffset, UUID: l.mark.Disk.String(), Stamp: l.mark.Stamp.String()})
	}
	l.forget()
}

// within looks into a partition. Tables in it are signatures; their partitions
// are not looked into.
func (l *look) within(p span) {
	v := &view{l.reader, p.start, p.size}
	for _, sector := range []int64{512, 4096} {
		for _, off := range []int64{sector, p.size - sector} {
			if h := readHeader(v, off, sector); h != nil {
				l.add(h.signature(v))
			}
		}
	}
	l.mbr(v, false)
	l.magics(v)
	l.pools(v)
	l.forget()
}

func (l *look) add(s disklayout.Signature) { l.sigs = append(l.sigs, s) }

// partition notes a partition once, whatever copy of a table names it.
func (l *look) partition(p disklayout.Partition) {
	s := span{int64(p.Start), int64(p.Size)}
	if slices.Contains(l.places, s) {
		return
	}
	if len(l.places) >= MaxPartitions {
		l.fail(s.start, fmt.Sprintf("the tables have over %d partitions", MaxPartitions), nil)
		return
	}
	l.places = append(l.places, s)
	l.parts = append(l.parts, p)
}

// found puts what was seen in order, each signature once: the last partition's
// end may be the disk's.
func (l *look) found() Found {
	l.vouch()
	slices.SortStableFunc(l.sigs, func(a, b disklayout.Signature) int {
		return cmp.Or(cmp.Compare(a.Offset, b.Offset), strings.Compare(a.Type, b.Type))
	})
	slices.SortStableFunc(l.parts, func(a, b disklayout.Partition) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.Number, b.Number))
	})
	same := func(a, b disklayout.Signature) bool { return a.Offset == b.Offset && a.Type == b.Type }
	f := Found{Signatures: slices.CompactFunc(l.sigs, same), Partitions: l.parts, Mark: l.mark, Vouched: l.vouched}
	if f.Signatures == nil {
		f.Signatures = []disklayout.Signature{}
	}
	if f.Partitions == nil {
		f.Partitions = []disklayout.Partition{}
	}
	return f
}
