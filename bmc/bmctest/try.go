package bmctest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/ingotmetal/ingot/bmc"
)

// A try is one check of one law in one scene.
type try struct {
	Subject
	Scene Scene
	stage Stage // nil for what needs none
	gate  *gate
	creds *source
}

// unfit says that a law could not be checked, which is not that it is broken.
type unfit struct{ why string }

func (e *unfit) Error() string { return e.why }

// lacking reports whether all that an error is made of says that a law could not be
// checked.
func lacking(err error) bool {
	if _, is := err.(*unfit); is || err == ErrNoScene {
		return true
	}
	switch e := err.(type) {
	case interface{ Unwrap() []error }:
		parts := e.Unwrap()
		return len(parts) > 0 && !slices.ContainsFunc(parts, func(p error) bool { return !lacking(p) })
	case interface{ Unwrap() error }:
		inner := e.Unwrap()
		return inner != nil && lacking(inner)
	}
	return false
}

// sim is the stage as a simulation.
func (t *try) sim() (Simulation, error) {
	s, ok := t.stage.(Simulation)
	if !ok {
		return nil, &unfit{"the stage is no simulation"}
	}
	return s, nil
}

// open opens a session with the right credentials.
func (t *try) open(ctx context.Context) (bmc.Session, error) {
	return t.openAt(ctx, t.stage.Endpoint())
}

func (t *try) openAt(ctx context.Context, e bmc.Endpoint) (bmc.Session, error) {
	e.Options = t.Options
	return t.Driver.Open(ctx, e, bmc.Access{Credentials: t.creds, Gate: t.gate})
}

// with opens a session, uses it and closes it.
func (t *try) with(ctx context.Context, use func(bmc.Session) error) error {
	s, err := t.open(ctx)
	if err != nil {
		return fmt.Errorf("open: %w", err)
	}
	defer s.Close(context.WithoutCancel(ctx))
	return use(s)
}

// withPower is with for a session whose power can be driven.
func (t *try) withPower(ctx context.Context, use func(bmc.Session, bmc.Power, Simulation) error) error {
	sim, err := t.sim()
	if err != nil {
		return err
	}
	return t.with(ctx, func(s bmc.Session) error {
		p, ok := bmc.As[bmc.Power](s)
		if !ok {
			return errors.New("a power feature is declared, and the session has no power")
		}
		return use(s, p, sim)
	})
}

// touch opens a session and reads its power, or probes where it has none. It is
// the least that talks to the BMC with credentials.
func (t *try) touch(ctx context.Context) error {
	return t.with(ctx, func(s bmc.Session) error { return touch(ctx, s) })
}

func touch(ctx context.Context, s bmc.Session) error {
	if p, ok := bmc.As[bmc.Power](s); ok {
		_, err := p.ReadPower(ctx)
		return err
	}
	_, err := s.Probe(ctx)
	return err
}

// every asks a session for all that it reads. A BMC may lack what a driver knows:
// that is no failure, when it is told as such, and neither is a list of firmware
// or a log that it names and does not show.
func every(ctx context.Context, s bmc.Session) error {
	_, err := s.Probe(ctx)
	errs := []error{err}
	add := func(err error, lacks ...bmc.Kind) {
		if e, ok := errors.AsType[*bmc.Error](err); !ok || e.Kind != bmc.Unsupports && !slices.Contains(lacks, e.Kind) {
			errs = append(errs, err)
		}
	}
	if p, ok := bmc.As[bmc.Power](s); ok {
		_, err := p.ReadPower(ctx)
		add(err)
	}
	if b, ok := bmc.As[bmc.Boot](s); ok {
		_, err := b.BootTargets(ctx)
		add(err)
		_, err = b.ReadBoot(ctx)
		add(err)
	}
	if m, ok := bmc.As[bmc.Media](s); ok {
		_, err := m.MediaSlots(ctx)
		add(err)
	}
	if i, ok := bmc.As[bmc.Inventory](s); ok {
		_, err := i.Inventory(ctx)
		add(err)
	}
	if h, ok := bmc.As[bmc.Health](s); ok {
		_, err := h.Health(ctx)
		add(err)
	}
	if f, ok := bmc.As[bmc.Firmware](s); ok {
		_, err := f.Firmware(ctx)
		add(err, bmc.NotFound)
	}
	if e, ok := bmc.As[bmc.Events](s); ok {
		_, _, err := e.Events(ctx, "")
		add(err, bmc.NotFound)
	}
	return errors.Join(errs...)
}

// drive takes a verb to its end.
func (t *try) drive(ctx context.Context, s bmc.Session, v bmc.Verb) (bmc.Result, error) {
	p, ok := bmc.As[bmc.Power](s)
	if !ok {
		return bmc.Result{}, errors.New("the session has no power")
	}
	probed, err := s.Probe(ctx)
	if err != nil {
		return bmc.Result{}, fmt.Errorf("probe: %w", err)
	}
	c, err := bmc.Begin(v, &probed, t.Patience, time.Now())
	if err != nil {
		return bmc.Result{}, err
	}
	for move := c.Next(); move.Do != bmc.MoveDone; move = c.Next() {
		if err := pause(ctx, time.Until(move.At)); err != nil {
			return bmc.Result{}, err
		}
		if move.Do == bmc.MoveSend {
			r, err := p.SendPower(ctx, move.Send)
			c.Answered(r, err, time.Now())
			continue
		}
		if o, err := p.ReadPower(ctx); err != nil {
			c.Blind(err, time.Now())
		} else {
			c.Saw(o, time.Now())
		}
	}
	return c.Result()
}

// pause waits.
func pause(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// kinded wants err to be of one of these kinds.
func kinded(err error, kinds ...bmc.Kind) error {
	e, ok := errors.AsType[*bmc.Error](err)
	for _, k := range kinds {
		if ok && e.Kind == k {
			return nil
		}
	}
	if err == nil {
		return fmt.Errorf("succeeds, want an error of kind %v", kinds)
	}
	return fmt.Errorf("fails with %w (%T), want a *bmc.Error of kind %v", err, err, kinds)
}

// sent wants err to say whether its request was sent.
func sent(err error, want bmc.Sent) error {
	if e, ok := errors.AsType[*bmc.Error](err); !ok || e.Sent != want && (want != bmc.SentNo || e.Sent != "") {
		return fmt.Errorf("%w does not say sent: %s", err, want)
	}
	return nil
}

// A source gives credentials that the kit can change.
type source struct {
	mu    sync.Mutex
	now   bmc.Credentials
	asked int
}

// Credentials are the present ones.
func (s *source) Credentials(context.Context) (bmc.Credentials, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked++
	return s.now, nil
}

func (s *source) set(c bmc.Credentials) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now = c
}

// A gate lets at most so many in at once, and keeps an interval between them.
type gate struct {
	slots    chan struct{}
	interval time.Duration
	mu       sync.Mutex
	next     time.Time
}

func newGate(l bmc.Limits) *gate {
	return &gate{slots: make(chan struct{}, max(1, l.Concurrent)), interval: l.Interval}
}

// Enter waits for a slot and for the interval.
func (g *gate) Enter(ctx context.Context) (func(), error) {
	select {
	case g.slots <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	g.mu.Lock()
	at := g.next
	if now := time.Now(); at.Before(now) {
		at = now
	}
	g.next = at.Add(g.interval)
	g.mu.Unlock()
	if err := pause(ctx, time.Until(at)); err != nil {
		<-g.slots
		return nil, err
	}
	return func() { <-g.slots }, nil
}
