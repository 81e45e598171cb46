package machine

import (
	"context"
	"time"

	"github.com/ingotmetal/ingot/bmc"
)

// A seat is one open session and those who use it. Its fields but the first are
// guarded by the machine's lock.
type seat struct {
	session bmc.Session
	users   int
	dropped bool // it is closed when the last one leaves
	probed  *bmc.Probed
}

// logout is how long a session has for logging out.
const logout = 10 * time.Second

func (s *seat) close(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), logout)
	defer cancel()
	return s.session.Close(ctx)
}

// sit returns the session, which it opens where there is none. Others wait for
// one login instead of making their own. A token that has expired is the
// driver's to renew; a session whose credentials are refused is opened once more
// where they have changed.
func (m *Machine) sit(ctx context.Context) (*seat, error) {
	if s := m.take(); s != nil {
		return s, nil
	}
	select {
	case <-m.one:
	case <-ctx.Done():
		return nil, noTurn(ctx)
	}
	defer func() { m.one <- struct{}{} }()
	if s := m.take(); s != nil {
		return s, nil
	}
	// Who waited for a login that was refused does not make another.
	if _, err := m.keys.check(ctx); err != nil {
		return nil, err
	}
	return m.open(ctx)
}

func (m *Machine) open(ctx context.Context) (*seat, error) {
	access := bmc.Access{Gate: m.gate}
	if m.c.Credentials != nil {
		access.Credentials = m.keys
	}
	session, err := m.c.Driver.Open(ctx, m.c.Endpoint, access)
	m.c.Metrics.Login(m.red.err(err))
	if err != nil {
		m.noteRefusal(ctx, err)
		return nil, err
	}
	m.c.Log.DebugContext(ctx, "session opened")
	s := &seat{session: session, users: 1}
	m.mu.Lock()
	late := m.gone // Close has not waited for this one
	if !late {
		m.held = s
	}
	m.mu.Unlock()
	if late {
		m.logOut(ctx, s)
		return nil, m.closedError()
	}
	if m.c.Idle != nil {
		m.c.Idle.opened(m)
	}
	return s, nil
}

// take joins those who use the session, if there is one.
func (m *Machine) take() *seat {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.held != nil {
		m.held.users++
	}
	return m.held
}

// rise leaves a session.
func (m *Machine) rise(ctx context.Context, s *seat) {
	m.mu.Lock()
	s.users--
	idle, gone := s.users == 0 && m.held == s, s.users == 0 && s.dropped
	m.mu.Unlock()
	if idle && m.c.Idle != nil {
		m.c.Idle.used(m)
	}
	if gone {
		m.logOut(ctx, s)
	}
}

// drop takes a session away from those who come. Nobody may call it who sits in s.
func (m *Machine) drop(ctx context.Context, s *seat) {
	m.mu.Lock()
	if m.held != s || s == nil {
		m.mu.Unlock()
		return
	}
	m.held, s.dropped = nil, true
	gone := s.users == 0
	m.mu.Unlock()
	if m.c.Idle != nil {
		m.c.Idle.forget(m)
	}
	if gone {
		m.logOut(ctx, s)
	}
}

// present is the session that newcomers would join.
func (m *Machine) present() *seat {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.held
}

// dropIdle closes the session if nobody uses it.
func (m *Machine) dropIdle(ctx context.Context) {
	m.mu.Lock()
	s := m.held
	if s == nil || s.users > 0 {
		m.mu.Unlock()
		return
	}
	m.held = nil
	m.mu.Unlock()
	m.logOut(ctx, s)
}

func (m *Machine) logOut(ctx context.Context, s *seat) {
	if err := s.close(ctx); err != nil {
		m.c.Log.DebugContext(ctx, "session not logged out", "err", m.red.err(err))
	}
}

// probe is what the session found, read once for each session.
func (m *Machine) probe(ctx context.Context, s *seat) (*bmc.Probed, error) {
	m.mu.Lock()
	known := s.probed
	m.mu.Unlock()
	if known != nil {
		return known, nil
	}
	p, err := s.session.Probe(ctx)
	if err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	s.probed = &p
	return &p, nil
}
