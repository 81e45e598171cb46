package metal

import (
	"context"

	"github.com/ingotmetal/ingot/bmc"
	"github.com/ingotmetal/ingot/cmd/internal/control"
	"github.com/ingotmetal/ingot/statemachine/lifecycle"
)

// Ask carries q out.
func (s *Site) Ask(ctx context.Context, t Target, q Question) (a Answer, err error) {
	ctx, cancel := context.WithTimeout(ctx, s.within())
	defer cancel()
	m, err := s.ready(ctx, t)
	if err != nil {
		return a, err
	}
	if q.changes() {
		// From here on an attempt that takes the machine ends this; one that took it
		// before is seen now (MACH-3).
		defer s.halts(m, cancel)()
		if err := s.free(ctx, t); err != nil {
			return a, err
		}
	}
	switch q.What {
	case Power:
		a.Power, err = m.ReadPower(ctx)
		s.powers.note(t.Node, seenOf(a.Power, err, s.Door.Now()))
	case ReadBoot:
		a.Boot, err = m.ReadBoot(ctx)
	case SetBoot:
		a.Boot, err = m.SetBoot(ctx, q.Boot)
	case ClearBoot:
		a.Boot, err = m.ClearBoot(ctx)
	case ListMedia:
		a.Slots, err = m.MediaSlots(ctx)
	case InsertMedia:
		var slot bmc.MediaSlot
		slot, err = m.InsertMedia(ctx, q.Media)
		a.Slots = []bmc.MediaSlot{slot}
	case EjectMedia:
		err = m.EjectMedia(ctx, q.Media.Slot, q.Media.Running)
	case Inspect:
		a.Found, err = m.Inspect(ctx)
	case Health:
		a.Health, err = m.Health(ctx)
	default:
		err = &Refused{"UNSUPPORTED", "the agent does not know " + bmc.Quote(string(q.What)), "upgrade it"}
	}
	return a, err
}

// changes reports whether q changes the machine.
func (q *Question) changes() bool {
	switch q.What {
	case SetBoot, ClearBoot, InsertMedia, EjectMedia:
		return true
	}
	return false
}

// free refuses what would change a machine that an attempt holds by now.
func (s *Site) free(ctx context.Context, t Target) error {
	st, _, err := s.Door.Read(ctx, control.Target{Node: t.Node})
	if err != nil {
		return err
	}
	if held := lifecycle.HeldBy(&st.Node); held.Holder != lifecycle.Free {
		return &Refused{"CONFLICT", "an attempt took the machine meanwhile: " + string(held.Holder) + " in " + held.State + " (MACH-3)", "wait for its end, or abort it"}
	}
	return nil
}
