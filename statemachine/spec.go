package statemachine

import "time"

// Limits of a spec. They keep New's exhaustive checks cheap and are far above
// any lifecycle that a person could review.
const (
	MaxStates     = 200                 // states of one table
	MaxEvents     = 200                 // events of one table
	MaxRules      = 2000                // rules of one table
	MaxName       = 64                  // bytes of a state, event, guard or field name
	MaxCellGuards = 12                  // guards that one cell may use: 4,096 valuations
	maxBits       = 32                  // guards, and fields, of one table: they are bits of a uint32
	MaxDeadline   = 30 * 24 * time.Hour // longest deadline; the longest of MACH-5 is 24 h
)

// Kind says what may be expected of a state: whether it may last, and whether
// it can be left.
type Kind uint8

// The kinds. The zero Kind is invalid, so that none is forgotten.
const (
	Absent   Kind = iota + 1 // no record: entering it drops the record
	Stable                   // may last for ever
	InFlight                 // holds an attempt, and leaves by its deadline at the latest
	Terminal                 // ends here: only Absent may follow
)

// String is the kind's name in pages and errors.
func (k Kind) String() string {
	names := [...]string{"invalid", "absent", "stable", "in-flight", "terminal"}
	if int(k) < len(names) {
		return names[k]
	}
	return names[0]
}

// Guard is a set of named conditions, one bit each. A machine declares its own
// and computes the set before it asks the table.
type Guard uint32

// With is g and the guard bit, if it holds. Guards are best computed as one
// chain of it, a line a guard.
func (g Guard) With(bit Guard, holds bool) Guard {
	if holds {
		return g | bit
	}
	return g
}

// When is the condition of a rule: all of If hold and none of Not do.
type When struct{ If, Not Guard }

// Holds reports whether g satisfies w.
func (w When) Holds(g Guard) bool { return g&w.If == w.If && g&w.Not == 0 }

// Fields is a set of a record's fields, one bit each, named by Spec.Fields. The
// table says which a state may hold (Table.Drops); clearing the rest is up to
// the record's owner, who alone knows where they are.
type Fields uint32

// FieldsOf is the set of the fields that a record has: for each field, in the
// order of Spec.Fields, whether it is there.
func FieldsOf(has ...bool) Fields {
	var f Fields
	for bit, is := range has {
		if is {
			f |= 1 << bit
		}
	}
	return f
}

// Actuators is a set of things of the machine that a state's owner may drive.
// The list is closed: it is what harm can be done with.
type Actuators uint8

// The actuators. Whoever wants to drive one asks the table first.
const (
	Power     Actuators = 1 << iota // power and reset through the BMC
	BootOrder                       // what the next boot loads
	Disks                           // writes to any disk
)

// State describes one state.
type State[S, E ~string] struct {
	// Name is what records and the wire say. It is never reused for another
	// meaning, since old records keep it.
	Name S
	Kind Kind
	// Deadline is how long an attempt may take: required for InFlight, else
	// zero. An event may bring a shorter or longer one (Event.Within).
	Deadline time.Duration
	// Expire is the event to raise at the deadline. A stable state has one
	// only if a rule opens an attempt in it.
	Expire E
	// Drives are the actuators that may be driven in this state; an attempt
	// may drive no more.
	Drives Actuators
	Holds  Fields // fields that a record in this state may have
	Means  string // for pages: what is true of a machine here
}

// Rule decides the cells that it names, as far as When holds. Exactly one of
// To, Stay and Refuse is set. Rules have no order: where two would decide the
// same valuation, New refuses them, instead of taking the first.
type Rule[S, E ~string] struct {
	On   E
	From []S // nil: every state that no other rule of On names
	When When

	To     S    // move there, or stay if it is there
	Stay   bool // accept, and change no state
	Refuse Code // change nothing, and say why

	// Opens gives an attempt to a stable state: a new epoch, due after this
	// long. InFlight states open theirs by themselves.
	Opens time.Duration
	// Ends records the open attempt, if there is one, as decided by this
	// report, so that the report's repeats succeed without effect. A report
	// that moves ends as itself when Ends is empty.
	Ends E
	// Forget drops the memory of past attempts: late reports and repeats are
	// stale from then on. The epoch stays, so that it only grows.
	Forget bool

	Why string // for people; required where Refuse is set
	Req string // the requirement that asks for it, such as REG-3
}

// Spec is what a table is made from.
type Spec[S, E ~string] struct {
	Name    string
	Start   []S      // where records begin
	Guards  []string // in the order of their bits
	OneOf   []Guard  // disjoint groups of guards; exactly one of each group holds
	Fields  []string // in the order of their bits
	Reports []E      // events that name the epoch of an attempt
	States  []State[S, E]
	Rules   []Rule[S, E]
}

// In lists states, for Rule.From and Spec.Start.
func In[S ~string](states ...S) []S { return states }
