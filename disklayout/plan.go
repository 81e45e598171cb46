package disklayout

import "encoding/hex"

// A Plan is a layout realized on announced disks: all that will be written, all
// that dies, and every disk that stays as it is. It is a value; whoever holds
// one may compare [Plan.Sum] with Digest.
type Plan struct {
	Layout   Layout    `json:"layout"`
	Server   UUID      `json:"server"` // whose stamp the layout gets
	Digest   Digest    `json:"digest"`
	Serials  []string  `json:"serials"` // of Disks, in their order, as announced but for padding
	Image    string    `json:"image,omitempty"`
	Boot     string    `json:"boot,omitempty"` // what firmware starts from the disk, by its digest
	Disks    []Written `json:"disks"`          // in the order of the request's selectors
	Table    *Table    `json:"table,omitempty"`
	Pool     *Pool     `json:"pool,omitempty"`
	Unused   []Unused  `json:"unused"`
	Warnings []Warning `json:"warnings"`
}

// A Digest is the SHA-256 of a plan. Its text is lower-case hexadecimal.
type Digest [32]byte

// String is 64 hexadecimal digits.
func (d Digest) String() string { return hex.EncodeToString(d[:]) }

// MarshalText is String.
func (d Digest) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText takes 64 hexadecimal digits.
func (d *Digest) UnmarshalText(text []byte) error {
	if n, err := hex.Decode(make([]byte, len(text)/2), text); err != nil || n != len(d) {
		return refuse(Malformed, nil, "a digest is 64 hexadecimal digits")
	}
	_, err := hex.Decode(d[:], text)
	return err
}

// A Written is a disk that the plan writes.
type Written struct {
	Name           string      `json:"name"` // kernel name at the announcement: a hint, not in the digest
	Serial         string      `json:"serial"`
	WWN            string      `json:"wwn,omitempty"` // canonical
	Model          string      `json:"model,omitempty"`
	Size           uint64      `json:"size"` // bytes
	LogicalSector  uint32      `json:"logical_sector"`
	PhysicalSector uint32      `json:"physical_sector"`
	Rotational     *bool       `json:"rotational,omitempty"`
	Transport      string      `json:"transport"`
	Lost           []Loss      `json:"lost,omitempty"`            // signatures that die
	LostPartitions []Partition `json:"lost_partitions,omitempty"` // and the partitions of a table that dies
}

// A Table is a GPT with its protective MBR (UEFI specification, chapter 5). All
// places are LBAs: logical sectors from the start of the disk.
type Table struct {
	DiskGUID          UUID   `json:"disk_guid"`
	SectorSize        uint32 `json:"sector_size"`        // bytes, logical
	ProtectiveSectors uint32 `json:"protective_sectors"` // size field of the protective MBR
	PrimaryHeader     uint64 `json:"primary_header"`
	PrimaryEntries    uint64 `json:"primary_entries"`
	FirstUsable       uint64 `json:"first_usable"`
	LastUsable        uint64 `json:"last_usable"`
	BackupEntries     uint64 `json:"backup_entries"`
	BackupHeader      uint64 `json:"backup_header"`
	Parts             []Part `json:"partitions"`
	Free              uint64 `json:"free"` // bytes after the last partition that none has
}

// A Part is a partition of a Table.
type Part struct {
	Number int    `json:"number"`
	Name   string `json:"name"` // of the GPT entry: esp, root or data
	Type   UUID   `json:"type"`
	UUID   UUID   `json:"uuid"`
	First  uint64 `json:"first_lba"`
	Last   uint64 `json:"last_lba"` // included
	Start  uint64 `json:"start"`    // bytes, a whole number of MiB
	Size   uint64 `json:"size"`     // bytes, a whole number of MiB
}

// A Pool is a ZFS pool.
type Pool struct {
	Name        string `json:"name"`
	Ashift      int    `json:"ashift"`
	Compression string `json:"compression"`
	Vdevs       []Vdev `json:"vdevs"`
	Capacity    uint64 `json:"capacity"` // bytes before ZFS takes its part: the sum of the vdevs'
}

// A Vdev is a disk or a mirror.
type Vdev struct {
	Kind     string   `json:"kind"` // disk or mirror
	Serials  []string `json:"serials"`
	Capacity uint64   `json:"capacity"` // bytes, of the smallest member
}

// An Unused is a disk that the plan leaves as it is.
type Unused struct {
	Name   string `json:"name"` // a hint, not in the digest
	Serial string `json:"serial,omitempty"`
	WWN    string `json:"wwn,omitempty"` // canonical
	Model  string `json:"model,omitempty"`
	Size   uint64 `json:"size"`            // bytes
	Why    Reason `json:"why"`             // NotSelected: it could have been written, as far as it is known
	Holds  string `json:"holds,omitempty"` // the signatures on it, for people; not in the digest
}

// A Warning is what an operator must read before approving.
type Warning struct {
	Kind   string `json:"kind"`
	Serial string `json:"serial,omitempty"`
	Text   string `json:"text"`
}

// The kinds of warnings.
const (
	OwnDestroyed     = "own_destroyed"     // this server's earlier layout dies and is rebuilt (SET-15)
	ForeignDestroyed = "foreign_destroyed" // by an override (DISK-4)
	PoolBroken       = "pool_broken"       // another member of a pool that loses one stays on an unused disk
	SizesDiffer      = "sizes_differ"      // part of a larger member of a mirror stays unused
	AshiftBelow      = "ashift_below"      // of a physical sector: each small write is read, changed and written
)
