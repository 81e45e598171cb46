package run_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/ingotmetal/ingot/statemachine/run"
)

// RUN-6: delays double from 5 min to 4 h.
func TestRetryAfter(t *testing.T) {
	for failed, want := range map[int]time.Duration{
		math.MinInt: 0, -1: 0, 0: 0, 1: 5 * time.Minute, 2: 10 * time.Minute, 3: 20 * time.Minute, 4: 40 * time.Minute,
		5: 80 * time.Minute, 6: 160 * time.Minute, 7: 4 * time.Hour, 8: 4 * time.Hour, 64: 4 * time.Hour, math.MaxInt: 4 * time.Hour,
	} {
		if got := run.RetryAfter(failed); got != want {
			t.Errorf("after %d failed tries: %s, want %s", failed, got, want)
		}
	}
}

// RUN-5: the wait is journaled once, and is a danger after 15 min.
func TestOffAlarm(t *testing.T) {
	for waited, want := range map[time.Duration]run.Alarm{
		0: run.OffAwaited, 15 * time.Minute: run.OffAwaited, 15*time.Minute + 1: run.OffOverlong, 1 << 62: run.OffOverlong,
	} {
		if got := run.OffAlarm(waited); got != want {
			t.Errorf("after %s: %s, want %s", waited, got, want)
		}
	}
}

// A reconciler that cannot power a machine off tries again, ever more rarely.
func ExampleRetryAfter() {
	for failed := 1; failed <= 8; failed++ {
		fmt.Print(run.RetryAfter(failed), " ")
	}
	// Output: 5m0s 10m0s 20m0s 40m0s 1h20m0s 2h40m0s 4h0m0s 4h0m0s
}
