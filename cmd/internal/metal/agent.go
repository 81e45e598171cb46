// Package metal is the site agent of ingotd's own site (MACH-6): it reaches the
// BMCs of machines, for what states want (the doers) and for what people ask at
// once ([Agent]).
//
// It keeps nothing but sessions. Who may ask, whether the machine is free, and what
// the log says of it are its callers' to see to.
package metal

import (
	"context"

	"github.com/ingotmetal/ingot/bmc"
	"github.com/ingotmetal/ingot/statemachine/lifecycle"
)

// An Agent reaches BMCs. The one of this package does so itself; another may hand
// targets and questions, which JSON carries, to a process that can. It is safe for
// concurrent use.
type Agent interface {
	// Check says whether m could be enrolled with this agent, without reaching
	// anything, and fills in what the driver knows: the canonical address, and
	// whether the driver finds the machine's NICs.
	Check(m *lifecycle.Metal) error
	// Serves says why the agent cannot reach m: nil, or an error that says what is
	// missing. It reaches nothing.
	Serves(m *lifecycle.Metal) error
	// Ask carries q out within ctx and a time of the agent's own. The error is a
	// [*bmc.Error] or a [*Refused]; one that may have changed the machine says so.
	Ask(ctx context.Context, t Target, q Question) (Answer, error)
}

// A Target is a machine as its row has it.
type Target struct {
	Node  lifecycle.NodeID
	Metal lifecycle.Metal
}

// A What is what is asked.
type What string

// What can be asked.
const (
	Power       What = "power"
	ReadBoot    What = "boot"
	SetBoot     What = "boot-set"
	ClearBoot   What = "boot-clear"
	ListMedia   What = "media"
	InsertMedia What = "media-insert"
	EjectMedia  What = "media-eject"
	Inspect     What = "inspect"
	Health      What = "health"
)

// A Question is one thing to ask of a BMC.
type Question struct {
	What  What
	Boot  bmc.BootSpec  `json:",omitzero"` // of SetBoot
	Media bmc.MediaSpec `json:",omitzero"` // of InsertMedia; EjectMedia reads Slot and Running
}

// An Answer has what the question was about.
type Answer struct {
	Power  bmc.PowerObservation `json:",omitzero"`
	Boot   bmc.BootState        `json:",omitzero"`
	Slots  []bmc.MediaSlot      `json:",omitzero"` // one, after an insert
	Found  bmc.Inspection       `json:",omitzero"`
	Health bmc.HealthReport     `json:",omitzero"`
}

// A Refused is what the agent does not take. Nothing was sent.
type Refused struct {
	code string
	Why  string
	next string
}

// Code is the error's wire name (API-3).
func (e *Refused) Code() string { return e.code }

// Error says why and what to do.
func (e *Refused) Error() string { return e.Why + "; " + e.next }

// Next is what to do.
func (e *Refused) Next() string { return e.next }
