package operators

import (
	"sync"
	"time"
)

// A Limiter holds one rate for many keys in memory: callers of the API, what is
// journaled of refused calls. It is safe for concurrent use, and its memory is
// bounded: keys that find it full of others share one bucket, until some of those
// have filled again.
type Limiter struct {
	what string
	rate Rate
	most int

	mu      sync.Mutex
	buckets map[string]Bucket
	others  Bucket
	swept   time.Time
}

// maxKey bounds a limiter's keys in bytes. Longer ones share a bucket as well.
const maxKey = 256

// NewLimiter returns a limiter of at most `most` keys of their own, at least 1.
// what names whose tries it counts, for its refusals. The error is that of
// [Rate.Validate].
func NewLimiter(what string, rate Rate, most int) (*Limiter, error) {
	if err := rate.Validate(); err != nil {
		return nil, err
	}
	return &Limiter{what: what, rate: rate, most: max(1, most), buckets: map[string]Bucket{}}, nil
}

// Take takes one from key's bucket. The error is [*RateLimited].
func (l *Limiter) Take(key string, now time.Time) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	own := l.own(key, now)
	b := l.others
	if own {
		b = l.buckets[key]
	}
	b, until, ok := b.Take(l.rate, now)
	if !ok {
		return &RateLimited{Whose: l.what, Rate: l.rate, Until: until}
	}
	l.put(own, key, b)
	return nil
}

// Return gives back what Take took for key.
func (l *Limiter) Return(key string, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if b, own := l.buckets[key]; own {
		l.put(true, key, b.Return(l.rate, now))
	} else {
		l.put(false, key, l.others.Return(l.rate, now))
	}
}

func (l *Limiter) put(own bool, key string, b Bucket) {
	if own {
		l.buckets[key] = b
	} else {
		l.others = b
	}
}

// own reports whether key has, or may get, a bucket of its own.
func (l *Limiter) own(key string, now time.Time) bool {
	if len(key) > maxKey {
		return false
	}
	if _, ok := l.buckets[key]; ok || len(l.buckets) < l.most {
		return true
	}
	l.sweep(now)
	return len(l.buckets) < l.most
}

// sweep forgets what is full again. It goes through all keys, so it does so a few
// times in the rate's span and no more.
func (l *Limiter) sweep(now time.Time) {
	if now.Sub(l.swept).Abs() < l.rate.span()/16 {
		return
	}
	l.swept = now
	for key, b := range l.buckets {
		if b = b.at(l.rate, now); b.Idle(now) {
			delete(l.buckets, key)
		} else {
			l.buckets[key] = b
		}
	}
}

// Len returns how many keys have a bucket of their own.
func (l *Limiter) Len() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.buckets)
}
