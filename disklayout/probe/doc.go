// Package probe finds what is on a disk: signatures of filesystems, volumes,
// pools and tables, and the partitions of the tables, in the form in which a
// machine announces its disks.
//
// Nothing here opens anything: [Look] reads an [io.ReaderAt]. It reads less than
// 2 MiB of the disk and less than 2 MiB of each partition, and never more than
// [MaxRead] bytes. A read that fails, a table larger than its bounds and more
// than [MaxPartitions] partitions are a [*NotLooked]: such a disk is one that
// nobody looked at, and never an empty one (DISK-4).
//
// # What counts
//
// Types have the names that libblkid gives them, and an offset is that of the
// magic, as wipefs prints it; of a ZFS label, that of the label. Places that
// libblkid does not look at but that bring data back are probed as well: the
// second headers of LUKS2, the mirrors of btrfs, each ZFS label by itself, the
// second copies of bcachefs, both sector sizes of a GPT and the backup that a
// primary header names.
//
// A magic of four bytes or more needs no second witness: a false alarm costs an
// operator one override, and a miss costs a disk. Shorter ones, ext's 53 EF or a
// boot sector's 55 AA, are checked further. So a damaged GPT is a gpt, without
// a UUID if its header's checksum is wrong.
//
// A signature in a partition is announced with its disk, at its offset from
// the disk's start. A protective MBR is not announced apart from its gpt.
//
// # The stamp
//
// Of a pool, the pool carries the stamp. A GPT has no place for it, so a layout
// of ours has a [Mark] of 512 bytes at [MarkOffset], 768 KiB: after the entries
// of a GPT of either sector size, before the first partition at 1 MiB, where
// neither tools nor any known signature have anything. It has the stamp's
// text, the GUID of the disk, the places of the partitions, the plan's digest
// and a CRC-32, and it is one sector, which a disk writes whole or not at all.
//
// The mark is announced as a signature of type [MarkType]. It vouches with its
// stamp for GPT copies of its GUID, for damaged ones, and for all that lies in
// the partitions it names or those of such a GPT. If any other table is on the
// disk, somebody else has laid it out since: then it vouches for itself alone.
//
// Everything here is a pure function and safe for concurrent use.
package probe
