package apply

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/diskfs/go-diskfs/filesystem/fat32"
)

// The clusters of a FAT that holds a program: the root's is 2, as go-diskfs makes it,
// and the others follow. What go-diskfs itself writes into one has the time in it, and
// folders whose ".." fsck.fat calls invalid.
const (
	rootCluster = 2
	efiCluster  = 3
	bootCluster = 4
	fileCluster = 5
	endOfChain  = 0x0fffffff
)

// A fat is where the parts of a FAT32 lie, in bytes, but for clusters, which counts.
type fat struct {
	*memory
	sector, cluster, table, tables, data int64
	clusters                             uint32
}

// fatIn finds the parts of a FAT that format made.
func fatIn(m *memory, sector int64) (fat, error) {
	b := make([]byte, sector)
	if _, err := m.ReadAt(b, 0); err != nil {
		return fat{}, err
	}
	f := fat{memory: m, sector: sector, cluster: int64(b[13]) * sector, table: int64(le.Uint16(b[14:])) * sector, tables: int64(le.Uint32(b[36:])) * sector}
	f.data = f.table + 2*f.tables
	if f.cluster == 0 || f.data >= m.size || b[16] != 2 {
		return fat{}, errors.New("its boot sector has no clusters")
	}
	f.clusters = uint32((int64(le.Uint32(b[32:]))*sector - f.data) / f.cluster)
	return f, nil
}

// put writes the program into an empty FAT, where there is one.
func (p *program) put(m *memory, sector int64) error {
	if p == nil {
		return nil
	}
	f, err := fatIn(m, sector)
	if err != nil {
		return err
	}
	n := uint32((int64(len(p.body)) + f.cluster - 1) / f.cluster)
	if need := fileCluster - rootCluster + n; need > f.clusters {
		return refuse(BootTooLarge, "", fmt.Sprintf("%d bytes take %d clusters of %d, and the ESP has %d", len(p.body), need, f.cluster, f.clusters), nil)
	}
	root := []entry{label, {"EFI        ", folder, efiCluster, 0}}
	efi := []entry{{".          ", folder, efiCluster, 0}, {"..         ", folder, 0, 0}, {"BOOT       ", folder, bootCluster, 0}}
	boot := []entry{{".          ", folder, bootCluster, 0}, {"..         ", folder, efiCluster, 0}, {p.name(), archive, fileCluster, uint32(len(p.body))}}
	return errors.Join(f.list(rootCluster, root), f.list(efiCluster, efi), f.list(bootCluster, boot), f.put(fileCluster, p.body), f.chain(n), f.count(n))
}

// put writes from the start of a cluster on.
func (f fat) put(cluster int64, body []byte) error {
	_, err := f.WriteAt(body, f.data+(cluster-rootCluster)*f.cluster)
	return err
}

// list makes a cluster a folder, to its end: what the disk held there is no entry.
func (f fat) list(cluster int64, entries []entry) error {
	body := make([]byte, f.cluster)
	copy(body, list(entries))
	return f.put(cluster, body)
}

// chain links the clusters of folders and file in both tables.
func (f fat) chain(n uint32) error {
	table := le.AppendUint32(le.AppendUint32(le.AppendUint32(nil, endOfChain), endOfChain), endOfChain)
	for i := range n {
		next := uint32(fileCluster + i + 1)
		if i == n-1 {
			next = endOfChain
		}
		table = le.AppendUint32(table, next)
	}
	_, one := f.WriteAt(table, f.table+rootCluster*4)
	_, two := f.WriteAt(table, f.table+f.tables+rootCluster*4)
	return errors.Join(one, two)
}

// count says in both information sectors how many clusters are free, and where.
func (f fat) count(n uint32) error {
	used := fileCluster - rootCluster + n
	info := le.AppendUint32(le.AppendUint32(nil, f.clusters-used), rootCluster+used-1)
	_, one := f.WriteAt(info, f.sector+488)
	_, two := f.WriteAt(info, 7*f.sector+488)
	return errors.Join(one, two)
}

// in reads the program back from a FAT, by another's code.
func (p *program) in(m *memory, size uint64, sector uint32) error {
	if p == nil {
		return nil
	}
	fs, err := fat32.Read(m, int64(size), 0, int64(sector))
	if err != nil {
		return err
	}
	f, err := fs.OpenFile(p.path, os.O_RDONLY)
	if err != nil {
		return err
	}
	body, err := io.ReadAll(f)
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	if !bytes.Equal(body, p.body) {
		return fmt.Errorf("%s has %d other bytes than were written", p.path, len(body))
	}
	return nil
}
