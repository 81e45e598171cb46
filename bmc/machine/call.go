package machine

import (
	"context"
	"errors"
	"time"

	"github.com/ingotmetal/ingot/bmc"
)

// An op is one thing that is asked of a BMC.
type op struct {
	name     string
	read     bool // it changes nothing, so that a lost answer costs nothing
	attempts int
	timeout  time.Duration // of one attempt; 0: none but the caller's
}

// call carries o out, and tries again where that is safe.
func (m *Machine) call(ctx context.Context, o op, f func(context.Context, *seat) error) error {
	began := time.Now()
	err := m.tries(ctx, o, func(ctx context.Context) error {
		leave, err := m.gate.door.enter(ctx, false)
		if err != nil {
			return err
		}
		defer leave()
		return m.attempt(ctx, o, f)
	})
	m.c.Metrics.Call(o.name, time.Since(began), err)
	return err
}

func (m *Machine) tries(ctx context.Context, o op, f func(context.Context) error) error {
	leave, err := m.calls.enter(ctx, false)
	if err != nil {
		return err
	}
	defer leave()
	pause := m.c.Retry.pause()
	for n := 1; ; n++ {
		if err := m.closedError(); err != nil {
			return err
		}
		err := f(ctx)
		e, _ := errors.AsType[*bmc.Error](err)
		if e == nil || n >= o.attempts || ctx.Err() != nil || errors.Is(err, errTurn) || !again(e, o.read) {
			return err
		}
		wait := max(pause, e.After)
		if deadline, ok := ctx.Deadline(); e.After > m.c.Retry.longest() || ok && time.Until(deadline) < wait {
			return err
		}
		if !sleep(ctx, time.Now().Add(wait), m.quit) {
			return err
		}
		pause *= 2
	}
}

// again reports whether what failed may be tried once more.
func again(e *bmc.Error, read bool) bool {
	return e.Again() || read && (e.Kind == bmc.Unreachable || e.Kind == bmc.Indeterminate)
}

// attempt is one try. A refusal of credentials that have changed since they were
// given is worth a second login, and no more.
func (m *Machine) attempt(ctx context.Context, o op, f func(context.Context, *seat) error) error {
	err := m.once(ctx, o, f)
	if !isRefusal(err) || errors.Is(err, errLatched) {
		return err
	}
	if _, standing := m.keys.check(ctx); standing != nil {
		return err
	}
	return m.once(ctx, o, f)
}

func (m *Machine) once(ctx context.Context, o op, f func(context.Context, *seat) error) (err error) {
	defer func() { err = m.red.err(err) }()
	if o.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, o.timeout)
		defer cancel()
	}
	fresh, err := m.keys.check(ctx)
	if err != nil {
		return err
	}
	if fresh {
		m.drop(ctx, m.present())
	}
	ctx, done, err := m.gate.Try(ctx)
	if err != nil {
		return err
	}
	// Told also where a driver panics, so that the BMC is not left alone for ever.
	verdict := error(errTurn)
	defer func() { done(m.red.err(verdict)) }() // others with the BMC are told why
	s, err := m.sit(ctx)
	if err != nil {
		verdict = typed(err, o)
		return verdict
	}
	verdict = typed(m.use(ctx, s, f), o)
	if isRefusal(verdict) {
		m.noteRefusal(ctx, verdict)
		m.drop(ctx, s)
	}
	return verdict
}

func (m *Machine) use(ctx context.Context, s *seat, f func(context.Context, *seat) error) error {
	defer m.rise(ctx, s)
	return f(ctx, s)
}

// typed makes an error that is none of ours one: whatever a driver lets slip,
// a request may have been sent.
func typed(err error, o op) error {
	if err == nil {
		return nil
	}
	if _, ok := errors.AsType[*bmc.Error](err); ok {
		return err
	}
	kind := bmc.Indeterminate
	if o.read {
		kind = bmc.Unreachable
	}
	return &bmc.Error{Kind: kind, Op: o.name, Sent: bmc.SentMaybe, Why: err.Error(), Err: err}
}

func isRefusal(err error) bool {
	e, ok := errors.AsType[*bmc.Error](err)
	return ok && (e.Kind == bmc.Auth || e.Kind == bmc.PasswordChange)
}

// noteRefusal latches a refusal that came from the BMC.
func (m *Machine) noteRefusal(ctx context.Context, err error) {
	if !isRefusal(err) || errors.Is(err, errLatched) {
		return
	}
	e, _ := errors.AsType[*bmc.Error](m.red.err(err))
	if m.keys.refused(ctx, e) {
		m.c.Log.WarnContext(ctx, "credentials refused; nothing is sent until they change", "err", e)
	}
}
