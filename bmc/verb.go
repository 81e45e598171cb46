package bmc

import (
	"slices"
	"time"
)

// A Verb is what a caller asks of a machine's power. It is defined by the state
// that it ends in, not by what is sent (BMC-1).
type Verb string

// The verbs (PROV-7).
const (
	TurnOn          Verb = "on"               // runs; unchanged if it does
	TurnOff         Verb = "off"              // confirmed off; cuts the power
	GracefulOff     Verb = "graceful-off"     // confirmed off by the operating system, never by force
	Reset           Verb = "reset"            // accepted; a machine that is off is a conflict
	GracefulRestart Verb = "graceful-restart" // confirmed off by the operating system, then runs; off: a conflict
	Cycle           Verb = "cycle"            // without power after the call, then runs; from off too
	NMI             Verb = "nmi"              // accepted, sent once; off: a conflict
)

// Verbs are all of them.
func Verbs() []Verb {
	return []Verb{TurnOn, TurnOff, GracefulOff, Reset, GracefulRestart, Cycle, NMI}
}

// Repeatable reports whether asking for v twice does what asking once does. One
// that is not is written down before it is sent (BMC-3).
func (v Verb) Repeatable() bool { return slices.Contains([]Verb{TurnOn, TurnOff, GracefulOff}, v) }

// Actions are what v sends, in order. A machine that lacks one cannot do v.
func (v Verb) Actions() []Action {
	var out []Action
	for _, leg := range v.legs() {
		out = append(out, leg.send)
	}
	return out
}

// Support says whether a machine can do v.
func (v Verb) Support(p *Probed) Support {
	actions := v.Actions()
	if len(actions) == 0 {
		return Support{Unsupported, "no such verb"}
	}
	level := Support{Level: Native}
	for _, a := range actions {
		switch s := p.Of(a.Feature()); s.Level {
		case Unsupported:
			return Support{Unsupported, string(a) + ": " + s.Why}
		case Emulated:
			level = s
		}
	}
	if len(actions) > 1 && level.Level == Native {
		return Support{Emulated, "off, proof of it, and on"}
	}
	return level
}

// A leg is one end state on the way of a verb.
type leg struct {
	send   Action
	reach  State // On or Off; empty: accepted is enough
	needs  bool  // a machine that is off is a conflict
	forces bool  // sent also to a machine in transition
	dwell  time.Duration
}

// Dwell is how long cycle and graceful-restart leave a machine without power
// after its proof, so that its supplies drain.
const Dwell = 5 * time.Second

func (v Verb) legs() []leg {
	off := leg{send: SendOff, reach: Off, forces: true}
	graceful := leg{send: SendGraceful, reach: Off}
	on := leg{send: SendOn, reach: On}
	later := on
	later.dwell = Dwell
	switch v {
	case TurnOn:
		return []leg{on}
	case TurnOff:
		return []leg{off}
	case GracefulOff:
		return []leg{graceful}
	case Reset:
		return []leg{{send: SendReset, needs: true}}
	case NMI:
		return []leg{{send: SendNMI, needs: true}}
	case GracefulRestart:
		graceful.needs = true
		return []leg{graceful, later}
	case Cycle:
		return []leg{off, later}
	}
	return nil
}
