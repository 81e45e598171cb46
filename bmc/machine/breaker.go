package machine

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"time"

	"github.com/ingotmetal/ingot/bmc"
)

// Breaking says when a BMC is taken for dead, and how often it is tried then. A
// zero field takes its default.
type Breaking struct {
	Failures int           // in a row, without an answer; default 3
	Open     time.Duration // until it is tried again; default 10s
	Longest  time.Duration // Open doubles up to this once Grace is over; default 5m
	// Grace is how long after its last answer a BMC is tried every Open, without
	// doubling: it may be restarting, which takes 90 to 200 s; default 5m.
	Grace time.Duration
}

func (b Breaking) failures() int          { return cmp.Or(b.Failures, 3) }
func (b Breaking) open() time.Duration    { return cmp.Or(b.Open, 10*time.Second) }
func (b Breaking) longest() time.Duration { return cmp.Or(b.Longest, 5*time.Minute) }
func (b Breaking) grace() time.Duration   { return cmp.Or(b.Grace, 5*time.Minute) }

// A breaker keeps callers from waiting for a BMC that does not answer.
type breaker struct {
	Breaking
	key     string
	changed func(key string, open bool)

	mu      sync.Mutex
	failed  int       // in a row
	well    time.Time // its last answer; zero: none
	until   time.Time // nobody is let through before; zero: closed
	pause   time.Duration
	probing bool   // one operation finds out
	why     string // it did not answer the last time; free of passwords
}

// try reports whether an operation may begin, and whether it is the one that
// finds out.
func (b *breaker) try() (probe bool, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.until.IsZero():
		return false, nil
	case b.probing || time.Now().Before(b.until):
		return false, b.dead()
	}
	b.probing = true
	return true, nil
}

// closedTo is the refusal of a request while the breaker is open.
func (b *breaker) closedTo(probe bool) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if probe || b.until.IsZero() {
		return nil
	}
	return b.dead()
}

func (b *breaker) dead() error {
	after := max(time.Until(b.until), time.Second)
	why := "it has not answered for a while, and is left alone"
	if b.why != "" {
		why += "; the last time: " + b.why
	}
	return &bmc.Error{Kind: bmc.Unreachable, Op: "reach the BMC", Sent: bmc.SentNo, After: after, Why: why, Err: errTurn}
}

// told counts how an operation ended. It reports whether the breaker has opened
// just now.
func (b *breaker) told(err error, probe bool) bool {
	b.mu.Lock()
	before := !b.until.IsZero()
	if probe {
		b.probing = false
	}
	switch verdict(err) {
	case nothing:
		// the next one finds out
	case answered:
		b.failed, b.pause, b.until, b.well = 0, 0, time.Time{}, time.Now()
	case silent:
		b.failed, b.why = b.failed+1, whyOf(err)
		if probe || !before && b.failed >= b.failures() {
			b.open()
		}
	}
	after := !b.until.IsZero()
	b.mu.Unlock()
	if before != after && b.changed != nil {
		b.changed(b.key, after)
	}
	return after && !before
}

// whyOf is an error's reason.
func whyOf(err error) string {
	e, _ := errors.AsType[*bmc.Error](err)
	return e.Why // told of typed errors alone
}

func (b *breaker) open() {
	now := time.Now()
	switch {
	case b.pause == 0 || now.Sub(b.well) < b.grace():
		b.pause = b.Breaking.open()
	default:
		b.pause = min(2*b.pause, b.longest())
	}
	b.until = now.Add(b.pause)
}

// What the end of an operation says of its BMC.
const (
	nothing = iota
	answered
	silent
)

func verdict(err error) int {
	e, typed := errors.AsType[*bmc.Error](err)
	switch {
	case err == nil:
		return answered
	case errors.Is(err, errTurn), errors.Is(err, errLatched), errors.Is(err, context.Canceled), !typed:
		return nothing
	case e.Kind == bmc.Unreachable, e.Kind == bmc.Indeterminate:
		return silent
	case e.Sent == bmc.SentYes:
		return answered
	}
	return nothing
}
