package apply

import (
	"context"
	"io"

	"github.com/ingotmetal/ingot/disklayout"
	"github.com/ingotmetal/ingot/disklayout/probe"
)

// An Order is what Install is to do, and who said so (MACH-7).
type Order struct {
	Plan     disklayout.Plan
	Stamp    disklayout.Stamp  // this server, and the epoch of the attempt that runs
	Approved disklayout.Digest // of the plan, as the grant names it
	// Image is the raw disk image that the plan names, from its start.
	Image io.Reader
	// ImageSize is the image's, in bytes. Zero is unknown: then an image that is
	// too large is known only when the root partition is full.
	ImageSize uint64
	// Boot is the program that the plan names for firmware to start, from its start. It
	// is read whole before anything is written.
	Boot io.Reader
	// BootSize is the program's, in bytes, of which at most MaxBoot are read. Zero is
	// unknown.
	BootSize uint64
}

// A Step is a part of an install.
type Step string

// The steps, in order.
const (
	Check  Step = "check"
	Clear  Step = "clear"
	Image  Step = "image"
	Format Step = "format"
	Table  Step = "table"
	Verify Step = "verify"
)

// Progress is how far an install is. Total is 0 where nobody knows it.
type Progress struct {
	Step        Step
	Done, Total uint64 // bytes
}

// A Result is an installed disk.
type Result struct {
	Disk    disklayout.Disk // as it is now, in the announced form
	Written uint64          // bytes
	Image   uint64          // bytes of the image
	Already bool            // this attempt had installed it before; nothing was written
}

// Install writes the plan of an order onto the one disk that it names, among all
// the disks of the machine, and returns when the medium holds it. The package's
// comment has the order of its writes. progress may be nil; it is called on this
// goroutine.
//
// The error is a [*Refused] or a [*disklayout.Refused] while nothing has been
// written, and a [*Failed] after that. Once ctx ends, the next write is not
// begun.
func Install(ctx context.Context, o Order, disks []Source, progress func(Progress)) (Result, error) {
	if progress == nil {
		progress = func(Progress) {}
	}
	if err := o.check(); err != nil {
		return Result{}, err
	}
	boot, err := o.boot(ctx, progress)
	if err != nil {
		return Result{}, err
	}
	all, n, err := identify(&o, disks)
	if err != nil {
		return Result{}, err
	}
	dev, err := disks[n].Claim()
	if err != nil {
		return Result{}, claimed(all[n].Serial, err)
	}
	defer dev.Close()
	i := &install{order: &o, boot: boot, writer: writer{ctx: ctx, dev: dev, disk: all[n].Serial}, progress: progress}
	if err := i.examine(all, n); err != nil {
		return Result{}, err
	}
	if i.found.Mark != nil && i.done(i.found.Mark) {
		return i.already()
	}
	return i.write()
}

// An install is one that runs.
type install struct {
	writer
	order    *Order
	boot     *program
	layout   *layout
	disk     disklayout.Disk
	found    probe.Found
	hidden   []disklayout.Signature // in the places of the new partitions; they die
	progress func(Progress)
	image    imageRead
}

// at begins a step.
func (i *install) at(s Step, done, total uint64) {
	i.writer.step = s
	i.progress(Progress{s, done, total})
}

// write is all that writes.
func (i *install) write() (Result, error) {
	for _, step := range []func() error{i.clear, i.copyImage, i.format, i.tables, i.verify} {
		if err := step(); err != nil {
			return Result{}, err
		}
	}
	return i.finished(Result{Disk: i.disk, Written: i.written, Image: i.image.size})
}

// format writes the ESP's FAT and both arrays of entries, which nothing names
// yet.
func (i *install) format() error {
	i.at(Format, 0, 0)
	for _, p := range i.layout.esp {
		if err := i.put(p); err != nil {
			return err
		}
	}
	return i.putSynced(i.layout.backupEntries, i.layout.primaryEntries)
}

// tables writes what makes the layout known, the backup first: a cut leaves none
// or a whole copy.
func (i *install) tables() error {
	i.at(Table, 0, 0)
	for _, p := range []piece{i.layout.backupHeader, i.layout.primaryHeader, i.layout.mbr} {
		if err := i.putSynced(p); err != nil {
			return err
		}
	}
	return nil
}

// verify reads everything back from the medium, looks at the disk as a stranger
// would, and then says done.
func (i *install) verify() error {
	i.at(Verify, 0, 0)
	for _, last := range []bool{false, true} {
		if last {
			if err := i.putSynced(i.layout.done); err != nil {
				return err
			}
		}
		if err := i.forget(); err != nil {
			return err
		}
		for _, p := range i.layout.all() {
			if p.at == probe.MarkOffset && !last {
				p = i.layout.mark
			}
			if err := i.same(p); err != nil {
				return err
			}
		}
	}
	f, err := probe.Look(i.dev, int64(i.layout.size), i.layout.sector)
	if err == nil {
		err = i.layout.is(f, i.order.Plan.Image != "")
	}
	if err != nil {
		return i.failed(ReadBack, "the disk is not what was written", err)
	}
	i.disk.Signatures, i.disk.Partitions = f.Signatures, f.Partitions
	return nil
}

// finished lets the system see the table.
func (i *install) finished(r Result) (Result, error) {
	if err := i.dev.Reread(); err != nil {
		return Result{}, i.failed(KernelStale, "the system does not take the new table", err)
	}
	return r, nil
}

// done reports whether a mark says that this attempt has installed this plan.
func (i *install) done(m *probe.Mark) bool {
	return m.Done && m.Stamp == i.order.Stamp && m.Plan == i.order.Approved
}

// already answers an order that has been carried out. The ESP is the booted
// system's by now; the table must still be the plan's.
func (i *install) already() (Result, error) {
	l := i.layout
	for _, p := range []piece{l.mbr, l.primaryHeader, l.primaryEntries, l.backupEntries, l.backupHeader, l.done} {
		if err := i.same(p); err != nil {
			return Result{}, refuse(ChangedSince, i.writer.disk, "this attempt has installed it, and its table is another now", err)
		}
	}
	i.disk.Signatures, i.disk.Partitions = i.found.Signatures, i.found.Partitions
	return i.finished(Result{Disk: i.disk, Already: true})
}
