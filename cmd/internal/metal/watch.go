package metal

import (
	"context"
	"sync"
	"time"

	"github.com/ingotmetal/ingot/bmc"
	"github.com/ingotmetal/ingot/cmd/internal/control"
	"github.com/ingotmetal/ingot/cmd/internal/pause"
	"github.com/ingotmetal/ingot/statemachine/lifecycle"
)

// keepEvery is how often what was seen is written: one commit for all machines.
const keepEvery = 10 * time.Second

// observed is what polls saw and no ledger has yet.
type observed struct {
	mu  sync.Mutex
	new map[lifecycle.NodeID]control.PowerSeen
}

func (o *observed) note(id lifecycle.NodeID, p control.PowerSeen) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.new == nil {
		o.new = map[lifecycle.NodeID]control.PowerSeen{}
	}
	o.new[id] = p
}

func (o *observed) take() map[lifecycle.NodeID]control.PowerSeen {
	o.mu.Lock()
	defer o.mu.Unlock()
	all := o.new
	o.new = nil
	return all
}

// seenOf is a read as the ledger keeps it.
func seenOf(o bmc.PowerObservation, err error, now time.Time) control.PowerSeen {
	p := control.PowerSeen{State: string(o.State), At: o.Ended}
	if err != nil {
		p = control.PowerSeen{State: string(bmc.Unknown), At: now, Error: bmc.Quote(err.Error())}
	}
	p.At = p.At.UTC().Round(0)
	return p
}

// polled is told of each poll.
func (s *Site) polled(key string, o bmc.PowerObservation, err error) {
	s.powers.note(lifecycle.NodeID(key), seenOf(o, err, s.Door.Now()))
}

// keep writes what was seen until ctx ends. What cannot be written is older than
// the next poll.
func (s *Site) keep(ctx context.Context) {
	for pause.For(ctx, keepEvery) {
		all := s.powers.take()
		if len(all) == 0 {
			continue
		}
		if err := s.Door.SawPower(ctx, all); err != nil && ctx.Err() == nil {
			s.Log.Warn("what BMCs say of the power cannot be kept", "error", err)
		}
	}
}
