package vmlab

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ingotmetal/ingot/cmd/internal/operate"
	"github.com/ingotmetal/ingot/cmd/internal/pause"
	"github.com/ingotmetal/ingot/disklayout"
)

// smallerSize is enough for what is asked for, so that the size itself is not the reason.
const smallerSize = 768 << 20

// caseWait is what a case may take: it may wait for a boot, a look at the disks and a
// setup.
const caseWait = announceWait + setupWait

// guardPlans are what a plan refuses: all of it on one machine in one boot. At the end a
// foreign file system dies by name, and nothing else does.
func (l *Lab) guardPlans(ctx context.Context) ([]Result, error) {
	m, err := l.guarded(ctx, 0, NVMe, NVMe, NVMe, NVMe, NVMe)
	if err != nil {
		return nil, err
	}
	d := m.Drives
	d[1].Serial = d[0].Serial
	if err := errors.Join(putExt4(ctx, d[2]), putTable(ctx, d[3]), putPool(ctx, d[4])); err != nil {
		return nil, err
	}
	return l.cases(ctx, m, []step{
		{"duplicate serials", caseWait, func(ctx context.Context) error {
			return l.refusesPlan(ctx, m, d[0].Serial, "duplicate_serial", "another disk of the machine has its serial")
		}},
		{"a foreign file system", caseWait, func(ctx context.Context) error {
			return l.refusesPlan(ctx, m, d[2].Serial, "foreign_signature", "ext4 "+foreignLabel, "override")
		}},
		{"a foreign partition table", caseWait, func(ctx context.Context) error {
			return l.refusesPlan(ctx, m, d[3].Serial, "foreign_signature", "gpt", "override")
		}},
		{"a pool that is not imported", caseWait, func(ctx context.Context) error {
			return l.refusesPlan(ctx, m, d[4].Serial, "pool_member", "zfs_member "+foreignPool, fmt.Sprint(uint64(foreignGUID)), "override")
		}},
		{"a named override", caseWait, func(ctx context.Context) error { return l.overrides(ctx, m, d[2]) }},
	})
}

// overrides lets the file system of one disk die by its name: that disk is written, and
// no other.
func (l *Lab) overrides(ctx context.Context, m *Machine, d Drive) error {
	row, err := l.row(ctx, m, "awaiting_setup")
	if err != nil {
		return err
	}
	i := slices.IndexFunc(row.Inventory.Disks, func(o disklayout.Disk) bool { return o.Serial == d.Serial })
	if i < 0 {
		return errors.New("disk " + d.Serial + " is not announced")
	}
	want := m.wishOn(d.Serial)
	for _, s := range row.Inventory.Disks[i].Signatures {
		want.Layout.Overrides = append(want.Layout.Overrides, disklayout.Override{Serial: d.Serial, Type: s.Type, UUID: s.UUID, Offset: s.Offset})
	}
	p, err := operate.Plan(ctx, l.operator, m.UUID, want)
	if err != nil {
		return err
	}
	if err := says(p.Text, "DIES", "ext4 "+foreignLabel); err != nil {
		return err
	}
	others := slices.DeleteFunc(slices.Clone(m.Drives), func(o Drive) bool { return o.Path == d.Path })
	if err := untouched(others, func() error { return l.setUp(ctx, m, want, p) }); err != nil {
		return err
	}
	return l.checkDisk(ctx, m, d.Path)
}

// guardPower has disks change places while the power is off. An agent's key lives as
// long as its boot, and the approval is for that key: the setup ends before it begins.
// The next plan finds the disk of the serial where it is.
func (l *Lab) guardPower(ctx context.Context) ([]Result, error) {
	m, err := l.guarded(ctx, 0, NVMe, NVMe)
	if err != nil {
		return nil, err
	}
	serial := m.Drives[0].Serial
	return l.cases(ctx, m, []step{
		{"approved while it was off, disks swapped", caseWait, func(ctx context.Context) error {
			return untouched(slices.Clone(m.Drives), func() error { return l.swappedOff(ctx, m) })
		}},
		{"swapped disks, the serial decides", caseWait, func(ctx context.Context) error { return l.serialDecides(ctx, m, serial, "nvme1n1") }},
	})
}

// deadLink is how long a booter may take to see that a machine's session is dead.
const deadLink = 25 * time.Second

func (l *Lab) swappedOff(ctx context.Context, m *Machine) error {
	want := m.wish()
	p, err := operate.Plan(ctx, l.operator, m.UUID, want)
	if err != nil {
		return err
	}
	m.Off()
	if !pause.For(ctx, deadLink) {
		return context.Cause(ctx)
	}
	if err := operate.Approve(ctx, l.operator, m.UUID, want, p); err != nil {
		return err
	}
	l.say(m.Name, "approve", "ada approves plan "+p.Digest[:16]+" while the power is off; then the disks change places")
	slices.Reverse(m.Drives)
	if err := m.On(); err != nil {
		return err
	}
	if err := l.announces(ctx, m); err != nil {
		return err
	}
	row, err := l.row(ctx, m, "awaiting_setup")
	if err != nil {
		return err
	}
	l.say(m.Name, "refused", "the site: "+row.LastSetupError)
	return says(row.LastSetupError, "another agent key")
}

// serialDecides sets up the disk of a serial, which has a kernel name by now; every
// other disk keeps its bytes.
func (l *Lab) serialDecides(ctx context.Context, m *Machine, serial, name string) error {
	want := m.wishOn(serial)
	p, err := operate.Plan(ctx, l.operator, m.UUID, want)
	if err != nil {
		return err
	}
	if at := p.Layout.Disks[0].Name; at != name {
		return fmt.Errorf("disk %s is at %s, and not at %s", serial, at, name)
	}
	return l.written(ctx, m, serial, func() error { return l.setUp(ctx, m, want, p) })
}

// written runs what must write the disk of a serial and no other.
func (l *Lab) written(ctx context.Context, m *Machine, serial string, run func() error) error {
	i := slices.IndexFunc(m.Drives, func(o Drive) bool { return o.Serial == serial })
	others := slices.Delete(slices.Clone(m.Drives), i, i+1)
	if err := untouched(others, run); err != nil {
		return err
	}
	return l.checkDisk(ctx, m, m.Drives[i].Path)
}

// guardPlugs are what an agent refuses when the disks are others than those that were
// shown: they come and go while the machine runs, after the plan and before the setup.
func (l *Lab) guardPlugs(ctx context.Context) ([]Result, error) {
	m, err := l.guarded(ctx, 2, NVMe, NVMe)
	if err != nil {
		return nil, err
	}
	return l.cases(ctx, m, []step{
		{"a USB disk of the same serial", caseWait, func(ctx context.Context) error { return l.usbTwin(ctx, m) }},
		{"a smaller disk than approved", caseWait, func(ctx context.Context) error {
			return l.replaced(ctx, m, "smaller", smallerSize, nil, "disk_changed", fmt.Sprintf("size %d, was %d", smallerSize, guardedSize))
		}},
		{"a file system since the plan", caseWait, func(ctx context.Context) error {
			return l.replaced(ctx, m, "used", guardedSize, putExt4, "foreign_signature", "ext4 "+foreignLabel)
		}},
		{"disks swapped while it runs", caseWait, func(ctx context.Context) error { return l.swappedOn(ctx, m) }},
	})
}

// usbTwin plugs in a disk on USB that says that it is the approved one.
func (l *Lab) usbTwin(ctx context.Context, m *Machine) error {
	if !l.usb {
		return &Missing{"a kernel that sees disks on USB for this case; " + filepath.Base(l.Kernel) + " does not", "take a linux-image-*-amd64 that is not of the cloud flavour"}
	}
	twin := Drive{filepath.Join(l.Dir, m.Name+"-twin"), m.Drives[0].Serial, USB}
	if err := blank(twin.Path, guardedSize); err != nil {
		return err
	}
	return l.refusesChanged(ctx, m, append(slices.Clone(m.Drives), twin),
		func(ctx context.Context) error { return errors.Join(m.Plug(ctx, 0, twin), settled(ctx)) },
		func(ctx context.Context) error { return m.Pull(ctx, stick) },
		"duplicate_serial", "another disk of the machine has its serial")
}

// replaced puts another disk of the same serial into the first disk's port.
func (l *Lab) replaced(ctx context.Context, m *Machine, what string, size int64, put func(context.Context, Drive) error, wants ...string) error {
	was := m.Drives[0]
	other := Drive{filepath.Join(l.Dir, strings.Join([]string{m.Name, what}, "-")), was.Serial, NVMe}
	if err := blank(other.Path, size); err != nil {
		return err
	}
	if put != nil {
		if err := put(ctx, other); err != nil {
			return err
		}
	}
	swap := func(d Drive) change {
		return func(ctx context.Context) error {
			return errors.Join(m.Pull(ctx, slot(0)), m.Plug(ctx, 0, d), settled(ctx))
		}
	}
	return l.refusesChanged(ctx, m, append(slices.Clone(m.Drives), other), swap(other), swap(was), wants...)
}

// settled gives a kernel the time to make a disk of what it sees.
func settled(ctx context.Context) error {
	if !pause.For(ctx, 3*time.Second) {
		return context.Cause(ctx)
	}
	return nil
}

// swappedOn pulls both disks after the plan was shown, and puts them back the other way
// round: what is approved is a serial, which has another kernel name by then.
func (l *Lab) swappedOn(ctx context.Context, m *Machine) error {
	want, a, b := m.wish(), m.Drives[0], m.Drives[1]
	p, err := operate.Plan(ctx, l.operator, m.UUID, want)
	if err != nil {
		return err
	}
	if at := p.Layout.Disks[0].Name; at != "nvme0n1" {
		return fmt.Errorf("disk %s is at %s already", a.Serial, at)
	}
	err = errors.Join(l.betweenSurveys(ctx, m), m.Pull(ctx, slot(0)), m.Pull(ctx, slot(1)), m.Plug(ctx, 0, b), m.Plug(ctx, 1, a), settled(ctx))
	if err != nil {
		return err
	}
	_, since, _ := m.Console().Lines(0)
	if err := l.written(ctx, m, a.Serial, func() error { return l.setUp(ctx, m, want, p) }); err != nil {
		return err
	}
	line, err := m.await(ctx, since, "nvme1n1: p1 p2 p3", "nvme0n1: p1 p2 p3")
	if err != nil {
		return err
	}
	return says(line.Text, "nvme1n1")
}
