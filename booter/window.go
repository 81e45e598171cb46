package booter

import "time"

// Window counts events of each key in a sliding span of time. It holds a
// bounded number of keys, and of each at most [Limit] Max events: enough to
// know that the limit is reached. It is not safe for concurrent use.
type Window[K comparable] struct {
	limit Limit
	keys  lru[K, []time.Duration] // ascending, since start
	start time.Time
}

// NewWindow returns an empty window of at most keys keys, 1 or more. When it
// is full, the key with the oldest last event is forgotten, so its count
// starts anew: the caller who must not be outrun gives it room for a whole
// span. A limit of no events or no time always counts 0.
func NewWindow[K comparable](l Limit, keys int) *Window[K] {
	return &Window[K]{limit: l, keys: newLRU[K, []time.Duration](keys)}
}

// Count returns the events of k in the span that ends at now, an event at now
// included and one a whole span ago not. It is at most the limit's Max. A
// clock that went back forgets k, rather than keep it waiting.
func (w *Window[K]) Count(k K, now time.Time) int {
	v := w.keys.get(k)
	if v == nil {
		return 0
	}
	at := now.Sub(w.start)
	if (*v)[len(*v)-1] > at {
		w.keys.drop(k)
		return 0
	}
	for len(*v) > 0 && at-(*v)[0] >= w.limit.Per {
		*v = (*v)[1:]
	}
	if len(*v) == 0 {
		w.keys.drop(k)
		return 0
	}
	return len(*v)
}

// Add records an event of k at now.
func (w *Window[K]) Add(k K, now time.Time) {
	if w.limit.Max <= 0 || w.limit.Per <= 0 {
		return
	}
	if w.start.IsZero() {
		w.start = now
	}
	full := w.Count(k, now) >= w.limit.Max
	v := w.keys.touch(k)
	if full {
		*v = (*v)[1:]
	}
	*v = append(*v, now.Sub(w.start))
}

// Len is the number of keys held.
func (w *Window[K]) Len() int { return w.keys.order.Len() }
