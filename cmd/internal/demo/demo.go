package demo

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/ingotmetal/ingot/cmd/api"
	"github.com/ingotmetal/ingot/disklayout"
)

// Run lives through a demo. The error says what did not end well.
func Run(ctx context.Context, w World, o Options) (err error) {
	if o.Machines < 1 || o.Machines > MaxMachines {
		return &Invalid{fmt.Sprintf("%d machines", o.Machines), fmt.Sprintf("1 to %d", MaxMachines)}
	}
	if !slices.Contains(Faults(), o.Fault) {
		return &Invalid{"fault " + string(o.Fault), "one of" + strings.ReplaceAll(fmt.Sprint(Faults()[1:]), "[", " ")}
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
	if err := l.until(ctx, "approved"); err != nil {
		return err
	}
	l.say("site", "checked", fmt.Sprintf("%d machines are approved", len(l.machines)))
	if err := l.lowestAddresses(ctx); err != nil {
		return err
	}
	if err := l.disksAsPlanned(); err != nil {
		return err
	}
	return l.retire(ctx)
}

// until approves each machine that waits for it, until all are in a state.
func (l *lab) until(ctx context.Context, state string) error {
	left := map[*machine]bool{}
	for _, m := range l.machines {
		left[m] = true
	}
	for len(left) > 0 {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case m := <-l.news:
			switch m.row() {
			case state:
				delete(left, m)
			case "awaiting_setup":
				if err := l.mend(ctx, m); err != nil {
					return err
				}
				if err := l.approve(ctx, m); err != nil {
					return fmt.Errorf("%s: %w", m.name(), err)
				}
				if err := l.after(ctx); err != nil {
					return err
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

// approve looks at the plan, and approves what it saw.
func (l *lab) approve(ctx context.Context, m *machine) error {
	ref := api.RegistrationRef{Server: m.uuid}
	p, err := api.RegistrationPlan.Call(ctx, l.operator, &api.PlanSetup{RegistrationRef: ref, Body: l.setup(m)})
	if err != nil {
		return err
	}
	in := api.ApproveSetup{RegistrationChange: api.RegistrationChange{RegistrationRef: ref}}
	in.Body.SetupRequest, in.Body.ShownPlan, in.Body.AgentKey, in.Body.MACs = l.setup(m), p.Digest, p.AgentKey, p.MACs
	m.mu.Lock()
	m.plan = *p.Layout // before the call: its answer may be lost
	m.mu.Unlock()
	if _, err := api.RegistrationApproveSetup.Call(ctx, l.operator, &in); err != nil {
		return err
	}
	l.say(m.name(), "approve", "ada approves plan "+p.Digest[:16]+" for agent key "+p.AgentKey[:16]+":\n"+strings.TrimSpace(p.Text))
	return nil
}

// retire disables the machines, resets and deletes them.
func (l *lab) retire(ctx context.Context) error {
	for _, m := range l.machines {
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
	}
	return l.judge(ctx)
}

// An Invalid reports an option that cannot be meant.
type Invalid struct{ What, Want string }

// Error says what is wanted.
func (e *Invalid) Error() string { return e.What + ": want " + e.Want }

// Code is the error's wire name (API-3).
func (*Invalid) Code() string { return "INVALID_INPUT" }
