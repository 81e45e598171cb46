package bolt

import (
	"sync"
	"time"
)

// readers are the views and backups that are under way.
type readers struct {
	mu    sync.Mutex
	next  int
	begun map[int]time.Time
	all   sync.WaitGroup
}

// enter notes one that begins now, and returns how it ends.
func (r *readers) enter(now time.Time) func() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.begun == nil {
		r.begun = map[int]time.Time{}
	}
	id := r.next
	r.next++
	r.begun[id] = now
	r.all.Add(1)
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(r.begun, id)
		r.all.Done()
	}
}

// wait waits for those under way. Nobody may enter any more.
func (r *readers) wait() { r.all.Wait() }

// oldest is how many there are, and for how long the oldest has read.
func (r *readers) oldest(now time.Time) (n int, age time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, t := range r.begun {
		age = max(age, now.Sub(t))
	}
	return len(r.begun), age
}
