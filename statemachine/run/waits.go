package run

import "time"

// How a retirement waits for off where the BMC does not give it (RUN-5, RUN-6).
// The retirement itself never gives up: no step of it goes on without proof.
const (
	RetryFirst = 5 * time.Minute  // before the second try to power off
	RetryMost  = 4 * time.Hour    // between later ones, at most
	OffDanger  = 15 * time.Minute // a wait for off that lasts longer is a danger
)

// RetryAfter is how long to wait after so many failed tries to power a machine
// off: 5 minutes after the first, doubling to 4 hours (RUN-6). Fewer than one
// failed try waits for nothing.
func RetryAfter(failed int) time.Duration {
	wait := RetryFirst
	switch {
	case failed < 1:
		return 0
	case failed > 6: // 5 min doubled six times is over 4 h
		return RetryMost
	}
	for range failed - 1 {
		wait *= 2
	}
	return min(wait, RetryMost)
}

// Alarm is what a wait for off is journaled as, once each (RUN-5).
type Alarm string

// The alarms.
const (
	OffAwaited  Alarm = "awaits-off" // as soon as the wait begins
	OffOverlong Alarm = "danger"     // whatever it ran may run on
)

// OffAlarm is the alarm of a wait that has lasted so long.
func OffAlarm(waited time.Duration) Alarm {
	if waited > OffDanger {
		return OffOverlong
	}
	return OffAwaited
}
