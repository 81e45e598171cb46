package machine_test

import (
	"context"
	"encoding/json"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/ingotmetal/ingot/bmc"
	"github.com/ingotmetal/ingot/bmc/machine"
)

// A fake is a BMC with one machine, and the driver for it. Every request passes
// the gate it is lent, takes a while and is counted.
type fake struct {
	limits   bmc.Limits
	latency  time.Duration
	lacks    []bmc.Feature
	offAfter time.Duration // force, and an operating system that obeys
	onAfter  time.Duration
	stubborn bool // the operating system ignores a graceful off

	mu       sync.Mutex
	password string
	dead     bool
	fault    func(op string) error // before the request is carried out
	after    func(op string) error // once it is: its answer
	on       bool
	changes  time.Time // when on becomes the other; zero: it stays
	requests []string
	starts   []time.Time
	inFlight int
	most     int
	logins   int
	lent     bmc.Access // to the newest session
	closes   int
}

func (f *fake) Info() bmc.Info {
	return bmc.Info{Name: "fake", Limits: f.limits}
}

func (f *fake) ValidateOptions(o json.RawMessage) error { return bmc.CheckOptions(o, &struct{}{}) }

func (f *fake) Open(ctx context.Context, _ bmc.Endpoint, a bmc.Access) (bmc.Session, error) {
	s := &session{fake: f, gate: a.Gate}
	f.lock(func() { f.lent = a })
	var creds bmc.Credentials
	if a.Credentials != nil {
		var err error
		if creds, err = a.Credentials.Credentials(ctx); err != nil {
			return nil, err
		}
	}
	return s, s.request(ctx, "login", func() error {
		f.logins++
		if creds.Password.Show() != f.password {
			return &bmc.Error{Kind: bmc.Auth, Op: "open", Sent: bmc.SentYes, Status: 401}
		}
		return nil
	})
}

func (f *fake) lock(change func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change()
}

// count is how many requests of one kind came.
func (f *fake) count(op string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := 0
	for _, r := range f.requests {
		if r == op || op == "" {
			n++
		}
	}
	return n
}

type session struct {
	fake *fake
	gate bmc.Gate
}

// request passes the gate, takes its time and carries out what it asks for.
func (s *session) request(ctx context.Context, op string, do func() error) error {
	leave, err := s.gate.Enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	f := s.fake
	f.mu.Lock()
	f.requests, f.starts = append(f.requests, op), append(f.starts, time.Now())
	f.inFlight++
	f.most = max(f.most, f.inFlight)
	wait := f.latency
	if f.dead {
		wait = time.Hour
	}
	f.mu.Unlock()
	defer f.lock(func() { f.inFlight-- })
	select {
	case <-time.After(wait):
	case <-ctx.Done():
		return &bmc.Error{Kind: bmc.Unreachable, Op: op, Sent: bmc.SentMaybe, Err: ctx.Err()}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.fault != nil {
		if err := f.fault(op); err != nil {
			return err
		}
	}
	if err := do(); err != nil {
		return err
	}
	if f.after != nil {
		return f.after(op)
	}
	return nil
}

func (s *session) Probe(ctx context.Context) (bmc.Probed, error) {
	p := bmc.Probed{System: "1", Supports: map[bmc.Feature]bmc.Support{}}
	for _, f := range bmc.Features() {
		if !slices.Contains(s.fake.lacks, f) {
			p.Supports[f] = bmc.Support{Level: bmc.Native}
		}
	}
	return p, s.request(ctx, "probe", func() error { return nil })
}

func (s *session) Close(context.Context) error {
	s.fake.lock(func() { s.fake.closes++ })
	return nil
}

// settle lets time do what was asked. The lock is held.
func (f *fake) settle() {
	if !f.changes.IsZero() && !time.Now().Before(f.changes) {
		f.on, f.changes = !f.on, time.Time{}
	}
}

func (s *session) ReadPower(ctx context.Context) (bmc.PowerObservation, error) {
	o := bmc.PowerObservation{Began: time.Now(), State: bmc.Off}
	err := s.request(ctx, "read", func() error {
		if s.fake.settle(); s.fake.on {
			o.State = bmc.On
		}
		return nil
	})
	o.Ended = time.Now()
	return o, err
}

func (s *session) SendPower(ctx context.Context, a bmc.Action) (bmc.Receipt, error) {
	err := s.request(ctx, string(a), func() error {
		f := s.fake
		f.settle()
		switch {
		case a == bmc.SendOn && !f.on:
			f.changes = time.Now().Add(f.onAfter)
		case a == bmc.SendOff && !f.on:
			f.changes = time.Time{} // it comes no more
		case f.on && (a == bmc.SendOff || a == bmc.SendGraceful && !f.stubborn):
			f.changes = time.Now().Add(f.offAfter)
		}
		return nil
	})
	return bmc.Receipt{Action: a, At: time.Now()}, err
}

func (s *session) RotatePassword(ctx context.Context, next bmc.Secret) error {
	return s.request(ctx, "rotate", func() error {
		s.fake.password = next.Show()
		return nil
	})
}

func (s *session) BootTargets(context.Context) ([]bmc.BootTarget, error) { return nil, nil }

func (s *session) ReadBoot(ctx context.Context) (bmc.BootState, error) {
	return bmc.BootState{Target: bmc.BootNone}, s.request(ctx, "read boot", func() error { return nil })
}

// SetBoot forgets persistence, and does not say so.
func (s *session) SetBoot(ctx context.Context, spec bmc.BootSpec) (bmc.BootState, error) {
	return bmc.BootState{Target: spec.Target, Life: bmc.Once, Raw: "Pxe/Once"}, s.request(ctx, "set boot", func() error { return nil })
}

func (s *session) ClearBoot(ctx context.Context) (bmc.BootState, error) { return s.ReadBoot(ctx) }

// A vault is a credential source whose secret can change.
type vault struct {
	mu    sync.Mutex
	creds bmc.Credentials
	err   error
	asked int
}

func newVault(password string) *vault {
	return &vault{creds: bmc.Credentials{Username: "root", Password: bmc.Keep(password), Version: "1"}}
}

func (v *vault) Credentials(context.Context) (bmc.Credentials, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.asked++
	return v.creds, v.err
}

func (v *vault) change(password, version string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.creds.Password, v.creds.Version = bmc.Keep(password), version
}

// open makes a machine that is closed when the test ends, and demands that it
// was let go of.
func open(t *testing.T, c machine.Config) *machine.Machine {
	t.Helper()
	if c.Endpoint.URL == "" {
		c.Endpoint.URL = "https://10.0.0.7"
	}
	m, err := machine.New(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return m
}

func kindOf(err error) bmc.Kind {
	e, _ := asError(err)
	if e == nil {
		return ""
	}
	return e.Kind
}
