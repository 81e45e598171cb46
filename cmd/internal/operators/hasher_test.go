package operators

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// slow makes each hash last a second and counts them and the most at once.
type slow struct{ calls, now, most int }

func (s *slow) derive([]byte, []byte, uint32, uint32, uint8, uint32) []byte {
	s.calls++
	s.now++
	s.most = max(s.most, s.now)
	time.Sleep(time.Second) // within a bubble
	s.now--
	return make([]byte, sumSize)
}

// try checks a password and reports what came of it.
func try(ctx context.Context, h *Hasher) chan error {
	out := make(chan error, 1)
	go func() {
		_, _, err := h.Check(ctx, "", NewPassword(phrase))
		out <- err
	}()
	synctest.Wait()
	return out
}

func TestFewAtOnceAndBoundedQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, s := hasher(t, Hashing{Cost: cheap, AtOnce: 1, Queue: 2}), &slow{}
		h.derive = s.derive
		var waiting []chan error
		for range 3 {
			waiting = append(waiting, try(t.Context(), h))
		}
		wants(t, "a fourth", <-try(t.Context(), h), "RATE_LIMITED", "2 passwords wait")
		if s.calls != 1 {
			t.Errorf("%d hashed at once", s.calls)
		}
		began := time.Now()
		for _, w := range waiting {
			if err := <-w; err != nil {
				t.Error(err)
			}
		}
		if took := time.Since(began); took != 3*time.Second || s.calls != 3 || s.most != 1 {
			t.Errorf("%d hashes in %s, %d at once", s.calls, took, s.most)
		}
		if err := <-try(t.Context(), h); err != nil {
			t.Errorf("places leak: %v", err)
		}
	})
}

func TestWaitingEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, s := hasher(t, Hashing{Cost: cheap, AtOnce: 1, Queue: 1}), &slow{}
		h.derive = s.derive
		first := try(t.Context(), h)
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		defer cancel()
		began := time.Now()
		if err := <-try(ctx, h); !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != 300*time.Millisecond {
			t.Errorf("%v after %s", err, time.Since(began))
		}
		third := try(t.Context(), h) // the place of the second is free again
		if err := errors.Join(<-first, <-third); err != nil || s.calls != 2 {
			t.Errorf("%v, %d hashes", err, s.calls)
		}
	})
}
