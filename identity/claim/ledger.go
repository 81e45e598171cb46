package claim

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"
)

// Limits say how many wrong codes are too many (REG-5). A field of zero or less
// takes its default.
type Limits struct {
	PerOperator int           // wrong codes of one operator in Window; default 20
	Total       int           // wrong codes of all operators in Window; default 200, at most MaxTotal
	Window      time.Duration // how long a wrong code counts; default 1h
}

// The defaults of Limits (REG-5), and what bounds a Ledger.
const (
	DefaultPerOperator = 20
	DefaultTotal       = 200
	DefaultWindow      = time.Hour

	// MaxTotal bounds Total, and with it the tries that a Ledger holds. At
	// this rate, with a thousand codes pending, an hour of guessing hits one
	// in a hundred times: more would give up REG-5's point.
	MaxTotal = 10_000
	// MaxOperator bounds an operator's name, in bytes.
	MaxOperator = 256
)

// Validate reports every field that is out of range, joined.
func (l Limits) Validate() error {
	var errs []error
	bad := func(name string, got, want any) {
		errs = append(errs, fmt.Errorf("claim: %s is %v, want %v", name, got, want))
	}
	if l.PerOperator < 0 {
		bad("PerOperator", l.PerOperator, "0 or more")
	}
	if l.Total < 0 || l.Total > MaxTotal {
		bad("Total", l.Total, fmt.Sprintf("0 to %d", MaxTotal))
	}
	if l.Window < 0 {
		bad("Window", l.Window, "0 or more")
	}
	return errors.Join(errs...)
}

func (l Limits) filled() Limits {
	return Limits{
		PerOperator: cmp.Or(max(l.PerOperator, 0), DefaultPerOperator),
		Total:       cmp.Or(min(max(l.Total, 0), MaxTotal), DefaultTotal),
		Window:      cmp.Or(max(l.Window, 0), DefaultWindow),
	}
}

// A Ledger remembers a site's wrong codes while they count. It is a value: a
// method never changes the Ledger it is called on. The zero Ledger is empty. It
// holds at most Limits.Total tries.
//
// Allow and Count belong in one transaction; else many at once pass together.
type Ledger struct {
	Tries []Try // in the order they were counted
}

// A Try is one wrong code.
type Try struct {
	Operator string
	At       time.Time
}

// Allow decides whether operator may try a code at now. The error is a
// [*RateLimited], or a [*Malformed] where operator is no usable name. Ask before
// the code is compared: a limited operator must not learn whether it was right.
func (l Ledger) Allow(limits Limits, operator string, now time.Time) error {
	if operator == "" || len(operator) > MaxOperator {
		return &Malformed{What: "operator", Why: fmt.Sprintf("name of %d bytes, want 1 to %d", len(operator), MaxOperator)}
	}
	limits = limits.filled()
	var own, all []time.Time // when each counted try ends
	for _, t := range l.counted(limits, now) {
		end := t.At.Add(limits.Window)
		all = append(all, end)
		if t.Operator == operator {
			own = append(own, end)
		}
	}
	mine, site := freed(own, limits.PerOperator), freed(all, limits.Total)
	switch {
	case mine.IsZero() && site.IsZero():
		return nil
	case mine.After(site):
		return &RateLimited{Operator: operator, Limit: limits.PerOperator, Until: mine}
	}
	return &RateLimited{Limit: limits.Total, Until: site}
}

// Count returns l with one more wrong code of operator at now, without those
// that no longer count. Where Allow refuses, so does Count.
func (l Ledger) Count(limits Limits, operator string, now time.Time) (Ledger, error) {
	if err := l.Allow(limits, operator, now); err != nil {
		return l, err
	}
	return Ledger{append(l.counted(limits.filled(), now), Try{operator, now})}, nil
}

// counted returns a copy of the tries less than a window away from now. A try
// from the future counts too, since clocks step back; but only within a window,
// or a clock once far ahead would lock the site for good.
func (l Ledger) counted(limits Limits, now time.Time) []Try {
	var kept []Try
	for _, t := range l.Tries {
		if now.Sub(t.At).Abs() < limits.Window {
			kept = append(kept, t)
		}
	}
	return kept
}

// freed returns when fewer than limit of the tries that end at ends remain, the
// zero time if that is so already.
func freed(ends []time.Time, limit int) time.Time {
	if len(ends) < limit {
		return time.Time{}
	}
	slices.SortFunc(ends, time.Time.Compare)
	return ends[len(ends)-limit]
}

// A RateLimited refuses a try because too many before it were wrong. Nothing was
// compared and nothing counted.
type RateLimited struct {
	Operator string // whose tries were too many; "" where those of all were
	Limit    int
	Until    time.Time // the first instant at which a try is heard again
}

// Error says whose tries were too many and when one is heard again.
func (e *RateLimited) Error() string {
	who := "all operators"
	if e.Operator != "" {
		who = fmt.Sprintf("operator %q", e.Operator)
	}
	return fmt.Sprintf("claim: %d wrong claim codes by %s; try again at %s (REG-5)",
		e.Limit, who, e.Until.UTC().Format(time.RFC3339))
}

// Code is the error's wire name (API-3).
func (e *RateLimited) Code() string { return "RATE_LIMITED" }
