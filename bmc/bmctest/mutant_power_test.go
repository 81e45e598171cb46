package bmctest_test

import (
	"context"
	"errors"
	"time"

	"github.com/ingotmetal/ingot/bmc"
	"github.com/ingotmetal/ingot/bmc/bmctest"
)

// says changes what is read.
func says(f func(bmc.PowerObservation) bmc.PowerObservation) func(*bmctest.Simulator) bmc.Driver {
	return sessions(func(s *session) {
		read := s.read
		s.read = func(ctx context.Context) (bmc.PowerObservation, error) {
			o, err := read(ctx)
			return f(o), err
		}
	})
}

// always reads one state.
func always(state bmc.State) func(*bmctest.Simulator) bmc.Driver {
	return says(func(o bmc.PowerObservation) bmc.PowerObservation {
		o.State, o.Chassis = state, ""
		return o
	})
}

// hopes takes a wish for the state.
func hopes() func(*bmctest.Simulator) bmc.Driver {
	return sessions(func(s *session) {
		read, send, hope := s.read, s.send, bmc.State("")
		s.send = func(ctx context.Context, a bmc.Action) (bmc.Receipt, error) {
			hope = map[bmc.Action]bmc.State{bmc.SendOn: bmc.On, bmc.SendOff: bmc.Off}[a]
			return send(ctx, a)
		}
		s.read = func(ctx context.Context) (bmc.PowerObservation, error) {
			o, err := read(ctx)
			if hope != "" {
				o.State, o.Chassis = hope, ""
			}
			return o, err
		}
	})
}

// drops accepts an action and sends nothing.
func drops(a bmc.Action) func(*bmctest.Simulator) bmc.Driver {
	return sessions(func(s *session) {
		send := s.send
		s.send = func(ctx context.Context, got bmc.Action) (bmc.Receipt, error) {
			if got == a {
				return bmc.Receipt{Action: a}, nil
			}
			return send(ctx, got)
		}
	})
}

// stubborn sends until there is an answer.
func stubborn() func(*bmctest.Simulator) bmc.Driver {
	return sessions(func(s *session) {
		send := s.send
		s.send = func(ctx context.Context, a bmc.Action) (r bmc.Receipt, err error) {
			for range 2 {
				if r, err = send(ctx, a); err == nil {
					break
				}
			}
			return r, err
		}
	})
}

// readMutants break what is read.
func readMutants() []mutant {
	return []mutant{
		{26, "sees on where it is off", always(bmc.On)},
		{27, "sees off where it is on", always(bmc.Off)},
		{28, "takes accepted for done", hopes()},
		{28, "leaves the chassis out", says(func(o bmc.PowerObservation) bmc.PowerObservation { o.Chassis = ""; return o })},
		{29, "takes accepted for done", hopes()},
		{30, "takes a transition for its end", says(func(o bmc.PowerObservation) bmc.PowerObservation {
			o.State = map[bmc.State]bmc.State{bmc.PoweringOff: bmc.Off, bmc.PoweringOn: bmc.On}[o.State]
			return o
		})},
		{30, "takes what it does not know for off", says(func(o bmc.PowerObservation) bmc.PowerObservation {
			if o.State == bmc.Unknown {
				o.State = bmc.Off
			}
			return o
		})},
		{30, "gives the time of an old read", says(func(o bmc.PowerObservation) bmc.PowerObservation { o.Began = o.Began.Add(-time.Hour); return o })},
		{31, "drops on", drops(bmc.SendOn)},
		{32, "drops off, and sees it", func(sim *bmctest.Simulator) bmc.Driver {
			d := hopes()(sim).(*bent)
			inner := d.session
			d.session = func(s *session) {
				s.send = func(_ context.Context, a bmc.Action) (bmc.Receipt, error) { return bmc.Receipt{Action: a}, nil }
				inner(s)
			}
			return d
		}},
		{33, "resets what is off", always(bmc.On)},
	}
}

// answerMutants break what is sent, and what is made of the answer.
func answerMutants() []mutant {
	return []mutant{
		{34, "forces where it should ask", sessions(func(s *session) {
			send := s.send
			s.send = func(ctx context.Context, a bmc.Action) (bmc.Receipt, error) {
				if a == bmc.SendGraceful {
					a = bmc.SendOff
				}
				return send(ctx, a)
			}
		})},
		{35, "says yes to what it cannot", sessions(func(s *session) {
			send := s.send
			s.send = func(ctx context.Context, a bmc.Action) (bmc.Receipt, error) {
				r, err := send(ctx, a)
				if e, ok := errors.AsType[*bmc.Error](err); ok && e.Kind == bmc.Unsupports {
					err = nil
				}
				return r, err
			}
		})},
		{35, "promises what it cannot", sessions(func(s *session) {
			probe := s.probe
			s.probe = func(ctx context.Context) (bmc.Probed, error) {
				p, err := probe(ctx)
				if p.Supports[bmc.PowerNMI].Level == bmc.Unsupported {
					p.Supports[bmc.PowerNMI] = bmc.Support{Level: bmc.Native}
				}
				return p, err
			}
		})},
		{36, "knows inline lists alone", sessions(func(s *session) {
			probe := s.probe
			s.probe = func(ctx context.Context) (bmc.Probed, error) {
				p, err := probe(ctx)
				delete(p.Supports, bmc.PowerGraceful)
				return p, err
			}
		})},
		{37, "sends again what had no answer", stubborn()},
		{38, "sends again what had no answer", stubborn()},
		{47, "takes a failed task for off", hopes()},
		{59, "answers from what it remembers", sessions(func(s *session) {
			read, send := s.read, s.send
			var sent bool
			s.send = func(ctx context.Context, a bmc.Action) (bmc.Receipt, error) { sent = true; return send(ctx, a) }
			s.read = func(ctx context.Context) (bmc.PowerObservation, error) {
				if sent {
					return bmc.PowerObservation{State: bmc.Off, Began: time.Now(), Ended: time.Now()}, nil
				}
				return read(ctx)
			}
		})},
		{61, "drops on", drops(bmc.SendOn)},
	}
}
