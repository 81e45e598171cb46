// Package disklayout realizes a layout on the disks that a machine announced,
// or says why not (DISK-1).
//
// [Realize] takes a [Request], the announced [Disk]s and the server's [Stamp].
// It returns a [Plan], or a [*Refused] with a [Reason], the disk and what to do
// next. The same code runs where an operator approves a setup and on the node
// that writes it: equal inputs give equal plans, in whatever order the disks
// were announced, and so equal digests (SET-14). Nothing here touches a device.
//
// # Which disk
//
// A [Selector] finds exactly one disk or is refused (DISK-2). Medium-less,
// removable, USB and read-only disks are never candidates. A kernel name such
// as sda is a second witness beside a serial or a WWN, never a way to choose:
// it moves from boot to boot. A disk is known by its serial, so one without a
// serial, with a placeholder for one, or with another disk's, is not written.
//
// # What dies
//
// Every [Signature] on a chosen disk must be accounted for (DISK-4). One with
// this server's own stamp is destroyed and rebuilt, with a [Warning] (SET-15);
// one of the attempt that runs is that attempt's own work and is resumed; any
// other refuses the plan unless an [Override] names the disk and the signature.
// A disk whose signatures nobody looked for is not an empty disk.
//
// Before it writes, a node asks [Plan.Verify] about the plan that was approved
// and the disks as they are then, and it asks again of the opened device
// (DISK-3). That answers on a second try too, when part of what was to die is
// dead and part of the new layout is there.
//
// # Layouts
//
//   - [GPT]: EFI system partition, root and data on one disk. Both sector sizes
//     that disks have, 512 and 4096 bytes, each partition at a whole MiB. The
//     UUIDs are derived from the server, the serial and the place, so that a
//     plan needs no randomness.
//   - [Single] and [Mirror]: a ZFS pool, planned only: vdevs by serial, ashift
//     and compression.
//
// # The announced form
//
// A machine announces one JSON object of at most 256 KiB, its sysinfo (REG-9).
// [ParseDisks] reads its member "disks" and ignores the others:
//
//	{
//	  "uuid": "6b1f2c3d-...",
//	  "disks": [{
//	    "name": "sda", "serial": "S1", "wwn": "0x5000c500a1b2c3d4", "model": "ST4000",
//	    "size": 4000787030016, "logical_sector": 512, "physical_sector": 4096,
//	    "rotational": true, "removable": false, "transport": "sata", "read_only": false,
//	    "signatures": [{"type": "zfs_member", "offset": 0, "label": "tank", "uuid": "123", "stamp": ""}],
//	    "partitions": [{"number": 1, "start": 1048576, "size": 536870912, "type": "", "uuid": "", "label": ""}]
//	  }],
//	  "nics": [{"name": "eth0", "mac": "02:00:00:00:00:01"}]
//	}
//
// Sizes, starts and offsets are in bytes from the start of the disk. A type of
// a signature is the name that libblkid gives it; one that lies in a partition
// is announced with its disk, and a protective MBR not apart from its gpt. A
// stamp is what [Stamp.String] gave when it was written; beside a GPT it lies
// where package [github.com/ingotmetal/ingot/disklayout/probe] says. What is left
// out is unknown, and unknown counts against the disk: without "removable" it is
// removable, without "read_only" read-only, without "transport" perhaps on USB,
// without "signatures" not looked at.
//
// Everything here is a value or a pure function of values and safe for
// concurrent use.
package disklayout
