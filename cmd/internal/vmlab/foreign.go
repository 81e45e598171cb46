package vmlab

import (
	"context"
	"encoding/binary"
	"errors"
	"os"
)

// What others have on the disks that they put into a machine.
const (
	foreignLabel = "payroll"
	foreignPool  = "tank"
	foreignGUID  = 7205759403792793600 // of the pool; libblkid says it in decimals
)

// putExt4 makes a disk a file system of somebody else's.
func putExt4(ctx context.Context, d Drive) error {
	_, err := tool(ctx, "mkfs.ext4", "e2fsprogs", "-q", "-F", "-L", foreignLabel, d.Path)
	return err
}

// putTable makes a partition table with one partition.
func putTable(ctx context.Context, d Drive) error {
	_, err := tool(ctx, "sgdisk", "gdisk", "--new=1:2048:+64M", "--change-name=1:"+foreignLabel, d.Path)
	return err
}

// putPool makes a disk the member of a ZFS pool, as far as it shows: four labels, each
// with the pool's names and values and a ring of uberblocks (OpenZFS, vdev_label.c).
func putPool(_ context.Context, d Drive) error {
	const label = 256 << 10
	f, err := os.OpenFile(d.Path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	fi, err := f.Stat()
	if err != nil {
		return errors.Join(err, f.Close())
	}
	body := poolLabel()
	end := fi.Size() / label * label
	for _, at := range []int64{0, label, end - 2*label, end - label} {
		if _, err := f.WriteAt(body, at); err != nil {
			return errors.Join(err, f.Close())
		}
	}
	return f.Close()
}

// poolLabel is a label: names and values at 16 KiB, uberblocks of 1 KiB from 128 KiB on.
func poolLabel() []byte {
	const names, ring, size = 16 << 10, 128 << 10, 256 << 10
	b := make([]byte, size)
	list := []byte{1, 1, 0, 0}                            // XDR, of a machine with the least byte first
	list = binary.BigEndian.AppendUint32(list, 0)         // version of the list
	list = binary.BigEndian.AppendUint32(list, 1)         // names come once
	list = append(list, pair("version", 8, big(5000))...) // features instead of versions
	list = append(list, pair("name", 9, xdr(foreignPool))...)
	list = append(list, pair("state", 8, big(0))...) // active
	list = append(list, pair("txg", 8, big(4))...)
	list = append(list, pair("pool_guid", 8, big(foreignGUID))...)
	copy(b[names:], append(list, 0, 0, 0, 0, 0, 0, 0, 0))
	for n := range uint64(ring >> 10) {
		u := b[ring+n<<10:]
		for i, v := range []uint64{0x00bab10c, 5000, 4 + n, foreignGUID, 1} { // magic, version, transaction, sum of GUIDs, time
			binary.LittleEndian.PutUint64(u[8*i:], v)
		}
	}
	return b
}

// pair is a name with a value of a type: its size here and in memory, name, type, how
// many values, value.
func pair(name string, typ uint32, value []byte) []byte {
	n := xdr(name)
	size := uint32(8 + len(n) + 8 + len(value))
	out := binary.BigEndian.AppendUint32(nil, size)
	out = binary.BigEndian.AppendUint32(out, size+8)
	out = append(out, n...)
	out = binary.BigEndian.AppendUint32(out, typ)
	out = binary.BigEndian.AppendUint32(out, 1)
	return append(out, value...)
}

// xdr is a text with its length, filled up to four bytes (RFC 4506, 4.11).
func xdr(s string) []byte {
	out := append(binary.BigEndian.AppendUint32(nil, uint32(len(s))), s...)
	return append(out, make([]byte, -len(s)&3)...)
}

func big(v uint64) []byte { return binary.BigEndian.AppendUint64(nil, v) }
