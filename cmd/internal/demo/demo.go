package demo

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/ingotmetal/ingot/cmd/api"
	"github.com/ingotmetal/ingot/cmd/internal/operate"
	"github.com/ingotmetal/ingot/disklayout"
)

// Run lives through a demo. The error says what did not end well.
func Run(ctx context.Context, w World, o Options) (err error) {
	if o.Machines < 1 || o.Machines > MaxMachines {
		return &Invalid{fmt.Sprintf("%d machines", o.Machines), fmt.Sprintf("1 to %d", MaxMachines)}
	}
	if !slices.Contains(Faults(), o.Fault) {
		return &Invalid{"fault " + string(o.Fault), "one of " + strings.Trim(fmt.Sprint(Faults()[1:]), "[]")}
	}
	dir := o.Keep
	if dir == "" {
		if dir, err = os.MkdirTemp("", "ingot-demo-"); err != nil {
			return err
		}
		defer func() { _ = os.RemoveAll(dir) }()
	} else if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	l, err := open(ctx, w, o, dir)
	if err != nil {
		return err
	}
	defer func() {
		if closing := l.close(); err == nil {
			err = closing
		}
	}()
	return l.lives(ctx)
}

// lives is the life of all machines: from power on to a working machine, and back.
func (l *lab) lives(ctx context.Context) error {
	for n := range l.opts.Machines {
		m, err := newMachine(l, n+1)
		if err != nil {
			return err
		}
		l.machines = append(l.machines, m)
	}
	if err := l.before(ctx); err != nil {
		return err
	}
	l.stops = append(l.stops, l.following(ctx))
	for _, m := range l.machines {
		m.on(ctx)
	}
	if l.trouble.on != nil {
		if err := l.trouble.on(ctx, l); err != nil {
			return err
		}
	}
	if err := l.until(ctx, len(l.machines)); err != nil {
		return err
	}
	l.say("site", "checked", fmt.Sprintf("%d machines are approved", len(l.machines)))
	if err := l.lowestAddresses(ctx, l.free); err != nil {
		return err
	}
	if err := l.disksAsPlanned(); err != nil {
		return err
	}
	if err := l.rootPassword(ctx); err != nil {
		return err
	}
	return l.retire(ctx)
}

// until approves each machine that waits for it, until so many were approved.
func (l *lab) until(ctx context.Context, n int) error {
	for len(l.done) < n {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case m := <-l.news:
			switch m.row() {
			case "approved":
				l.done[m] = true
			case "awaiting_setup":
				if err := l.approving(ctx, m); err != nil {
					return fmt.Errorf("%s: %w", m.name(), err)
				}
			}
		}
	}
	return nil
}

// setup is what an operator asks to be written on a machine.
func (l *lab) setup(m *machine) api.SetupRequest {
	return api.SetupRequest{Hostname: m.name(), Layout: disklayout.Request{Layout: disklayout.GPT, Image: l.image,
		Disks: []disklayout.Selector{{Serial: m.disk.Disk.Serial}}, ESP: 64 << 20, Root: 256 << 20}}
}

// asked is who asks for what.
type asked struct {
	who   string
	as    *api.Client
	setup api.SetupRequest
}

// approve looks at the plan, and approves what it saw.
func (l *lab) approve(ctx context.Context, m *machine) error {
	ada := asked{"ada", l.operator, l.setup(m)}
	p, err := l.plan(ctx, m, ada)
	if err != nil {
		return err
	}
	m.planned(*p.Layout) // before the call: its answer may be lost
	return l.confirm(ctx, m, ada, p)
}

// plan has the site plan a setup.
func (l *lab) plan(ctx context.Context, m *machine, a asked) (api.SetupPlan, error) {
	return operate.Plan(ctx, a.as, m.uuid, a.setup)
}

// confirm approves a plan that was shown.
func (l *lab) confirm(ctx context.Context, m *machine, a asked, p api.SetupPlan) error {
	if err := operate.Approve(ctx, a.as, m.uuid, a.setup, p); err != nil {
		return err
	}
	l.say(m.name(), "approve", operate.Approved(a.who, p))
	return nil
}

// retire disables the machines, resets and deletes them.
func (l *lab) retire(ctx context.Context) error {
	for _, m := range l.machines {
		if err := l.retireOne(ctx, m); err != nil {
			return err
		}
	}
	return l.judge(ctx)
}

// retireOne retires a machine that is not.
func (l *lab) retireOne(ctx context.Context, m *machine) error {
	if m.retired {
		return nil
	}
	m.retired = true
	in := api.RegistrationChange{RegistrationRef: api.RegistrationRef{Server: m.uuid}}
	if _, err := api.RegistrationDisable.Call(ctx, l.operator, &in); err != nil {
		return fmt.Errorf("%s: %w", m.name(), err)
	}
	l.say(m.name(), "disabled", "its keys are revoked in the same commit")
	m.cut()
	if _, err := api.RegistrationFactoryReset.Call(ctx, l.operator, &in); err != nil {
		return fmt.Errorf("%s: %w", m.name(), err)
	}
	l.say(m.name(), "reset", "back to awaiting_setup; nothing is destroyed by that")
	if _, err := api.RegistrationDelete.Call(ctx, l.operator, &in); err != nil {
		return fmt.Errorf("%s: %w", m.name(), err)
	}
	l.say(m.name(), "deleted", "its boot record is decommissioned: silence from now on")
	return nil
}

// An Invalid reports an option that cannot be meant.
type Invalid struct{ What, Want string }

// Error says what is wanted.
func (e *Invalid) Error() string { return e.What + ": want " + e.Want }

// Code is the error's wire name (API-3).
func (*Invalid) Code() string { return "INVALID_INPUT" }
