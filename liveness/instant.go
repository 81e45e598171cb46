package liveness

import (
	"math"
	"time"
)

// An Instant is a reading of one observer's monotonic clock, in nanoseconds.
// The zero Instant is [Never], which is before every reading, so that the later
// of two instants is their max. Instants of different observers, or of one
// observer before and after a restart, must not be mixed: carry an age across.
type Instant int64

// Never is the instant of what has not happened.
const Never Instant = 0

// origin is the reading of a clock that has just started. It leaves 146 years
// on either side, for ages carried over from before the start.
const origin Instant = 1 << 62

// At is the reading of a clock that started elapsed ago. An observer takes it
// as At(time.Since(start)), which Go computes from the monotonic clock.
func At(elapsed time.Duration) Instant { return origin.Add(elapsed) }

// Add returns i moved by d, which may be negative. Never stays Never, and any
// other instant stays a reading: it stops at the ends of the range.
func (i Instant) Add(d time.Duration) Instant {
	switch {
	case i == Never:
		return Never
	case d > 0 && i > math.MaxInt64-Instant(d):
		return math.MaxInt64
	}
	return max(i+Instant(d), Never+1)
}

// Sub returns the time from j to i. From Never it is longer than any window.
func (i Instant) Sub(j Instant) time.Duration { return time.Duration(i - j) }
