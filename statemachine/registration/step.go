package registration

import (
	"crypto/subtle"
	"strings"
	"time"
	"unicode/utf8"

	sm "github.com/ingotmetal/ingot/statemachine"
)

// MaxLastError is how much of a failure's reason a row keeps, in bytes
// (SET-11).
const MaxLastError = 512

// CodeLife is how long a claim code is valid, and how long its repeat by the
// operator who used it succeeds (REG-5, EDGE-16).
const CodeLife = time.Hour

// The constant reasons of setups that no report ended. They are compared and
// shown, so they never change.
const (
	ReasonExpired   = "the setup did not report before its deadline"
	ReasonOtherKey  = "the machine announced another agent key during its setup"
	ReasonPreempted = "retirement took the machine over"
)

// Event is what happens to a row, with what it brings. Which fields matter
// depends on On.
type Event struct {
	sm.Event[Kind]
	Facts sm.Guard // guards that others compute: all but CodeOK, Repeat, OtherKey, Consumed, Overdue, Rearmed

	Server    ServerID
	Inventory Inventory
	Code      Expiring // register: the new code; approve: the hash presented
	Poll      Expiring
	By        string // the operator
	Bound     Key    // minted for register in a window, approve, approve-setup
	Waiting   Sealed // the bound key for the agent's poll
	Tickets   [3]Key
	Sealed    Sealed // the bundle
	AgentKey  Hash   // announce, drain: the session's key
	Plan      Plan
	Image     string
	Settings  Settings
	Why       string // setup-failed
}

// own are the guards that the row and the event answer by themselves. What a
// caller claims of them is dropped: nobody else says that a code was right.
const own = CodeOK | Repeat | OtherKey | Consumed | Overdue | Rearmed

// Guards computes the guards for e on r at now. A row without a deadline counts
// as overdue (MACH-4).
func Guards(r *Record, e *Event, now time.Time) sm.Guard {
	g := e.Facts &^ own
	return g.With(Rearmed, r.Rearmed).
		With(CodeOK, r.Code.Holds(now) && equal(r.Code.Hash, e.Code.Hash)).
		With(Repeat, r.Spent.Holds(now) && r.Spent.By == e.By && equal(r.Spent.Hash, e.Code.Hash)).
		With(OtherKey, !equal(r.AgentKey, e.AgentKey)).
		With(Consumed, r.Bundle.Consumed).
		With(Overdue, !now.Before(r.Deadline))
}

// equal compares in constant time (REG-5): how long a wrong code takes must not
// say how wrong it was.
func equal(a, b Hash) bool { return subtle.ConstantTimeCompare(a[:], b[:]) == 1 }

// Step decides e on r and returns the row after it; on error that is r. A
// record that came to Absent is the zero row. Its errors are *sm.Refused.
func Step(r Record, e Event, now time.Time) (Record, error) {
	from := r.At
	if from.State == "" {
		from.State = Absent
	}
	if Table.Repeats(from, e.Event) {
		return r, nil // what it brings may differ from what was decided
	}
	e.Within = 0 // setting_up is the only attempt, and its deadline is fixed (MACH-5)
	at, err := Table.Step(from, e.Event, Guards(&r, &e, now), now)
	if err != nil {
		return r, err
	}
	r.At = at
	if at.State == Absent {
		return New(), nil
	}
	r.write(from.State, &e, now)
	r.drop(Table.Drops(r.State))
	return r, nil
}

// write puts into the row what an accepted event brings. It runs before drop, so
// it may write what the new state must not hold, and need not ask.
func (r *Record) write(from State, e *Event, now time.Time) {
	switch e.On {
	case Register:
		r.registered(from, e)
	case Announce:
		r.announced(from, e)
	case Approve:
		if from == Pending {
			r.Spent = Spent{Expiring{e.Code.Hash, now.Add(CodeLife)}, e.By}
			r.Bound, r.Waiting = e.Bound, e.Waiting
		}
	case ApproveSetup:
		r.Bound, r.Tickets, r.Bundle = e.Bound, e.Tickets, Bundle{Sealed: e.Sealed}
		r.generation(r.Epoch)
		r.Plan, r.Image = e.Plan, e.Image
	case Drain:
		r.Bundle = Bundle{Consumed: true}
	case SetupFailed:
		r.LastError = cut(e.Why)
	case SetupExpired:
		r.LastError = ReasonExpired
	case Preempt:
		if from == SettingUp {
			r.LastError = ReasonPreempted
		}
	case Refresh: // with the bound key, and so its agent has it
		r.Inventory = e.Inventory
		r.Waiting, r.Poll = "", Expiring{}
	case Acknowledge:
		r.Waiting, r.Poll = "", Expiring{}
	case Lapse:
		r.lapse(now)
	case Configure:
		r.Settings = e.Settings
	}
	if r.State == Approved && from != Approved {
		r.OnceApproved, r.ApprovedAt = true, now
	}
}

// registered replaces inventory, code and token; the old ones are void
// (REG-4). A window's approval brings the bound key at once. The mark of a
// re-armed row stays until it is approved, since no window may take it (REG-3).
func (r *Record) registered(from State, e *Event) {
	r.Server, r.Inventory = e.Server, e.Inventory
	r.Code, r.Poll = e.Code, e.Poll
	r.Rearmed = r.Rearmed || from == Disabled
	if r.State == Approved {
		r.Bound, r.Waiting = e.Bound, e.Waiting
	}
}

// announced refreshes a row that awaits setup; the announce that ends a setup
// does so too (EDGE-14).
func (r *Record) announced(from State, e *Event) {
	if r.State != AwaitingSetup {
		return
	}
	r.Server, r.Inventory, r.AgentKey = e.Server, e.Inventory, e.AgentKey
	if from == SettingUp {
		r.LastError = ReasonOtherKey
	}
}

// generation stamps the keys of a setup with its epoch, which nobody knew when
// they were minted.
func (r *Record) generation(epoch uint64) {
	r.Bound.Generation = epoch
	for i := range r.Tickets {
		r.Tickets[i].Generation = epoch
	}
}

// lapse revokes a key that nobody took before its poll token ended. A lapse
// that comes late, when a newer token lives, means nothing (REG-6).
func (r *Record) lapse(now time.Time) {
	if r.Poll.Holds(now) {
		return
	}
	if r.Waiting != "" {
		r.Bound, r.Waiting = Key{}, ""
	}
	r.Poll = Expiring{}
}

// cut shortens a reason to MaxLastError bytes, on a rune boundary. It is
// never empty, so that a failure always shows, and always UTF-8, so that an
// encoding cannot grow it.
func cut(why string) string {
	if why == "" {
		return "the setup failed without a reason"
	}
	why = strings.ToValidUTF8(why, string(utf8.RuneError))
	if len(why) <= MaxLastError {
		return why
	}
	n := MaxLastError
	for n > 0 && !utf8.RuneStart(why[n]) {
		n--
	}
	return why[:n]
}
