package apply

import (
	"cmp"
	"fmt"
	"slices"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/ingotmetal/ingot/disklayout"
	"github.com/ingotmetal/ingot/disklayout/probe"
)

// validate holds a planned table to what a GPT must be, whatever made it: the
// digest of a plan says that it was approved, not that it is right.
func validate(t *disklayout.Table, size uint64) error {
	invalid := func(format string, a ...any) error {
		return refuse(TableInvalid, "", fmt.Sprintf(format, a...), nil)
	}
	if t.SectorSize != 512 && t.SectorSize != 4096 || size%uint64(t.SectorSize) != 0 {
		return invalid("a disk of %d bytes in sectors of %d", size, t.SectorSize)
	}
	sectors, array := size/uint64(t.SectorSize), entryCount*entrySize/uint64(t.SectorSize)
	switch {
	case sectors < 2*array+4 || size > disklayout.MaxSize:
		return invalid("a disk of %d bytes", size)
	case t.DiskGUID == (disklayout.UUID{}):
		return invalid("the disk has no GUID")
	case uint64(t.ProtectiveSectors) != min(sectors-1, 0xffffffff):
		return invalid("the protective MBR covers %d sectors", t.ProtectiveSectors)
	case t.PrimaryHeader != 1 || t.PrimaryEntries != 2 || t.BackupHeader != sectors-1 || t.BackupEntries != sectors-1-array:
		return invalid("headers at %d and %d, entries at %d and %d", t.PrimaryHeader, t.BackupHeader, t.PrimaryEntries, t.BackupEntries)
	case t.FirstUsable < 2+array || t.LastUsable >= t.BackupEntries || t.FirstUsable > t.LastUsable:
		return invalid("usable from %d to %d", t.FirstUsable, t.LastUsable)
	case len(t.Parts) < 2 || len(t.Parts) > probe.MaxMarked:
		return invalid("%d partitions", len(t.Parts))
	}
	return validParts(t, invalid)
}

func validParts(t *disklayout.Table, invalid func(string, ...any) error) error {
	parts := slices.SortedFunc(slices.Values(t.Parts), func(a, b disklayout.Part) int { return cmp.Compare(a.First, b.First) })
	ids, numbers := map[disklayout.UUID]bool{t.DiskGUID: true, {}: true}, map[int]bool{}
	end := max(t.FirstUsable, disklayout.MiB/uint64(t.SectorSize)) // behind the mark
	for i := range parts {
		p := &parts[i]
		sector := uint64(t.SectorSize)
		switch {
		case p.Number < 1 || p.Number > entryCount || numbers[p.Number]:
			return invalid("partition %d is out of range or twice there", p.Number)
		case p.Type == (disklayout.UUID{}) || ids[p.UUID]:
			return invalid("partition %d has no type, or no GUID of its own", p.Number)
		case !utf8.ValidString(p.Name) || len(utf16.Encode([]rune(p.Name))) > nameUnits:
			return invalid("the name of partition %d has over %d UTF-16 units", p.Number, nameUnits)
		case p.First < end:
			return invalid("partition %d begins at sector %d, before %d", p.Number, p.First, end)
		case p.Last < p.First || p.Last > t.LastUsable:
			return invalid("partition %d ends at sector %d", p.Number, p.Last)
		case p.Start != p.First*sector || p.Size != (p.Last-p.First+1)*sector || p.Start%disklayout.MiB != 0:
			return invalid("partition %d has %d bytes from byte %d", p.Number, p.Size, p.Start)
		}
		ids[p.UUID], numbers[p.Number], end = true, true, p.Last+1
	}
	return nil
}

// part finds the partition of a name.
func part(t *disklayout.Table, name string) (*disklayout.Part, error) {
	for i := range t.Parts {
		if t.Parts[i].Name == name {
			return &t.Parts[i], nil
		}
	}
	return nil, refuse(TableInvalid, "", "it has no partition named "+name, nil)
}
