package simnet_test

import (
	"fmt"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ingotmetal/ingot/cmd/internal/simnet"
)

// A desk hands out numbers. Between looking at the last one and writing down the
// next it waits for somebody else, which is the planted fault.
type desk struct {
	mu   sync.Mutex
	last int
	wait time.Duration
}

func (d *desk) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	d.mu.Lock()
	next := d.last + 1
	d.mu.Unlock()
	time.Sleep(d.wait)
	d.mu.Lock()
	d.last = next
	d.mu.Unlock()
	fmt.Fprint(w, next)
}

// queueUp lets four hosts take one number each from a desk, and returns who got
// which.
func queueUp(t *testing.T, seed uint64, d *desk, start func(*simnet.Net, string) time.Duration) (h history) {
	synctest.Test(t, func(t *testing.T) {
		n := simnet.New(seed, simnet.Options{Rule: simnet.Rule{Latency: simnet.Span{Min: time.Millisecond, Max: 20 * time.Millisecond}}})
		defer n.Close()
		w := serve(t, n, "http1", d)
		got := make([]string, 4)
		var clients sync.WaitGroup
		for i := range got {
			name := fmt.Sprint("client-", i)
			c := w.on(n.Host(name))
			clients.Go(func() {
				defer c.CloseIdleConnections()
				time.Sleep(start(n, name))
				got[i], _ = post(c, w.url(), "")
			})
		}
		clients.Wait()
		w.stop(t)
		h = history{trace: n.Trace(), said: fmt.Sprint(got)}
	})
	return h
}

// twice reports whether a number was handed out twice.
func twice(said string) bool {
	var a, b, c, d int
	fmt.Sscanf(said, "[%d %d %d %d]", &a, &b, &c, &d)
	return a+b+c+d != 1+2+3+4
}

// TestPlantedRaceIsFound demands that some seed, and not every one, shows the
// race of the desk, and that it then always does.
func TestPlantedRaceIsFound(t *testing.T) {
	found := 0
	const tries = 100
	for seed := range uint64(tries) {
		run := func() history { return queueUp(t, seed, &desk{wait: 5 * time.Millisecond}, (*simnet.Net).Offset) }
		if twice(run().said) {
			found++
			replay(t, seed, run)
		}
	}
	t.Logf("%d of %d seeds show it", found, tries)
	if found == 0 || found == tries {
		t.Errorf("%d of %d seeds show the planted race", found, tries)
	}
}

// TestTiesAreTheSeeds lets clients come at the same instant to a desk without
// the fault: who is first is the seed's to say, and nobody else's.
func TestTiesAreTheSeeds(t *testing.T) {
	orders := map[string]bool{}
	for seed := range uint64(20) {
		h := replay(t, seed, func() history {
			return queueUp(t, seed, &desk{}, func(*simnet.Net, string) time.Duration { return time.Second })
		})
		if twice(h.said) {
			t.Errorf("seed %d: %s", seed, h.said)
		}
		orders[h.said] = true
	}
	if len(orders) < 10 {
		t.Errorf("20 seeds know %d orders only", len(orders))
	}
}
