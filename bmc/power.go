package bmc

import (
	"context"
	"time"
)

// A State is what a machine's power was seen to be. A transition is a state of
// its own: it is neither on nor off.
type State string

// The states.
const (
	Unknown     State = "unknown" // not reported, or a value that the driver does not know
	On          State = "on"
	Off         State = "off"
	PoweringOn  State = "powering-on"
	PoweringOff State = "powering-off"
	Paused      State = "paused"
)

// An Action is what a driver sends.
type Action string

// The actions. SendOn, SendOff and SendGraceful may be sent twice; SendReset and
// SendNMI may not.
const (
	SendOn       Action = "on"
	SendOff      Action = "off"          // cuts the power
	SendGraceful Action = "graceful-off" // asks the operating system; never forces
	SendReset    Action = "reset"        // without loss of power
	SendNMI      Action = "nmi"
)

// Actions are all of them.
func Actions() []Action { return []Action{SendOn, SendOff, SendGraceful, SendReset, SendNMI} }

// Feature is what a machine must support for a to be sent.
func (a Action) Feature() Feature {
	switch a {
	case SendOn:
		return PowerOn
	case SendOff:
		return PowerOff
	case SendGraceful:
		return PowerGraceful
	case SendReset:
		return PowerReset
	}
	return PowerNMI
}

// Power is a session whose machine's power can be read and driven.
type Power interface {
	// ReadPower asks the BMC. It never answers from a cache.
	ReadPower(ctx context.Context) (PowerObservation, error)
	// SendPower sends a and returns when the BMC has accepted it, which says
	// nothing of the machine. It does not look first, does not wait and does not
	// send again. What the machine lacks is [Unsupports], with nothing sent; a
	// state that forbids it is [Conflict]; a lost answer is [Indeterminate].
	SendPower(ctx context.Context, a Action) (Receipt, error)
}

// A PowerObservation is one read of a machine's power.
type PowerObservation struct {
	State   State
	Raw     string    // as the BMC said it
	Chassis State     // of the chassis that holds this machine alone; empty: not reported
	Began   time.Time // before the first request of the read left
	Ended   time.Time // after its last answer came
	Source  string    // the resource or command that was read
}

// Runs reports whether o shows a machine that runs: it is on, and no chassis
// says that there is no power.
func (o PowerObservation) Runs() bool { return o.State == On && o.Chassis != Off }

// Idle reports whether o shows a machine without power: it is off, and its
// chassis agrees where it is reported. One such read proves nothing; [Confirm]
// does.
func (o PowerObservation) Idle() bool {
	return o.State == Off && (o.Chassis == Off || o.Chassis == "")
}

// Without reports whether something in o says that there is no power, so that
// what needs a running machine must not be sent.
func (o PowerObservation) Without() bool { return o.State == Off || o.Chassis == Off }

// A Receipt says that a BMC accepted an action.
type Receipt struct {
	Action Action
	As     string // what was sent: a ResetType, a command
	Task   string // that the BMC runs for it; empty: none
	Why    string // of an action sent as another than its own
	At     time.Time
}
