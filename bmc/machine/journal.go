package machine

import (
	"context"
	"time"

	"github.com/ingotmetal/ingot/bmc"
)

// An Entry is one request that must not be carried out twice.
type Entry struct {
	ID     string // of the request, as the caller gave it
	Verb   bmc.Verb
	Action bmc.Action // that is sent first
	At     time.Time
}

// A Journal outlives the process. Its methods are called for verbs that are not
// repeatable (BMC-3): reset, graceful-restart, cycle and nmi.
type Journal interface {
	// Begun writes e down, durably, before its first action is sent. An error stops
	// the verb with nothing sent; an ID that is there already is one.
	Begun(ctx context.Context, e Entry) error
	// Ended writes down what came of it. It is called with a context that does not
	// end with the caller's.
	Ended(ctx context.Context, e Entry, r bmc.Result, err error) error
}

// A Metrics counts. Its methods must not block, and are safe for concurrent use.
type Metrics interface {
	// Call is one operation on one machine: its name, how long it took with all its
	// tries, and its error without secrets.
	Call(op string, took time.Duration, err error)
	// Login is a session that was opened, or could not be.
	Login(err error)
	// Late is how long after its time a poll began.
	Late(d time.Duration)
}

// mute counts nothing.
type mute struct{}

func (mute) Call(string, time.Duration, error) {}
func (mute) Login(error)                       {}
func (mute) Late(time.Duration)                {}
