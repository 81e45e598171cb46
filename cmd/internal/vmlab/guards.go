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
)

// guardedSize is that of a disk whose bytes are held against what they were.
const guardedSize = 1 << 30

// guards are cases in which a setup would destroy what it must not: refused before the
// first write, with a reason that the operator reads.
func guards(l *Lab, ctx context.Context) (all []Result, err error) {
	var errs []error
	for _, some := range []func(context.Context) ([]Result, error){l.guardPlans, l.guardPower, l.guardPlugs} {
		r, err := some(ctx)
		all, errs = append(all, r...), append(errs, err)
	}
	return all, errors.Join(errs...)
}

// guarded adds a BIOS machine with disks on some buses, all of one size.
func (l *Lab) guarded(ctx context.Context, ports int, buses ...Bus) (*Machine, error) {
	s := l.spec(BIOS)
	s.Ports = ports
	for i, bus := range buses {
		d, err := l.drive(s.Name, i, guardedSize, bus)
		if err != nil {
			return nil, err
		}
		s.Drives = append(s.Drives, d)
	}
	return l.Add(ctx, s)
}

// cases boots a machine and lives cases on it, each with a result of its own: one that
// fails does not keep the others from being lived. Without the boot none can be.
func (l *Lab) cases(ctx context.Context, m *Machine, all []step) (results []Result, err error) {
	defer m.Off()
	began := l.Now()
	boot := l.steps(ctx, m, []step{
		{"power on", time.Minute, func(context.Context) error { return m.On() }},
		{"its first announce", announceWait, func(ctx context.Context) error { return l.announces(ctx, m) }},
	})
	var errs []error
	for _, c := range all {
		err := boot
		if err == nil {
			err = l.steps(ctx, m, []step{c})
		}
		results, errs = append(results, l.result("guards: "+c.name, m, began, err)), append(errs, brief(err))
		began = l.Now()
	}
	return results, errors.Join(errs...)
}

// says holds a reason against what it must name.
func says(reason string, wants ...string) error {
	var missing []string
	for _, w := range wants {
		if !strings.Contains(reason, w) {
			missing = append(missing, w)
		}
	}
	if len(missing) > 0 {
		return fmt.Errorf("the reason does not name %s: %q", strings.Join(missing, ", "), reason)
	}
	return nil
}

// row is the machine's, which must have a state.
func (l *Lab) row(ctx context.Context, m *Machine, state string) (api.Registration, error) {
	row, err := api.RegistrationShow.Call(ctx, l.operator, &api.RegistrationRef{Server: m.UUID})
	if err == nil && row.State != state {
		err = fmt.Errorf("its row is %q, want %q", row.State, state)
	}
	return row, err
}

// refusesPlan has a disk refused where its setup is planned, and where it is approved
// without a plan; both name disk and trouble, and change nothing.
func (l *Lab) refusesPlan(ctx context.Context, m *Machine, serial string, wants ...string) error {
	wants = append(wants, serial)
	return untouched(m.Drives, func() error {
		_, err := operate.Plan(ctx, l.operator, m.UUID, m.wishOn(serial))
		if err == nil {
			return errors.New("a plan was made for disk " + serial)
		}
		l.say(m.Name, "refused", "the plan: "+err.Error())
		if err := says(err.Error(), wants...); err != nil {
			return err
		}
		row, err := l.row(ctx, m, "awaiting_setup")
		if err != nil {
			return err
		}
		unseen := api.SetupPlan{Digest: strings.Repeat("0", 64), AgentKey: row.AgentKey, MACs: row.Inventory.MACs}
		err = operate.Approve(ctx, l.operator, m.UUID, m.wishOn(serial), unseen)
		if err == nil {
			return errors.New("a setup of disk " + serial + " was approved")
		}
		if err := says(err.Error(), wants...); err != nil {
			return err
		}
		_, err = l.row(ctx, m, "awaiting_setup")
		return err
	})
}

// setUp approves a plan that was shown, and waits until it is written.
func (l *Lab) setUp(ctx context.Context, m *Machine, want api.SetupRequest, p api.SetupPlan) error {
	if err := operate.Approve(ctx, l.operator, m.UUID, want, p); err != nil {
		return err
	}
	l.say(m.Name, "approve", operate.Approved("ada", p))
	return l.rests(ctx, m, "approved")
}

// A change is something that hands do to a machine's disks while it runs.
type change func(context.Context) error

// refusesChanged shows a plan of a disk, has the disks changed while the machine runs,
// and approves what was shown: the agent must refuse, and say why in the machine's row.
// Afterwards the disks are as they were, and so is the plan.
func (l *Lab) refusesChanged(ctx context.Context, m *Machine, drives []Drive, do, undo change, wants ...string) error {
	want := m.wish()
	p, err := operate.Plan(ctx, l.operator, m.UUID, want)
	if err != nil {
		return err
	}
	err = untouched(drives, func() error {
		if err := errors.Join(l.betweenSurveys(ctx, m), do(ctx)); err != nil {
			return err
		}
		if err := operate.Approve(ctx, l.operator, m.UUID, want, p); err != nil {
			return fmt.Errorf("the approval itself is refused: %w", err)
		}
		l.say(m.Name, "approve", "ada approves plan "+p.Digest[:16]+", which was shown before the disks changed")
		if err := l.rests(ctx, m, "awaiting_setup", "approved"); err != nil {
			return err
		}
		row, err := l.row(ctx, m, "awaiting_setup")
		if err != nil {
			return err
		}
		l.say(m.Name, "refused", "the agent: "+row.LastSetupError)
		return says(row.LastSetupError, append(wants, want.Layout.Disks[0].Serial)...)
	})
	return errors.Join(err, undo(ctx), l.plannedAgain(ctx, m, want, p.Digest))
}

// plannedAgain waits until the machine has announced disks that give a plan anew.
func (l *Lab) plannedAgain(ctx context.Context, m *Machine, want api.SetupRequest, digest string) error {
	for {
		p, err := operate.Plan(ctx, l.operator, m.UUID, want)
		if err == nil && p.Digest == digest {
			return nil
		}
		if !pause.For(ctx, time.Second) {
			return fmt.Errorf("%w; the disks are back, and the plan is not: %w", context.Cause(ctx), err)
		}
	}
}

// The agent looks at its disks this often, and announces them where they have changed.
const surveyEvery = 30 * time.Second

// betweenSurveys waits until the agent has just looked at its disks: what changes now is
// not announced before a setup is approved.
func (l *Lab) betweenSurveys(ctx context.Context, m *Machine) error {
	since := l.Now().Sub(m.Console().began.Add(m.announced)) % surveyEvery
	if !pause.For(ctx, (surveyEvery-since+2*time.Second)%surveyEvery) {
		return context.Cause(ctx)
	}
	return nil
}
