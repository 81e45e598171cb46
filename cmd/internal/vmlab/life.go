package vmlab

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/ingotmetal/ingot/cmd/api"
	"github.com/ingotmetal/ingot/cmd/internal/operate"
	"github.com/ingotmetal/ingot/cmd/internal/pause"
	"github.com/ingotmetal/ingot/disklayout"
)

// What a machine's firmware, kernel and agent may take to come so far, under emulation.
const (
	announceWait = 8 * time.Minute
	setupWait    = 6 * time.Minute
)

// A step is a part of a scenario, with the time that it may take.
type step struct {
	name string
	wait time.Duration
	run  func(context.Context) error
}

// steps runs them in turn. The first that fails ends it.
func (l *Lab) steps(ctx context.Context, m *Machine, all []step) error {
	for _, s := range all {
		err := func() error {
			ctx, cancel := context.WithTimeoutCause(ctx, s.wait, fmt.Errorf("it takes longer than %s", s.wait))
			defer cancel()
			return s.run(ctx)
		}()
		if err != nil {
			return m.failed(s.name, err)
		}
	}
	return nil
}

// Life is a machine's: it enrolls, is set up and let in, boots a rescue image, is shut
// out, reset and set up anew, and deleted, after which it is told nothing.
func (l *Lab) Life(ctx context.Context, m *Machine) error {
	return l.steps(ctx, m, []step{
		{"power on", time.Minute, func(context.Context) error { return m.On() }},
		{"its first announce", announceWait, func(ctx context.Context) error { return l.announces(ctx, m) }},
		{"its TPM", time.Minute, func(ctx context.Context) error { return l.measured(ctx, m) }},
		{"approving its setup", time.Minute, func(ctx context.Context) error { return l.approve(ctx, m) }},
		{"its setup", setupWait, func(ctx context.Context) error { return l.installs(ctx, m) }},
		{"its boot as a machine of the site", announceWait, func(ctx context.Context) error { return l.shown(ctx, m) }},
		{"looking at its disk", 2 * time.Minute, func(ctx context.Context) error { return l.checkDisk(ctx, m, m.Drives[0].Path) }},
		{"its boot into rescue", announceWait, func(ctx context.Context) error { return l.rescue(ctx, m) }},
		{"shutting it out", time.Minute, func(ctx context.Context) error { return l.sendBack(ctx, m) }},
		{"its second announce", announceWait, func(ctx context.Context) error { return l.again(ctx, m) }},
		{"approving its second setup", time.Minute, func(ctx context.Context) error { return l.approveFor(ctx, m, "local") }},
		{"its second setup", setupWait, func(ctx context.Context) error { return l.rests(ctx, m, "approved") }},
		{"its boot from the written disk", announceWait, func(ctx context.Context) error { return l.fromDisk(ctx, m) }},
		{"deleting it", time.Minute, func(ctx context.Context) error { return l.remove(ctx, m) }},
		{"silence", announceWait, func(ctx context.Context) error { return l.silent(ctx, m) }},
	})
}

// installs waits for the end of a setup, and tells what the agent took for it.
func (l *Lab) installs(ctx context.Context, m *Machine) error {
	began, err := m.Await(ctx, ": image,")
	if err != nil {
		return err
	}
	if err := l.rests(ctx, m, "approved"); err != nil {
		return err
	}
	formats, err := m.Await(ctx, ": format")
	if err != nil {
		return err
	}
	restarts, err := m.Await(ctx, "msg=\"the machine restarts\"")
	if err != nil {
		return err
	}
	took := (formats.At - began.At).Seconds()
	l.say(m.Name, "written", fmt.Sprintf("the root of %d MiB in %.1f s, %.0f MiB/s; of %d MiB of memory noded took %s MiB at most, and %s MiB are left",
		rootSize>>20, took, (rootSize>>20)/took, m.Memory, valueOf(restarts.Text, "peak_mib"), valueOf(restarts.Text, "available_mib")))
	return nil
}

// valueOf is that of a name=value in a line of a log; "?" where there is none.
func valueOf(line, name string) string {
	_, after, found := strings.Cut(line, " "+name+"=")
	value, _, _ := strings.Cut(after, " ")
	if !found {
		return "?"
	}
	return value
}

// rests waits until a machine's row has one of some states.
func (l *Lab) rests(ctx context.Context, m *Machine, states ...string) error {
	seen := ""
	for {
		row, err := api.RegistrationShow.Call(ctx, l.operator, &api.RegistrationRef{Server: m.UUID})
		if err == nil && row.State != seen {
			seen = row.State
			l.say(m.Name, seen, row.LastSetupError)
		}
		for _, s := range states {
			if err == nil && row.State == s {
				return nil
			}
		}
		if !m.Running() {
			return fmt.Errorf("the machine has no power; its row is %q", seen)
		}
		if !pause.For(ctx, 250*time.Millisecond) {
			return fmt.Errorf("%w; its row is %q", context.Cause(ctx), seen)
		}
	}
}

// announces waits for the first announce, and notes when it came.
func (l *Lab) announces(ctx context.Context, m *Machine) error {
	line, err := m.Await(ctx, "msg=announced")
	m.announced = line.At
	if err != nil {
		return err
	}
	l.say(m.Name, "announced", fmt.Sprintf("%.1f s after power on", line.At.Seconds()))
	return l.rests(ctx, m, "awaiting_setup")
}

// measured sees that the firmware measured what it ran into the TPM, and gave the log of
// it to the kernel.
func (l *Lab) measured(ctx context.Context, m *Machine) error {
	if m.TPM == "" {
		return nil
	}
	if _, err := m.Await(ctx, "TPMEventLog="); err != nil {
		return err
	}
	l.say(m.Name, "tpm", "the firmware measured into it, and left its log to the kernel")
	return nil
}

// wish is what the operator wants on a machine's first disk.
func (m *Machine) wish() api.SetupRequest { return m.wishOn(m.Drives[0].Serial) }

// wishOn is what the operator wants on a disk of some serial.
func (m *Machine) wishOn(serial string) api.SetupRequest {
	return api.SetupRequest{Hostname: m.Name, Layout: disklayout.Request{Layout: disklayout.GPT, Image: m.lab.root, Boot: m.lab.boot, Disks: []disklayout.Selector{{Serial: serial}}, ESP: 64 << 20, Root: 512 << 20}}
}

// approve looks at the plan, and approves what it saw.
func (l *Lab) approve(ctx context.Context, m *Machine) error {
	p, err := operate.Plan(ctx, l.operator, m.UUID, m.wish())
	if err != nil {
		return err
	}
	if err := operate.Approve(ctx, l.operator, m.UUID, m.wish(), p); err != nil {
		return err
	}
	l.say(m.Name, "approve", operate.Approved("ada", p))
	return nil
}

// approveFor approves a machine that is to boot an image from then on: the enrollment
// image of that instant is assigned to it (SET-5).
func (l *Lab) approveFor(ctx context.Context, m *Machine, image string) error {
	if err := l.setPolicy(ctx, image); err != nil {
		return err
	}
	return errors.Join(l.approve(ctx, m), l.setPolicy(ctx, "enroll"))
}

// fromDisk waits until the kernel that was written onto the disk runs.
func (l *Lab) fromDisk(ctx context.Context, m *Machine) error {
	if m.Boot == BIOS {
		l.say(m.Name, "disk", "is not booted: what was written onto it is for UEFI")
		return nil
	}
	line, err := m.Await(ctx, fromDisk)
	if err == nil {
		l.say(m.Name, "lives", "the kernel on its own disk runs: "+line.Text)
	}
	return err
}

// shown waits until the agent says on its console that the control plane took its key.
func (l *Lab) shown(ctx context.Context, m *Machine) error {
	line, err := m.Await(ctx, "the control plane took the key")
	if err == nil {
		l.say(m.Name, "lives", fmt.Sprintf("it showed its key %.1f s after its power came", line.At.Seconds()))
	}
	return err
}

// cycle cuts the power, and turns it on.
func (m *Machine) cycle() error {
	m.Off()
	return m.On()
}

// rescue boots the machine into the rescue image and back.
func (l *Lab) rescue(ctx context.Context, m *Machine) error {
	for _, mode := range []string{"rescue", "normal"} {
		in := api.SetMode{}
		in.MAC = m.MAC
		in.Body.Mode = mode
		if _, err := api.BootMode.Call(ctx, l.operator, &in); err != nil {
			return err
		}
		if !pause.For(ctx, 3*time.Second) { // the booter follows
			return context.Cause(ctx)
		}
		if err := m.cycle(); err != nil {
			return err
		}
		if mode == "normal" {
			return l.shown(ctx, m)
		}
		line, err := m.Await(ctx, "the agent starts", "the control plane took the key")
		if err != nil {
			return err
		}
		l.say(m.Name, "rescue", fmt.Sprintf("the rescue image runs %.1f s after power on", line.At.Seconds()))
	}
	return nil
}

// sendBack disables the machine and resets it. Its agent hears of it at once.
func (l *Lab) sendBack(ctx context.Context, m *Machine) error {
	in := api.RegistrationChange{RegistrationRef: api.RegistrationRef{Server: m.UUID}}
	if _, err := api.RegistrationDisable.Call(ctx, l.operator, &in); err != nil {
		return err
	}
	l.say(m.Name, "disabled", "its keys are revoked in the same commit")
	if _, err := api.RegistrationFactoryReset.Call(ctx, l.operator, &in); err != nil {
		return err
	}
	l.say(m.Name, "reset", "back to awaiting_setup; nothing is destroyed by that")
	return nil
}

// again boots the machine that was sent back, which announces itself with a new key.
func (l *Lab) again(ctx context.Context, m *Machine) error {
	if err := m.cycle(); err != nil {
		return err
	}
	_, err := m.Await(ctx, "msg=announced state=awaiting_setup")
	return err
}

// remove disables, resets and deletes the machine.
func (l *Lab) remove(ctx context.Context, m *Machine) error {
	if err := l.sendBack(ctx, m); err != nil {
		return err
	}
	in := api.RegistrationChange{RegistrationRef: api.RegistrationRef{Server: m.UUID}}
	if _, err := api.RegistrationDelete.Call(ctx, l.operator, &in); err != nil {
		return err
	}
	l.say(m.Name, "deleted", "its boot record is decommissioned: silence from now on")
	return nil
}

// silent boots the machine, and looks what the booter says to it.
func (l *Lab) silent(ctx context.Context, m *Machine) error {
	if err := m.cycle(); err != nil {
		return err
	}
	began := l.Now()
	for asked := 0; asked < 2; {
		said, err := operate.Why(ctx, l.unix(l.booter.socket), m.MAC)
		if err != nil {
			return err
		}
		asked = 0
		for _, h := range said.Moments {
			if h.Time.Before(began) {
				continue
			}
			if asked++; h.Silence == "" {
				return errors.New("it is answered: " + h.Stage + " " + h.What + " " + h.Detail)
			}
		}
		if !pause.For(ctx, time.Second) {
			return errors.New("its firmware asks nothing")
		}
	}
	m.Off()
	l.say(m.Name, "silence", "its firmware asks, and nobody answers")
	return nil
}
