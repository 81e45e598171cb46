package bmcsim

import (
	"context"
	"slices"
	"sync"
	"time"
)

// Memory is a machine that is nothing but its power. It is safe for concurrent use.
type Memory struct {
	o Power

	mu      sync.Mutex
	was, to bool
	at      time.Time // when was becomes to
	starts  []Start
	nmis    int
}

// NewMemory makes a machine with the times of o.
func NewMemory(on bool, o Power) *Memory { return &Memory{o: o, was: on, to: on} }

// maxStarts are remembered.
const maxStarts = 64

func (m *Memory) running(now time.Time) bool {
	if now.Before(m.at) {
		return m.was
	}
	return m.to
}

func (m *Memory) change(was, to bool, after time.Duration, s ...Start) {
	m.was, m.to, m.at = was, to, time.Now().Add(after)
	m.starts = append(m.starts, s...)
	if n := len(m.starts) - maxStarts; n > 0 {
		m.starts = slices.Delete(m.starts, 0, n)
	}
}

// On implements [Backend].
func (m *Memory) On(_ context.Context, s Start) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.to && !m.running(time.Now()) {
		m.change(false, true, m.o.OnTakes, s)
	}
	return nil
}

// Off implements [Backend].
func (m *Memory) Off(context.Context) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch now := time.Now(); {
	case m.to:
		m.change(m.running(now), false, m.o.OffTakes)
	case m.running(now): // it is going off
		m.change(true, false, min(m.o.OffTakes, m.at.Sub(now)))
	}
	return nil
}

// Press implements [Backend].
func (m *Memory) Press(context.Context) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.o.Deaf && m.running(time.Now()) && m.to {
		m.change(true, false, m.o.ShutdownTakes)
	}
	return nil
}

// Reset implements [Backend].
func (m *Memory) Reset(_ context.Context, s Start) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.change(false, true, m.o.RestartTakes, s)
	return nil
}

// NMI implements [Backend].
func (m *Memory) NMI(context.Context) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.nmis++
	return nil
}

// Running implements [Backend].
func (m *Memory) Running(context.Context) (bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.running(time.Now()), nil
}

// Starts are what it was started with, the last 64, oldest first.
func (m *Memory) Starts() []Start {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.starts)
}

// NMIs is how often it was interrupted.
func (m *Memory) NMIs() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.nmis
}
