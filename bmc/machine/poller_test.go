package machine_test

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ingotmetal/ingot/bmc"
	"github.com/ingotmetal/ingot/bmc/machine"
)

// A fleet is many machines that are only polled.
type fleet struct {
	size    int
	dead    func(i int) bool
	latency time.Duration
	p       machine.Polling

	mu       sync.Mutex
	began    [][]time.Time
	reports  map[string]int
	inFlight int
	most     int
	idle     int // goroutines while nobody is polled
}

func (f *fleet) poll(i int) machine.Target {
	return func(ctx context.Context) (bmc.PowerObservation, error) {
		f.mu.Lock()
		f.began[i] = append(f.began[i], time.Now())
		f.inFlight++
		f.most = max(f.most, f.inFlight)
		f.mu.Unlock()
		defer func() {
			f.mu.Lock()
			f.inFlight--
			f.mu.Unlock()
		}()
		wait := f.latency
		if f.dead != nil && f.dead(i) {
			wait = time.Hour
		}
		select {
		case <-time.After(wait):
			return bmc.PowerObservation{State: bmc.On}, nil
		case <-ctx.Done():
			return bmc.PowerObservation{}, &bmc.Error{Kind: bmc.Unreachable, Op: "read", Err: ctx.Err()}
		}
	}
}

// run polls the fleet for so long.
func (f *fleet) run(t *testing.T, d time.Duration) {
	t.Helper()
	f.began, f.reports = make([][]time.Time, f.size), map[string]int{}
	p := machine.NewPoller(f.p, func(key string, _ bmc.PowerObservation, _ error) {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.reports[key]++
	}, nil)
	for i := range f.size {
		p.Add(fmt.Sprint("machine-", i), f.poll(i))
	}
	ctx, cancel := context.WithTimeout(t.Context(), d)
	defer cancel()
	f.idle = runtime.NumGoroutine()
	p.Run(ctx)
	if f.inFlight != 0 {
		t.Errorf("Run left %d polls behind", f.inFlight)
	}
}

// gap is the longest that a living machine went without a poll, from its first on.
func (f *fleet) gap() time.Duration {
	var out time.Duration
	for i, times := range f.began {
		if f.dead != nil && f.dead(i) {
			continue
		}
		for n := 1; n < len(times); n++ {
			out = max(out, times[n].Sub(times[n-1]))
		}
	}
	return out
}

// 10,000 machines, 100 of them dead: no living one waits more than 5 % longer for
// its poll, from the first minute on.
func TestDeadOnesDoNotDelayTheRest(t *testing.T) {
	size, span := 10000, 5*time.Minute
	if testing.Short() {
		size = 2000
	}
	inFlight := size / 100 // what the living need is 67 of 100
	for _, dead := range []func(int) bool{nil, func(i int) bool { return i%100 == 7 }} {
		synctest.Test(t, func(t *testing.T) {
			f := &fleet{size: size, latency: 400 * time.Millisecond, dead: dead, p: machine.Polling{InFlight: inFlight, Seed: 7}}
			f.run(t, span)
			polls := 0
			for i, times := range f.began {
				if dead == nil || !dead(i) {
					polls += len(times)
				}
			}
			living := len(slices.DeleteFunc(slices.Collect(indices(size)), func(i int) bool { return dead != nil && dead(i) }))
			if gap := f.gap(); gap > 63*time.Second || polls < living*5*95/100 {
				t.Errorf("with dead ones %v: a living machine waited %s, %d polls of %d", dead != nil, gap, polls, living*5)
			}
			if f.most > inFlight+32+10 {
				t.Errorf("%d polls at once", f.most)
			}
			if f.idle > 50 {
				t.Errorf("%d goroutines for %d machines that wait", f.idle, size)
			}
		})
	}
}

func indices(n int) func(func(int) bool) {
	return func(yield func(int) bool) {
		for i := range n {
			if !yield(i) {
				return
			}
		}
	}
}

// One that does not answer is polled more and more seldom, and as before once
// it answers.
func TestPollerBacksOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		back := time.Now().Add(2 * time.Hour)
		f := &fleet{size: 1, dead: func(int) bool { return time.Now().Before(back) }}
		f.run(t, 3*time.Hour)
		var gaps []time.Duration
		for i := 1; i < len(f.began[0]); i++ {
			gaps = append(gaps, f.began[0][i].Sub(f.began[0][i-1]).Round(time.Minute))
		}
		if len(gaps) < 20 || fmt.Sprint(gaps[:6]) != "[1m0s 2m0s 4m0s 8m0s 10m0s 10m0s]" || gaps[len(gaps)-1] != time.Minute {
			t.Errorf("%v", gaps)
		}
	})
}

// More slow ones than there is room for are ended early, not kept.
func TestPollerEndsTooManySlowOnes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fleet{size: 200, dead: func(int) bool { return true }, p: machine.Polling{InFlight: 20, Slow: 5}}
		f.run(t, 10*time.Minute)
		if f.most > 20+5+20 || len(f.reports) != 200 {
			t.Errorf("%d at once, %d machines reported", f.most, len(f.reports))
		}
	})
}

// A machine that is slow and answers is no dead one.
func TestPollerKeepsSlowOnes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fleet{size: 3, latency: 18 * time.Second, p: machine.Polling{InFlight: 1}}
		f.run(t, 10*time.Minute+30*time.Second)
		for i, times := range f.began {
			if len(times) < 10 {
				t.Errorf("machine %d was polled %d times", i, len(times))
			}
		}
	})
}

func TestPollerAddAndRemove(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fleet{size: 2, latency: time.Second}
		f.began = make([][]time.Time, 2)
		reports := map[string]int{}
		var mu sync.Mutex
		p := machine.NewPoller(machine.Polling{}, func(key string, _ bmc.PowerObservation, _ error) {
			mu.Lock()
			defer mu.Unlock()
			reports[key]++
		}, nil)
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { p.Run(ctx) })
		time.Sleep(5 * time.Hour)
		p.Add("a", f.poll(0))
		p.Add("b", f.poll(1))
		p.Add("b", f.poll(1)) // is replaced, not doubled
		time.Sleep(10 * time.Minute)
		p.Remove("a")
		p.Remove("c")
		time.Sleep(10 * time.Minute)
		cancel()
		running.Wait()
		if reports["a"] != 10 || reports["b"] != 20 || len(f.began[1]) != 20 {
			t.Errorf("%v, b was polled %d times", reports, len(f.began[1]))
		}
	})
}

// Seeds decide who is polled when; keys that count up are spread over the period.
func TestPollerSpreads(t *testing.T) {
	var firsts [2]string
	for seed := range firsts {
		synctest.Test(t, func(t *testing.T) {
			f := &fleet{size: 600, p: machine.Polling{Seed: uint64(seed)}}
			began := time.Now()
			f.run(t, time.Minute)
			var seconds [60]int
			for _, times := range f.began {
				seconds[int(times[0].Sub(began)/time.Second)]++
			}
			if most := slices.Max(seconds[:]); most > 30 {
				t.Errorf("seed %d: %d of 600 begin in one second", seed, most)
			}
			firsts[seed] = fmt.Sprint(seconds)
		})
	}
	if firsts[0] == firsts[1] {
		t.Error("two seeds spread alike")
	}
}
