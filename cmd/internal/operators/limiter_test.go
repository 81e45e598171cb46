package operators

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func limiter(t fataler, r Rate, most int) *Limiter {
	l, err := NewLimiter("caller", r, most)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestLimiterAgreesWithBuckets(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r, now, plain := rates.Draw(t, "rate"), noon, map[string]Bucket{}
		l := limiter(t, r, 3)
		for range rapid.IntRange(1, 60).Draw(t, "calls") {
			now = now.Add(time.Duration(rapid.Int64Range(0, int64(r.step())).Draw(t, "wait")))
			key := rapid.SampledFrom([]string{"x", "y", "z"}).Draw(t, "key")
			if rapid.IntRange(0, 4).Draw(t, "return") == 0 {
				l.Return(key, now)
				plain[key] = plain[key].Return(r, now)
				continue
			}
			b, until, ok := plain[key].Take(r, now)
			err := l.Take(key, now)
			if (err == nil) != ok || !ok && err.(*RateLimited).Until != until {
				t.Fatalf("%s: %v, want %v until %s", key, err, ok, until)
			}
			plain[key] = b
		}
	})
}

func TestAMillionKeysDoNotGrowTheLimiter(t *testing.T) {
	l := limiter(t, Rate{2, time.Minute}, 100)
	passed := 0
	for i := range 1_000_000 {
		if l.Take(fmt.Sprint(i), noon) == nil {
			passed++
		}
	}
	if l.Len() != 100 || passed != 100+2 {
		t.Errorf("%d keys, %d passed", l.Len(), passed)
	}
	if err := l.Take("7", noon); err != nil {
		t.Errorf("a known one is refused for the others: %v", err)
	}
	later := noon.Add(2 * time.Minute)
	if err := l.Take("new", later); err != nil || l.Len() != 1 {
		t.Errorf("%d keys, %v", l.Len(), err)
	}
}

// While it is full of keys that are not yet idle, it does not go through all of
// them at each call.
func TestSweepsAreRare(t *testing.T) {
	l := limiter(t, Rate{16, 16 * time.Second}, 2)
	for _, key := range []string{"a", "b"} {
		for range 16 {
			if err := l.Take(key, noon); err != nil {
				t.Fatal(err)
			}
		}
	}
	sweeps, last := 0, l.swept
	for ms := range 8000 {
		_ = l.Take("c", noon.Add(time.Duration(ms)*time.Millisecond))
		if l.swept != last {
			sweeps, last = sweeps+1, l.swept
		}
	}
	if sweeps == 0 || sweeps > 9 {
		t.Errorf("%d sweeps in 8 s", sweeps)
	}
}

func TestLongKeysShare(t *testing.T) {
	l := limiter(t, Rate{1, time.Minute}, 10)
	if err := l.Take(strings.Repeat("x", 257), noon); err != nil || l.Len() != 0 {
		t.Errorf("%d keys, %v", l.Len(), err)
	}
	wants(t, "another", l.Take(strings.Repeat("y", 300), noon), "RATE_LIMITED", "(caller): at most 1 in 1m0s; try again at 2026-05-01T12:01:00Z")
	l.Return(strings.Repeat("z", 300), noon)
	if err := l.Take(strings.Repeat("y", 300), noon); err != nil {
		t.Error(err)
	}
	if _, err := NewLimiter("x", Rate{}, 1); err == nil {
		t.Error("a limiter of no rate")
	}
}

func TestLimitersAreSharedSafely(t *testing.T) {
	l := limiter(t, Rate{100, time.Hour}, 4)
	var passed atomic.Int64
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 50 {
				if l.Take("x", noon) == nil {
					passed.Add(1)
				}
			}
		})
	}
	all.Wait()
	if passed.Load() != 100 {
		t.Errorf("%d passed", passed.Load())
	}
}
