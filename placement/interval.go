package placement

import (
	"strings"
	"time"
)

// MaxInterval bounds the text of an interval: two RFC 3339 times with
// nanoseconds and offset are 35 bytes each.
const MaxInterval = 2*len("2006-01-02T15:04:05.999999999-07:00") + 1

// MaxBooking is the longest interval: ten years outlives any machine, and
// keeps sums of times far from overflow.
const MaxBooking = 10 * 366 * 24 * time.Hour

// Interval is a stretch of time for which something is booked (PLACE-1). It
// is half open: Start belongs to it, End does not, so that one booking may
// begin at the instant at which another ends.
type Interval struct{ Start, End time.Time }

// ParseInterval reads "start/end", two RFC 3339 times in that order (ISO 8601
// section 4.4). The end lies after the start, by at most [MaxBooking]. Its
// errors are *[Invalid].
func ParseInterval(s string) (Interval, error) {
	bad := func(want string) (Interval, error) {
		return Interval{}, &Invalid{What: "interval", Value: s, Want: want, Req: "PLACE-1"}
	}
	if len(s) > MaxInterval {
		return bad("at most two RFC 3339 times and a slash")
	}
	start, end, ok := strings.Cut(s, "/")
	if !ok {
		return bad("start/end, two RFC 3339 times")
	}
	from, err := time.Parse(time.RFC3339Nano, start)
	if err != nil {
		return bad("an RFC 3339 time before the slash")
	}
	to, err := time.Parse(time.RFC3339Nano, end)
	if err != nil {
		return bad("an RFC 3339 time after the slash")
	}
	i := Interval{from, to}
	if !i.Valid() {
		return bad("an end after the start, by at most ten years")
	}
	return i, nil
}

// Valid reports whether i ends after it starts, by at most [MaxBooking].
func (i Interval) Valid() bool {
	// Sub saturates, so that even absurd times cannot wrap around.
	return i.End.After(i.Start) && i.End.Sub(i.Start) <= MaxBooking
}

// Overlaps reports whether some instant belongs to both. Intervals that only
// touch do not overlap.
func (i Interval) Overlaps(o Interval) bool {
	return i.Start.Before(o.End) && o.Start.Before(i.End)
}

// Contains reports whether t belongs to i.
func (i Interval) Contains(t time.Time) bool { return !t.Before(i.Start) && t.Before(i.End) }

// String is the form that [ParseInterval] reads, in UTC.
func (i Interval) String() string {
	return i.Start.UTC().Format(time.RFC3339Nano) + "/" + i.End.UTC().Format(time.RFC3339Nano)
}
