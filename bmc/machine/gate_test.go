package machine_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ingotmetal/ingot/bmc"
	"github.com/ingotmetal/ingot/bmc/machine"
)

func asError(err error) (*bmc.Error, bool) { return errors.AsType[*bmc.Error](err) }

func gateOf(t *testing.T, g *machine.Gates, l bmc.Limits) *machine.Gate {
	t.Helper()
	gate, err := g.Of(bmc.Endpoint{URL: "https://10.0.0.7"}, l)
	if err != nil {
		t.Fatal(err)
	}
	return gate
}

func TestGateIsFirstComeFirstServed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := gateOf(t, &machine.Gates{}, bmc.Limits{Concurrent: 2, Interval: 2 * time.Second})
		began := time.Now()
		var mu sync.Mutex
		var order []string
		var all sync.WaitGroup
		for i := range 6 {
			all.Go(func() {
				leave, err := g.Enter(t.Context())
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				order = append(order, fmt.Sprint(i, " at ", time.Since(began)))
				mu.Unlock()
				time.Sleep(5 * time.Second)
				leave()
				leave() // once is enough
			})
			synctest.Wait()
		}
		all.Wait()
		want := "[0 at 0s 1 at 2s 2 at 5s 3 at 7s 4 at 10s 5 at 12s]"
		if fmt.Sprint(order) != want {
			t.Errorf("%v, want %s", order, want)
		}
	})
}

// Many come, many go before their turn, and in the end every place is free.
func TestGateUnderCancellation(t *testing.T) {
	for seed := range uint64(20) {
		synctest.Test(t, func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 1))
			g := gateOf(t, &machine.Gates{}, bmc.Limits{Concurrent: 3, Interval: 50 * time.Millisecond})
			var mu sync.Mutex
			inside, most, served := 0, 0, 0
			var all sync.WaitGroup
			for range 200 {
				patience, work, at := rnd(r, 3000), rnd(r, 200), rnd(r, 3000)
				all.Go(func() {
					time.Sleep(at)
					ctx, cancel := context.WithTimeout(t.Context(), patience)
					defer cancel()
					leave, err := g.Enter(ctx)
					if err != nil {
						if e, ok := asError(err); !ok || e.Sent != bmc.SentNo || e.Kind != bmc.Unreachable || !errors.Is(err, context.DeadlineExceeded) {
							t.Errorf("%v", err)
						}
						return
					}
					mu.Lock()
					inside, served = inside+1, served+1
					most = max(most, inside)
					mu.Unlock()
					time.Sleep(work)
					mu.Lock()
					inside--
					mu.Unlock()
					leave()
				})
			}
			all.Wait()
			if most > 3 || served == 0 || served == 200 {
				t.Errorf("seed %d: %d at once, %d of 200 served", seed, most, served)
			}
			for range 3 { // nothing has leaked: three places are free at once
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				if _, err := g.Enter(ctx); err != nil {
					t.Errorf("seed %d: %v", seed, err)
				}
			}
		})
	}
}

func rnd(r *rand.Rand, ms int) time.Duration {
	return time.Duration(1+r.IntN(ms/50)) * 50 * time.Millisecond
}

// Who goes while it waits for the interval leaves the place to the next.
func TestGateIntervalIsGivenBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := gateOf(t, &machine.Gates{}, bmc.Limits{Concurrent: 2, Interval: 10 * time.Second})
		began := time.Now()
		for i, patience := range []time.Duration{time.Hour, time.Second, time.Hour} {
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			if leave, err := g.Enter(ctx); (err == nil) != (patience > time.Minute) {
				t.Errorf("%d: %v", i, err)
			} else if err == nil {
				defer leave()
			}
		}
		if took := time.Since(began); took != 10*time.Second {
			t.Errorf("the third began after %s", took)
		}
	})
}

// Who goes at the very instant of its turn does not take the place along. The
// intervals of a machine would hide it.
func TestGateTurnAtTheLastInstant(t *testing.T) {
	for range 50 {
		synctest.Test(t, func(t *testing.T) {
			g := gateOf(t, &machine.Gates{}, bmc.Limits{})
			first, err := g.Enter(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			var second sync.WaitGroup
			second.Go(func() {
				if leave, err := g.Enter(ctx); err == nil {
					leave()
				}
			})
			synctest.Wait()
			cancel()
			first()
			second.Wait()
			last, stop := context.WithTimeout(t.Context(), time.Second)
			defer stop()
			if _, err := g.Enter(last); err != nil {
				t.Fatalf("the place is gone: %v", err)
			}
		})
	}
}

func TestOneGateForOneBMC(t *testing.T) {
	var g machine.Gates
	same := [][]string{
		{"https://10.0.0.7", "https://10.0.0.7:443", "https://10.0.0.7/", "HTTPS://10.0.0.7", "https://10.0.0.7:0443", "https://[::ffff:10.0.0.7]"},
		{"https://bmc.example", "https://BMC.example", "https://bmc.example."},
		{"https://[fd00::7]:8443", "https://[fd00:0:0::7]:8443"},
		{"http://10.0.0.7", "http://10.0.0.7:80"},
		{"ipmi://10.0.0.7", "ipmi://10.0.0.7:623"},
		{"https://10.0.0.8"},
	}
	seen := map[*machine.Gate]string{}
	for _, urls := range same {
		first, err := g.Of(bmc.Endpoint{URL: urls[0]}, bmc.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		if other := seen[first]; other != "" {
			t.Errorf("%s and %s share a gate", urls[0], other)
		}
		seen[first] = urls[0]
		for _, u := range urls[1:] {
			if again, err := g.Of(bmc.Endpoint{URL: u}, bmc.Limits{}); err != nil || again != first {
				t.Errorf("%s is not %s (%v)", u, urls[0], err)
			}
		}
	}
	if _, err := g.Of(bmc.Endpoint{URL: "https://root:x@h"}, bmc.Limits{}); kindOf(err) != bmc.InvalidOption {
		t.Errorf("a URL with a user: %v", err)
	}
}

// silence is what a dead BMC comes to.
var silence = &bmc.Error{Kind: bmc.Unreachable, Op: "read", Sent: bmc.SentNo}

func fail(t *testing.T, g *machine.Gate, err error) error {
	t.Helper()
	_, done, refused := g.Try(t.Context())
	if refused == nil {
		done(err)
	}
	return refused
}

func TestBreaker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var said []string
		gates := &machine.Gates{Changed: func(key string, dead bool) { said = append(said, fmt.Sprint(key, " ", dead)) }}
		g := gateOf(t, gates, bmc.Limits{})
		busy := &bmc.Error{Kind: bmc.Busy, Op: "read", Sent: bmc.SentYes}
		for i, err := range []error{silence, silence, busy, silence, silence, context.Canceled, silence} { // an answer begins anew
			if refused := fail(t, g, err); refused != nil {
				t.Fatalf("%d: %v", i, refused)
			}
		}
		e, _ := asError(fail(t, g, nil))
		if e == nil || e.Kind != bmc.Unreachable || e.Sent != bmc.SentNo || e.After != 10*time.Second {
			t.Fatalf("open: %+v", e)
		}
		if _, err := g.Enter(t.Context()); kindOf(err) != bmc.Unreachable {
			t.Errorf("a request while it is open: %v", err)
		}
		time.Sleep(10 * time.Second)
		ctx, done, err := g.Try(t.Context())
		if err != nil {
			t.Fatalf("nobody may find out: %v", err)
		}
		if refused := fail(t, g, nil); refused == nil {
			t.Error("two find out at once")
		}
		if leave, err := g.Enter(ctx); err != nil {
			t.Errorf("the one that finds out has no turn: %v", err)
		} else {
			leave()
		}
		done(nil)
		if refused := fail(t, g, nil); refused != nil {
			t.Errorf("it is back: %v", refused)
		}
		if fmt.Sprint(said) != "[10.0.0.7:443 true 10.0.0.7:443 false]" {
			t.Errorf("told %v", said)
		}
	})
}

// Who is refused is told what was wrong.
func TestBreakerSaysWhy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := gateOf(t, &machine.Gates{}, bmc.Limits{})
		var err error
		for range 10 {
			err = fail(t, g, &bmc.Error{Kind: bmc.Unreachable, Op: "read", Sent: bmc.SentNo, Why: "no route to host"})
		}
		if e, ok := errors.AsType[*bmc.Error](err); !ok || e.Sent != bmc.SentNo || !strings.Contains(e.Why, "no route to host") || strings.Contains(e.Why, "the last time: it has") {
			t.Errorf("%v", err)
		}
	})
}

// For 5 minutes after its last answer a BMC may be restarting and is tried every
// 10 s; then it is tried more and more seldom.
func TestBreakerGrace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := gateOf(t, &machine.Gates{}, bmc.Limits{})
		last := time.Now()
		fail(t, g, nil)
		var tried []time.Duration
		for time.Since(last) < 30*time.Minute {
			if fail(t, g, silence) == nil {
				tried = append(tried, time.Since(last))
			}
			time.Sleep(time.Second)
		}
		var early int
		for i := 3; i < len(tried); i++ {
			gap := tried[i] - tried[i-1]
			switch {
			case tried[i] < 5*time.Minute:
				if early++; gap > 11*time.Second {
					t.Errorf("after %s it was left alone for %s", tried[i-1], gap)
				}
			case gap > 5*time.Minute+time.Second:
				t.Errorf("after %s it was left alone for %s", tried[i-1], gap)
			}
		}
		if late := len(tried) - early; early < 25 || late > 12 {
			t.Errorf("%d tries in the grace, %d after: %v", early, late, tried)
		}
	})
}

// Who waits when a BMC is taken for dead is sent home, and does not wait for a
// timeout of its own.
func TestBreakerSendsHomeWhoWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := gateOf(t, &machine.Gates{}, bmc.Limits{})
		leave, err := g.Enter(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		told := make(chan error, 1)
		go func() {
			_, err := g.Enter(t.Context())
			told <- err
		}()
		synctest.Wait()
		for range 3 {
			fail(t, g, silence)
		}
		if err := <-told; kindOf(err) != bmc.Unreachable {
			t.Errorf("%v", err)
		}
		leave()
	})
}
