package metal

import (
	"context"

	"github.com/ingotmetal/ingot/bmc"
)

// Ask carries q out.
func (s *Site) Ask(ctx context.Context, t Target, q Question) (a Answer, err error) {
	ctx, cancel := context.WithTimeout(ctx, s.within())
	defer cancel()
	m, err := s.ready(ctx, t)
	if err != nil {
		return a, err
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
