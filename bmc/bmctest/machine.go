package bmctest

import (
	"context"
	"sync"
	"time"

	"github.com/ingotmetal/ingot/bmc/bmcsim"
)

// Habits are how a machine behaves.
type habits struct {
	offTakes, onTakes time.Duration // until it is so
	lies              time.Duration // for so long after an order to turn off, the BMC is told off
	truth             time.Duration // and from then on on, until its power is gone; 0: off once told
	deaf              bool          // to the power button
}

// A machine is what is behind the BMC of a stage. What it is and what the BMC is
// told of it may differ for a while.
type machine struct {
	habits

	mu     sync.Mutex
	was    bool
	to     bool
	at     time.Time // when was becomes to
	asked  time.Time // when it was last told to turn off
	starts []bmcsim.Start
	lost   int
}

func (m *machine) runs(now time.Time) bool {
	if now.Before(m.at) {
		return m.was
	}
	return m.to
}

func (m *machine) change(to bool, after time.Duration) {
	now := time.Now()
	m.was, m.to, m.at = m.runs(now), to, now.Add(after)
}

// On implements bmcsim.Backend, like the rest.
func (m *machine) On(_ context.Context, s bmcsim.Start) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.to { // it is on, or on its way
		return nil
	}
	m.change(true, m.onTakes)
	m.starts = append(m.starts, s)
	return nil
}

// Off takes the power away, when its time has come.
func (m *machine) Off(context.Context) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.to {
		return nil
	}
	m.asked = time.Now()
	m.lost++
	m.change(false, max(m.offTakes, m.truth))
	return nil
}

// Press shuts it down, if it listens.
func (m *machine) Press(ctx context.Context) error {
	if m.deaf {
		return nil
	}
	return m.Off(ctx)
}

// Reset restarts it.
func (m *machine) Reset(_ context.Context, s bmcsim.Start) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.starts = append(m.starts, s)
	return nil
}

// NMI interrupts it.
func (*machine) NMI(context.Context) error { return nil }

// Running is what the BMC is told.
func (m *machine) Running(context.Context) (bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := time.Now()
	if m.truth > 0 && !m.to && now.Before(m.at) && now.Sub(m.asked) <= m.lies {
		return false, nil
	}
	return m.runs(now), nil
}

// really is what is so.
func (m *machine) really() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.runs(time.Now())
}

func (m *machine) seen() (starts []bmcsim.Start, lost int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append(starts, m.starts...), m.lost
}
