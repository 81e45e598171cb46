package disklayout

import "fmt"

// Bounds of the EFI system partition, in bytes. FAT32 needs 65525 clusters of
// at least one sector, so it fits below neither; it counts 2^32 sectors.
const (
	MinESP    = 33 * MiB
	MinESP4Kn = 260 * MiB
	MaxESP    = 1<<41 - MiB
)

// The types of partitions (UEFI specification, table 5-7; Discoverable
// Partitions Specification).
var (
	typeESP  = mustUUID("C12A7328-F81F-11D2-BA4B-00A0C93EC93B")
	typeRoot = mustUUID("4F68BCE3-E8CD-4DB1-96E7-FBCAF984B709") // Linux root, x86-64
	typeData = mustUUID("0FC63DAF-8483-4772-8E79-3D69D8477DE4") // Linux filesystem
)

// entryArray is 128 entries of 128 bytes, the least that UEFI allows, and what
// firmware that reads LBA 2 alone expects.
const entryArray = 128 * 128

// partition lays esp, root and data on d, each from a whole MiB to a whole MiB.
func (p *Plan) partition(req *Request, d *seen) error {
	if d.LogicalSector == 4096 && req.ESP < MinESP4Kn {
		return refuse(ESPTooSmall4Kn, d, fmt.Sprintf("an esp of %d bytes on sectors of 4096 bytes", uint64(req.ESP)))
	}
	end, err := room(req, d)
	if err != nil {
		return err
	}
	t := frame(p.Server, d)
	sizes := [3]Size{req.ESP, req.Root, req.Data}
	left := end - MiB
	for _, s := range sizes {
		if s != Rest {
			left -= uint64(s)
		}
	}
	at := uint64(MiB)
	for i, s := range sizes {
		if s == Rest {
			s, left = Size(left), 0
		}
		t.Parts = append(t.Parts, t.part(p.Server, d.serial, i, at, uint64(s)))
		at += uint64(s)
	}
	t.Free = left
	p.Table = &t
	return nil
}

// room returns the byte at which partitions end on d: the last whole MiB
// before the backup table. A rest of less than one MiB is too little.
func room(req *Request, d *seen) (uint64, error) {
	sector := uint64(d.LogicalSector)
	tail := entryArray + sector // backup entries and header
	end := uint64(0)
	if d.Size > tail {
		end = (d.Size - tail) / MiB * MiB
	}
	need := uint64(MiB) // the first MiB, with MBR, header and entries
	for _, s := range []Size{req.ESP, req.Root, req.Data} {
		if s == Rest {
			s = MiB
		}
		need += uint64(s)
	}
	if need > end {
		e := refuse(TooSmall, d, fmt.Sprintf("its %d bytes end %d bytes short of what esp, root and data need", d.Size, need-end))
		e.Missing = need - end
		return 0, e
	}
	return end, nil
}

// frame is the table without partitions: a protective MBR, header and entries
// at the start, entries and header at the end.
func frame(server UUID, d *seen) Table {
	sector := uint64(d.LogicalSector)
	sectors, entries := d.Size/sector, entryArray/sector
	return Table{
		DiskGUID: derive(server, d.serial, 0), SectorSize: d.LogicalSector,
		ProtectiveSectors: uint32(min(sectors-1, 0xffffffff)),
		PrimaryHeader:     1, PrimaryEntries: 2, FirstUsable: 2 + entries,
		LastUsable: sectors - entries - 2, BackupEntries: sectors - entries - 1, BackupHeader: sectors - 1,
		Parts: make([]Part, 0, 3),
	}
}

// part is the i-th partition, of size bytes from the byte start.
func (t *Table) part(server UUID, serial string, i int, start, size uint64) Part {
	sector := uint64(t.SectorSize)
	return Part{
		Number: i + 1, Name: [...]string{"esp", "root", "data"}[i], Type: [...]UUID{typeESP, typeRoot, typeData}[i],
		UUID:  derive(server, serial, uint64(i)+1),
		First: start / sector, Last: (start+size)/sector - 1, Start: start, Size: size,
	}
}
