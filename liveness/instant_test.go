package liveness_test

import (
	"math"
	"testing"
	"time"

	"github.com/ingotmetal/ingot/liveness"
	"pgregory.net/rapid"
)

// sec is an instant that many seconds after the observer's start.
func sec(n float64) liveness.Instant {
	return liveness.At(time.Duration(n * float64(time.Second)))
}

func TestInstantStopsAtItsEnds(t *testing.T) {
	const long = time.Duration(math.MaxInt64)
	tests := []struct {
		name string
		got  liveness.Instant
		ok   func(liveness.Instant) bool
	}{
		{"never stays never", liveness.Never.Add(long), func(i liveness.Instant) bool { return i == liveness.Never }},
		{"far past is not never", liveness.At(0).Add(-long), func(i liveness.Instant) bool { return i > liveness.Never && i < liveness.At(0) }},
		{"farthest past", liveness.At(0).Add(math.MinInt64), func(i liveness.Instant) bool { return i > liveness.Never && i < liveness.At(0) }},
		{"far future does not wrap", liveness.At(long).Add(long), func(i liveness.Instant) bool { return i == math.MaxInt64 }},
		{"a clock that has just started is not never", liveness.At(0), func(i liveness.Instant) bool { return i > liveness.Never }},
		{"a negative reading is not never", liveness.At(math.MinInt64), func(i liveness.Instant) bool { return i > liveness.Never }},
	}
	for _, tt := range tests {
		if !tt.ok(tt.got) {
			t.Errorf("%s: %d", tt.name, tt.got)
		}
	}
}

func TestNeverIsLongerAgoThanAnyWindow(t *testing.T) {
	if d := liveness.At(0).Sub(liveness.Never); d < 100*365*24*time.Hour {
		t.Errorf("never was %s ago", d)
	}
}

func TestInstantArithmetic(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		century := int64(100 * 365 * 24 * time.Hour)
		start := time.Duration(rapid.Int64Range(0, century).Draw(t, "start"))
		d := time.Duration(rapid.Int64Range(-century, century/10).Draw(t, "d"))
		i := liveness.At(start)
		if got := i.Add(d).Sub(i); got != d {
			t.Fatalf("%s later is %s later", d, got)
		}
		if (i.Add(d) > i) != (d > 0) {
			t.Fatalf("adding %s went the other way", d)
		}
	})
}
