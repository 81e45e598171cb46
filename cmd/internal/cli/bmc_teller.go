package cli

import (
	"context"
	"encoding/json"
	"errors"
	"sync"

	"github.com/ingotmetal/ingot/bmc"
)

// A teller is a driver whose sessions count what they are asked to change, and say
// what is asked of a machine's power and what is seen of it.
type teller struct {
	bmc.Driver
	say    func(format string, args ...any)
	powers bool // the command is about power alone, so that all it sends is counted

	mu    sync.Mutex
	sends int
	seen  bmc.State
}

// asked is how many requests to change the power were made.
func (t *teller) asked() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.sends
}

// LimitsOf are the driver's for a machine's options.
func (t *teller) LimitsOf(options json.RawMessage) (bmc.Limits, error) {
	return bmc.LimitsOf(t.Driver, options)
}

// Open opens a session that tells, where the command is about power.
func (t *teller) Open(ctx context.Context, e bmc.Endpoint, a bmc.Access) (bmc.Session, error) {
	s, err := t.Driver.Open(ctx, e, a)
	if err != nil || !t.powers {
		return s, err
	}
	p, ok := bmc.As[bmc.Power](s)
	if !ok {
		return s, nil
	}
	return &tellingSession{s, p, t}, nil
}

// A tellingSession is a session of a teller.
type tellingSession struct {
	bmc.Session
	power bmc.Power
	t     *teller
}

// Unwrap is the driver's session.
func (s *tellingSession) Unwrap() bmc.Session { return s.Session }

// ReadPower tells of a state that is another than before.
func (s *tellingSession) ReadPower(ctx context.Context) (bmc.PowerObservation, error) {
	o, err := s.power.ReadPower(ctx)
	if err != nil {
		return o, err
	}
	s.t.mu.Lock()
	news := s.t.seen != o.State
	s.t.seen = o.State
	s.t.mu.Unlock()
	if news {
		s.t.say("seen: the machine is %s", o.State)
	}
	return o, nil
}

// SendPower tells what is asked, and what the BMC says to it. Of an error its kind
// alone is told: it is not yet free of secrets.
func (s *tellingSession) SendPower(ctx context.Context, a bmc.Action) (bmc.Receipt, error) {
	s.t.mu.Lock()
	s.t.sends++
	s.t.mu.Unlock()
	s.t.say("asked: %s", a)
	r, err := s.power.SendPower(ctx, a)
	e, typed := errors.AsType[*bmc.Error](err)
	switch {
	case err == nil && r.As != "":
		s.t.say("accepted: %s, as %s", a, clean(bmc.Quote(r.As)))
	case err == nil:
		s.t.say("accepted: %s", a)
	case !typed || e.Sent == bmc.SentMaybe:
		s.t.say("lost: no answer to %s came; it may have been sent", a)
	default:
		s.t.say("refused: %s (%s)", a, e.Kind)
	}
	return r, err
}
