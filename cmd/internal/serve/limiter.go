package serve

import (
	"sync"
	"time"
)

// A limiter is a bucket of tokens. The zero value is full.
type limiter struct {
	mu      sync.Mutex
	spent   float64
	last    time.Time
	refused uint64
}

// take takes a token of a bucket that holds burst and fills at rate a second. The
// count is of those refused since the last one that was not.
func (l *limiter) take(now time.Time, rate, burst int) (ok bool, refused uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if since := now.Sub(l.last); since > 0 {
		l.spent = max(0, l.spent-since.Seconds()*float64(rate))
		l.last = now
	}
	if l.spent+1 > float64(burst) {
		l.refused++
		return false, l.refused
	}
	l.spent++
	refused, l.refused = l.refused, 0
	return true, refused
}
