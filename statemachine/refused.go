package statemachine

import (
	"fmt"
	"strings"
)

// Refused reports an event that the machine's state does not accept. Nothing
// has changed. It is shared between calls: treat it as read-only. Find it with
// errors.AsType, or its code through any interface with a method Code.
type Refused struct {
	Machine, From, On string
	Why               string   // the rule's reason, for people
	Req               string   // the requirement's name; may be empty
	Legal             []string // events that From accepts, in table order
	code              Code
}

// Error names machine, event, state, reason and what would be legal.
func (e *Refused) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s is refused in %s: %s", e.Machine, e.On, e.From, e.Why)
	if e.Req != "" {
		fmt.Fprintf(&b, " (%s)", e.Req)
	}
	if len(e.Legal) > 0 {
		fmt.Fprintf(&b, "; legal: %s", strings.Join(e.Legal, ", "))
	}
	return b.String()
}

// Code is the refusal's wire name (API-3).
func (e *Refused) Code() string { return string(e.code) }

// SpecError reports what is wrong with a spec: one line a finding, in the order
// of the spec. Findings that follow from others are left out.
type SpecError struct {
	Machine  string
	Findings []string
}

// Error lists every finding.
func (e *SpecError) Error() string {
	return fmt.Sprintf("statemachine: %s: %s", e.Machine, strings.Join(e.Findings, "; "))
}

// Code says that the caller's spec is at fault.
func (e *SpecError) Code() string { return string(InvalidInput) }
