package apply

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/diskfs/go-diskfs/filesystem/fat32"

	"github.com/ingotmetal/ingot/disklayout"
)

// espLabel is the volume label of the EFI system partition.
const espLabel = "ESP"

// tries is how many sizes are tried for a FAT, each 32 KiB smaller: for some
// sizes go-diskfs makes a FAT that has too few entries for its clusters.
const tries = 4

// maxESP bounds the memory that a FAT is made in: 8 MiB for each of its tables.
const maxESP = 64 * disklayout.GiB

// esp makes a FAT32 for p in memory, empty but for boot. Its serial is of p's GUID, so
// that equal plans give equal bytes.
func esp(p *disklayout.Part, sector uint32, boot *program) (pieces, error) {
	if p.Size > maxESP {
		return nil, refuse(ESPUnsupported, "", fmt.Sprintf("an ESP of %d bytes is over %d", p.Size, uint64(maxESP)), nil)
	}
	var why error
	size := p.Size
	for range tries {
		m, err := format(size, sector, p, boot)
		if err == nil {
			err = checkFAT(m, size, sector)
		}
		if err == nil {
			err = boot.in(m, size, sector)
		}
		if err == nil {
			return m.pieces(p.Start), nil
		}
		if e, ok := errors.AsType[*Refused](err); ok {
			return nil, e
		}
		why = err
		size -= 32 << 10
	}
	return nil, refuse(ESPUnsupported, "", fmt.Sprintf("no FAT32 of about %d bytes in sectors of %d", p.Size, sector), why)
}

func format(size uint64, sector uint32, p *disklayout.Part, boot *program) (*memory, error) {
	m := newMemory(int64(size))
	if _, err := fat32.Create(m, int64(size), 0, int64(sector), espLabel, true); err != nil {
		return nil, err
	}
	if err := boot.put(m, int64(sector)); err != nil {
		return nil, err
	}
	for _, boot := range []int64{0, 6 * int64(sector)} {
		patch := make([]byte, 4)
		le.PutUint32(patch, uint32(min(p.First, 0xffffffff)))
		if _, err := m.WriteAt(patch, boot+28); err != nil { // hidden sectors: those before the partition
			return nil, err
		}
		if _, err := m.WriteAt(p.UUID[:4], boot+67); err != nil { // volume serial
			return nil, err
		}
	}
	return m, nil
}

// checkFAT holds a FAT32 to the FAT specification: sector and total, clusters
// that FAT32 counts and that its tables have entries for, both tables, both boot
// sectors, and the information sector.
func checkFAT(m *memory, size uint64, sector uint32) error {
	b := make([]byte, sector)
	if _, err := m.ReadAt(b, 0); err != nil {
		return err
	}
	total, fat, reserved, cluster := uint64(le.Uint32(b[32:])), uint64(le.Uint32(b[36:])), uint64(le.Uint16(b[14:])), uint64(b[13])
	switch {
	case b[510] != 0x55 || b[511] != 0xaa || uint32(le.Uint16(b[11:])) != sector:
		return fmt.Errorf("its boot sector has sectors of %d bytes", le.Uint16(b[11:]))
	case total != size/uint64(sector) || cluster == 0 || cluster&(cluster-1) != 0 || reserved < 8 || b[16] != 2:
		return fmt.Errorf("it has %d sectors in clusters of %d", total, cluster)
	case le.Uint16(b[48:]) != 1 || le.Uint16(b[50:]) != 6 || le.Uint32(b[44:]) != 2:
		return fmt.Errorf("information at sector %d, backup at %d, root at cluster %d", le.Uint16(b[48:]), le.Uint16(b[50:]), le.Uint32(b[44:]))
	case total <= reserved+2*fat:
		return fmt.Errorf("its tables of %d sectors leave no room", fat)
	}
	clusters := (total - reserved - 2*fat) / cluster
	if clusters < 65525 || clusters > 0x0ffffff4 || (clusters+2)*4 > fat*uint64(sector) {
		return fmt.Errorf("%d clusters in tables of %d sectors", clusters, fat)
	}
	return checkCopies(m, b, fat, reserved, int64(sector))
}

func checkCopies(m *memory, boot []byte, fat, reserved uint64, sector int64) error {
	read := func(at int64, n int64) []byte {
		b := make([]byte, n)
		_, _ = m.ReadAt(b, at) // what is not there stays zero, and differs
		return b
	}
	info := read(sector, sector)
	one, two := read(int64(reserved)*sector, int64(fat)*sector), read(int64(reserved+fat)*sector, int64(fat)*sector)
	switch {
	case !bytes.Equal(read(6*sector, sector), boot) || !bytes.Equal(read(7*sector, sector), info):
		return fmt.Errorf("the backup of its boot sectors differs")
	case string(info[:4]) != "RRaA" || string(info[484:488]) != "rrAa" || info[510] != 0x55 || info[511] != 0xaa:
		return fmt.Errorf("its information sector is none")
	case !bytes.Equal(one, two):
		return fmt.Errorf("its two tables differ")
	case one[0] != boot[21] || le.Uint32(one[8:])&0x0fffffff < 0x0ffffff8:
		return fmt.Errorf("its table begins with % x", one[:12])
	}
	return nil
}
