package lifecycle

import (
	"fmt"
	"slices"
	"strings"

	sm "github.com/ingotmetal/ingot/statemachine"
	"github.com/ingotmetal/ingot/statemachine/provision"
	"github.com/ingotmetal/ingot/statemachine/registration"
)

// Refused reports an input that the whole node or site does not accept, where
// one axis alone could not tell. Nothing has changed. Axes refuse with
// *statemachine.Refused.
//
// Programs read Code, Reason, Holder and Count. Why and Next are for people, and
// may change between versions.
type Refused struct {
	Input  string // its name, such as "factory-reset"
	Why    string
	Req    string
	Reason string // a constant that programs read, such as MAC_CLAIMED; may be empty
	Holder Slot   // who holds the machine, where that is the reason
	Count  int    // how many stand in the way, where that is the reason
	Next   string // what would be legal, or what to do first
	code   sm.Code
}

// Error says what was refused, why, and what to do.
func (e *Refused) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s is refused: %s", e.Input, e.Why)
	if e.Holder.Holder != Free {
		fmt.Fprintf(&b, "; held by %s in %s, attempt %d", e.Holder.Holder, e.Holder.State, e.Holder.Epoch)
	}
	if e.Count > 0 {
		fmt.Fprintf(&b, "; %d of them", e.Count)
	}
	if e.Req != "" {
		fmt.Fprintf(&b, " (%s)", e.Req)
	}
	if e.Next != "" {
		fmt.Fprintf(&b, "; %s", e.Next)
	}
	return b.String()
}

// Code is the refusal's wire name (API-3).
func (e *Refused) Code() string { return string(e.code) }

// void is what is left to do for who speaks of an attempt that is over.
const void = "stop this attempt; its reports are void"

// refuse is a refusal of in. What it quotes is cut, whatever came in.
func refuse(in, req string, code sm.Code, why, next string) *Refused {
	return &Refused{Input: in, Req: req, Why: cutReason(why), Next: next, code: code}
}

// invalid is an INVALID_INPUT refusal of in.
func invalid(in, req, format string, a ...any) *Refused {
	return refuse(in, req, sm.InvalidInput, fmt.Sprintf(format, a...), "")
}

// Detailed is an axis's refusal with what only the node knows: who holds the
// machine, or how many stand in the way. errors.As finds the axis's own in it.
//
// Where somebody holds the machine, Error leaves the count out: until that attempt
// has ended, to release something helps nobody.
type Detailed struct {
	*sm.Refused
	Holder Slot
	Count  int
}

// Error adds the holder and the count to the axis's words.
func (e *Detailed) Error() string {
	s := e.Refused.Error()
	switch {
	case e.Holder.Holder != Free:
		s += fmt.Sprintf("; held by %s in %s, attempt %d", e.Holder.Holder, e.Holder.State, e.Holder.Epoch)
	case e.Count > 0:
		s += fmt.Sprintf("; %d in the way", e.Count)
	}
	return s
}

// Unwrap is the axis's refusal.
func (e *Detailed) Unwrap() error { return e.Refused }

// worded is an axis's refusal as an operator can use it: of what is legal it names
// the verbs alone, and not the one that was just refused. Reports, deadlines and
// joints are nothing that a person could send. The axis's own refusal is shared,
// and stays as it is.
func worded[K ~string](err error, verbs []K) error {
	r, ok := err.(*sm.Refused)
	if !ok {
		return err
	}
	c := *r
	c.Legal = slices.DeleteFunc(slices.Clone(r.Legal), func(on string) bool { return on == r.On || !slices.Contains(verbs, K(on)) })
	return &c
}

// rowVerbs are the operator's events of the registration axis.
func rowVerbs() []registration.Kind {
	return []registration.Kind{registration.Approve, registration.ApproveSetup, registration.Configure,
		registration.Disable, registration.FactoryReset, registration.Delete}
}

// nodeVerbs are the operator's events of the provision axis, those included that
// have inputs of their own.
func nodeVerbs() []provision.Kind {
	return append(verbs(), provision.Enroll, provision.PowerVerb, provision.Delete)
}

// occupied is the conflict of what must wait until open allocations are released.
func occupied(in, req string, open int) *Refused {
	return &Refused{Input: in, Req: req, code: sm.Conflict, Why: "allocations are open", Count: open, Next: "release them"}
}

// listed is names as a refusal lists them.
func listed[K ~string](names []K) string {
	var b strings.Builder
	for i, name := range names {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(string(name))
	}
	return b.String()
}

// code is err's wire name, if it has one.
func code(err error) string {
	if c, ok := err.(interface{ Code() string }); ok {
		return c.Code()
	}
	return ""
}
