package bmcsim

import (
	"net/http"
	"strconv"
	"time"
)

// loadState is what a BMC bears just now.
type loadState struct {
	started time.Time // since when it is there
	until   time.Time // connections are dropped until then
	fast    int       // requests in a row that came too soon
}

// away reports whether the BMC is not there: it restarts, or is frozen.
func (b *BMC) away(now time.Time) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return now.Before(b.load.until)
}

// startedAt is when the BMC last started.
func (b *BMC) startedAt() time.Time {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.load.started
}

// Reboot restarts the BMC as a reset of its manager does: sessions and tasks are gone,
// and connections are dropped for Load.Rebooting. Systems stay as they are.
func (b *BMC) Reboot() { b.reboot() }

func (b *BMC) reboot() {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := time.Now()
	for token := range b.sessions {
		b.end(token)
	}
	b.tasks, b.monitors = nil, nil
	b.load = loadState{started: now.Add(b.o.Load.Rebooting), until: now.Add(b.o.Load.Rebooting)}
}

// overloaded refuses what the BMC does not bear.
func (b *BMC) overloaded(v *visit) (answer, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	o := b.o.Load
	if v.at.Before(b.load.started.Add(o.Starting)) {
		a := refuse(http.StatusServiceUnavailable, "ServiceInUnknownState", "The operation failed because the service is starting.")
		if o.RetryAfter > 0 {
			a = a.with("Retry-After", seconds(o.RetryAfter))
		}
		return a, true
	}
	if o.Burst > 0 && v.spacing >= 0 {
		b.load.fast++
		if v.spacing >= o.Interval {
			b.load.fast = 0
		}
		if b.load.fast >= o.Burst {
			b.load.fast, b.load.until = 0, v.at.Add(o.Freeze)
			panic(http.ErrAbortHandler)
		}
	}
	if o.Concurrent > 0 && v.alone > o.Concurrent {
		return refuse(o.Over, "ServiceTemporarilyUnavailable", "The service is temporarily unavailable: too many requests at once.", "1").with("Retry-After", "1"), true
	}
	return answer{}, false
}

// seconds of Retry-After, at least one.
func seconds(d time.Duration) string {
	return strconv.Itoa(max(1, int((d+time.Second-1)/time.Second)))
}
