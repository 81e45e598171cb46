package placement

import (
	"iter"
	"time"
)

// Allocation is what placement needs of booked work. An allocation blocks its
// device, and the delete of its node, while it is open (PLACE-4).
type Allocation struct {
	End      time.Time // first instant after the booking; zero means it has no end
	Released bool
	Agent    Sight // what the node's agent says about it
}

// Sight is what the node's agent reports of an allocation's work.
type Sight uint8

const (
	// Unseen: the node is not connected, so nobody can tell. It is the zero
	// value, and what an unknown value counts as.
	Unseen Sight = iota
	// Running: a connected agent reports the work as running.
	Running
	// Stopped: a connected agent reports that the work does not run.
	Stopped
)

// Open reports whether a has not been released. An open allocation past its
// end still blocks its device.
func (a Allocation) Open() bool { return !a.Released }

// Live reports whether a is open and before its end.
func (a Allocation) Live(now time.Time) bool {
	return a.Open() && (a.End.IsZero() || now.Before(a.End))
}

// HoldsDrain reports whether a drain waits for a: while it is live, and past
// its end until a connected agent no longer reports it as running (PLACE-4,
// EDGE-11).
func (a Allocation) HoldsDrain(now time.Time) bool {
	return a.Open() && (a.Live(now) || a.Agent != Stopped)
}

// Recheck is the longest a drain waits before it looks again (SCHED-2).
const Recheck = 5 * time.Minute

// DrainWait counts the allocations that a drain waits for. When there is none
// the drain is done. Otherwise it looks again at the time returned: the
// earliest end still to come, at most [Recheck] from now (SCHED-2).
func DrainWait(allocations iter.Seq[Allocation], now time.Time) (left int, again time.Time) {
	again = now.Add(Recheck)
	for a := range allocations {
		if !a.HoldsDrain(now) {
			continue
		}
		left++
		if a.End.After(now) && a.End.Before(again) {
			again = a.End
		}
	}
	if left == 0 {
		return 0, time.Time{}
	}
	return left, again
}
