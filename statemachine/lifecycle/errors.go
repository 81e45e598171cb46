package lifecycle

import (
	"fmt"
	"strings"

	sm "github.com/ingotmetal/ingot/statemachine"
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
type Detailed struct {
	*sm.Refused
	Holder Slot
	Count  int
}

// Error adds the holder and the count to the axis's words.
func (e *Detailed) Error() string {
	s := e.Refused.Error()
	if e.Holder.Holder != Free {
		s += fmt.Sprintf("; held by %s in %s, attempt %d", e.Holder.Holder, e.Holder.State, e.Holder.Epoch)
	}
	if e.Count > 0 {
		s += fmt.Sprintf("; %d open", e.Count)
	}
	return s
}

// Unwrap is the axis's refusal.
func (e *Detailed) Unwrap() error { return e.Refused }

// code is err's wire name, if it has one.
func code(err error) string {
	if c, ok := err.(interface{ Code() string }); ok {
		return c.Code()
	}
	return ""
}
