package apply

import (
	"errors"
	"fmt"
	"slices"

	"github.com/ingotmetal/ingot/disklayout"
	"github.com/ingotmetal/ingot/disklayout/probe"
)

// check judges an order by itself.
func (o *Order) check() error {
	p := &o.Plan
	switch {
	case p.Sum() != o.Approved || p.Digest != o.Approved:
		return refuse(NotApproved, "", fmt.Sprintf("the plan has digest %s, approved is %s", p.Sum(), o.Approved), nil)
	case o.Stamp.Epoch == 0:
		return refuse(EpochMissing, "", "the order names no attempt", nil)
	case p.Layout != disklayout.GPT || p.Pool != nil:
		return refuse(PoolUnsupported, "", "the plan is of a pool", nil)
	case p.Table == nil || len(p.Disks) != 1:
		return refuse(TableInvalid, "", "the plan has no table of one disk", nil)
	case p.Image != "" && o.Image == nil:
		return refuse(ImageMissing, "", "the plan names the image "+p.Image, nil)
	case p.Image == "" && o.Image != nil:
		return refuse(ImageUnexpected, "", "the plan names no image", nil)
	case p.Boot != "" && o.Boot == nil:
		return refuse(BootMissing, "", "the plan names the boot program "+p.Boot, nil)
	case p.Boot == "" && o.Boot != nil:
		return refuse(BootUnexpected, "", "the plan names no boot program", nil)
	}
	return o.checkImage()
}

// identify asks every disk who it is, and finds the plan's. One that does not
// answer could be a second disk with the same serial.
func identify(o *Order, sources []Source) ([]disklayout.Disk, int, error) {
	all, n := make([]disklayout.Disk, len(sources)), -1
	for i, s := range sources {
		d, err := s.Identity()
		if err != nil {
			return nil, 0, refuse(Unidentified, d.Name, "it does not say what it is", err)
		}
		d.Signatures, d.Partitions = []disklayout.Signature{}, nil // only the opened disk's count
		all[i] = d
		if disklayout.CanonicalSerial(d.Serial) == disklayout.CanonicalSerial(o.Plan.Disks[0].Serial) {
			n = i
		}
	}
	if err := o.Plan.Verify(all, o.Stamp); err != nil {
		return nil, 0, err
	}
	return all, n, nil
}

// claimed makes a refusal of what Claim returned.
func claimed(disk string, err error) error {
	if _, ok := errors.AsType[*Refused](err); ok {
		return err
	}
	return refuse(Busy, disk, "it cannot be opened for this process alone", err)
}

// examine asks the opened disk all that stands before the first write (DISK-3,
// DISK-4, SET-14), and builds what is written (SET-7: the dry run).
func (i *install) examine(all []disklayout.Disk, n int) error {
	i.at(Check, 0, 0)
	d, err := i.dev.Identity()
	if err != nil {
		return refuse(Unidentified, i.writer.disk, "opened, it does not say what it is", err)
	}
	if i.layout, err = build(&i.order.Plan, i.order.Stamp, i.boot); err != nil {
		return err
	}
	if err := i.dev.Forget(); err != nil {
		return refuse(NotLooked, i.writer.disk, "what is cached of it cannot be dropped", err)
	}
	if i.found, err = probe.Look(i.dev, int64(d.Size), d.LogicalSector); err != nil {
		return refuse(NotLooked, i.writer.disk, "it cannot be looked at", err)
	}
	d.Signatures, d.Partitions = i.found.Signatures, i.found.Partitions
	all[n] = d
	if err := i.order.Plan.Verify(all, i.order.Stamp); err != nil {
		return err
	}
	i.disk, i.size = d, d.Size
	return i.unearth()
}

// unearth looks into the places of the new partitions. A table that was lost, or
// wiped without what it named, leaves filesystems that no look at the disk finds
// and that the new table may bring to light; over those nothing is written,
// unless the layout there is this server's.
func (i *install) unearth() error {
	own := i.found.Vouched && i.found.Mark.Stamp.Server == i.order.Stamp.Server
	for _, p := range i.layout.parts {
		sigs, err := probe.Within(i.dev, int64(i.size), int64(p.Start), int64(p.Size))
		if err != nil {
			return refuse(NotLooked, i.writer.disk, "the place of partition "+p.Name+" cannot be looked at", err)
		}
		for _, s := range sigs {
			if !own && !i.dies(s) {
				return refuse(Hidden, i.writer.disk, fmt.Sprintf("where partition %s is to be, a %s lies at byte %d that no table shows", p.Name, s.Type, s.Offset), nil)
			}
			i.hidden = append(i.hidden, s)
		}
	}
	return nil
}

// dies reports whether the plan lets a signature die.
func (i *install) dies(s disklayout.Signature) bool {
	return slices.ContainsFunc(i.order.Plan.Disks[0].Lost, func(l disklayout.Loss) bool { return l.Type == s.Type && l.Offset == s.Offset })
}
