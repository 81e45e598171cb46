// Package apply writes an approved GPT plan onto a disk, and never onto another.
//
// [Install] takes the plan, what was approved of it, and every disk of the
// machine. Before the first byte it asks, of the opened device: is the plan the
// approved one (SET-14), is the disk the plan's, alone with its serial, built in
// and not on USB (RUN-4, DISK-3), does it hold nothing but what the plan lets
// die (DISK-4), and would the new table bring to light what no table shows now?
// Then it builds every byte of the layout in memory and reads it back with
// package probe's parsers and rules of its own. A [*Refused], or a
// [*disklayout.Refused], is the answer while nothing has been written; after
// that it is a [*Failed], which claims nothing about the disk.
//
// # Order
//
// The boot program, where the plan names one, is read whole and held to its digest
// before all this: one that is another's costs no byte of the disk.
//
//  1. What dies: signatures in old partitions, then backup tables, the MBR and
//     the primary tables, each by the one sector that has its magic. At no time
//     does that leave a signature of which the plan did not speak.
//  2. The mark: server and epoch, the plan's digest and the new partitions. All
//     that follows is known as this attempt's work, whenever it is cut short.
//  3. The image, where the plan names one, into the root partition's place. It
//     is hashed as it is written and again as it is read back.
//  4. The FAT of the EFI system partition, with the boot program, and both arrays of entries.
//  5. The backup header, the primary header, the protective MBR: only now can
//     firmware find anything to start.
//  6. All is read back from the medium and looked at anew, and the mark says
//     done.
//
// Between two steps, and wherever the order of two writes counts, the device is
// synced. So an image whose digest is wrong leaves a disk with a mark and no
// table, which does not boot, and which a new attempt of this server may
// rebuild. An [Install] of the same epoch resumes after a cut at any byte; once
// the mark says done, it writes nothing.
//
// # Who writes what
//
// The table's bytes are this package's: the plan has every LBA of it, so that
// little is left to write, and go-diskfs cuts the size field of a protective
// MBR over 2 TiB to its low bits and counts in sectors of 512 bytes. The FAT is
// go-diskfs's, made in memory at offset zero and checked against the FAT
// specification; a size that it gets wrong is cut by clusters until it is right,
// or refused. The boot program that a plan names is put there by this package, under
// the name that firmware looks for (EFI/BOOT/BOOTX64.EFI, or BOOTAA64.EFI by what it
// says of its machine), and read back by go-diskfs, whose own folders fsck.fat calls
// invalid. The image must be raw, of a size that fits the root partition; what
// lies behind it there is left but for known signatures.
//
// A pool is not for this package: its tool is zpool.
//
// # Devices
//
// A [Source] is a disk of the machine, known but not opened: a [Block] device of
// Linux, or a [File] that plays a disk. Claiming one opens it for this process
// alone. Values are safe for concurrent use; a claimed [Device] is for one
// goroutine at a time.
package apply
