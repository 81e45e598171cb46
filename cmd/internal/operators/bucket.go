package operators

import (
	"errors"
	"fmt"
	"time"
)

// A Rate is how much is allowed: Burst at once, and on average Burst in Per. So
// no stretch of time sees more than Burst and, for each Per/Burst of it, one more.
type Rate struct {
	Burst int           // 1 to 1,000,000
	Per   time.Duration // at most 24h
}

const (
	maxBurst = 1_000_000
	maxPer   = 24 * time.Hour
)

// Validate reports every field that is out of range, joined.
func (r Rate) Validate() error {
	var errs []error
	if r.Burst < 1 || r.Burst > maxBurst {
		errs = append(errs, &Invalid{"Rate.Burst", fmt.Sprintf("is %d, want 1 to %d", r.Burst, maxBurst)})
	}
	if r.Per <= 0 || r.Per > maxPer {
		errs = append(errs, &Invalid{"Rate.Per", fmt.Sprintf("is %s, want more than 0 and at most %s", r.Per, maxPer)})
	}
	return errors.Join(errs...)
}

// String returns r as people say it.
func (r Rate) String() string { return fmt.Sprintf("%d in %s", r.Burst, r.Per) }

// step is what one costs in time. A rate that is out of range allows as little as
// the nearest one that is not.
func (r Rate) step() time.Duration {
	return max(1, min(r.Per, maxPer)/time.Duration(r.burst()))
}

func (r Rate) burst() int { return max(1, min(r.Burst, maxBurst)) }

// span is the time in which an empty bucket fills.
func (r Rate) span() time.Duration { return r.step() * time.Duration(r.burst()) }

// A Bucket is what is left of a rate, as the one instant at which all of it is
// there again (the generic cell rate algorithm of ITU-T I.371). The zero Bucket is
// full. Its methods never change the one they are called on.
type Bucket struct {
	Full time.Time
}

// Take returns b with one less. Where none is left, b stays as it is and until is
// the first instant at which there is one.
func (b Bucket) Take(r Rate, now time.Time) (next Bucket, until time.Time, ok bool) {
	b = b.at(r, now)
	next = Bucket{b.Full.Add(r.step())}
	if until = next.Full.Add(-r.span()); until.After(now) {
		return b, until, false
	}
	return next, time.Time{}, true
}

// Return returns b with one more, at most full.
func (b Bucket) Return(r Rate, now time.Time) Bucket {
	return Bucket{b.at(r, now).Full.Add(-r.step())}.at(r, now)
}

// Idle reports whether b is full at now, so that it need not be kept.
func (b Bucket) Idle(now time.Time) bool { return !b.Full.After(now) }

// at returns b as it stands at now: full at the earliest now, and at the latest
// after the rate's span, or a clock that was once far ahead would lock it for as
// long.
func (b Bucket) at(r Rate, now time.Time) Bucket {
	now = stamp(now)
	switch last := now.Add(r.span()); {
	case b.Full.Before(now):
		return Bucket{now}
	case b.Full.After(last):
		return Bucket{last}
	}
	return b
}

// A RateLimited refuses a try because too many came before it. Nothing was
// checked and nothing counted.
type RateLimited struct {
	Whose string // whose tries were too many
	Rate  Rate
	Until time.Time // the first instant at which there may be another
}

// Error says whose tries were too many and when there may be another.
func (e *RateLimited) Error() string {
	return fmt.Sprintf("operators: too many tries (%s): at most %s; try again at %s", e.Whose, e.Rate, e.Until.UTC().Format(time.RFC3339))
}

// Code is the error's wire name (API-3).
func (e *RateLimited) Code() string { return "RATE_LIMITED" }
