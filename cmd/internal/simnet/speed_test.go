package simnet_test

import (
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ingotmetal/ingot/cmd/internal/simnet"
)

// cost is the real time of a delivery while so many are under way: each of many
// hosts and one server answer each other.
func cost(t *testing.T, hosts int) time.Duration {
	const deliveries = 20000
	start, seen := time.Now(), 0
	synctest.Test(t, func(t *testing.T) {
		n := simnet.New(1, simnet.Options{Rule: simnet.Rule{Latency: simnet.Span{Min: time.Millisecond, Max: time.Second}}})
		defer n.Close()
		l, err := n.Listen("tcp", "server:80")
		if err != nil {
			t.Fatal(err)
		}
		var all sync.WaitGroup
		for i := range hosts {
			h := n.Host(fmt.Sprint("h", i))
			all.Go(func() {
				c, err := h.DialContext(t.Context(), "tcp", "server:80")
				if err != nil {
					t.Error(err)
					return
				}
				defer c.Close()
				for b := make([]byte, 100); ; c.Write(b) {
					if _, err := c.Read(b); err != nil {
						return
					}
				}
			})
			all.Go(func() {
				c, err := l.Accept()
				if err != nil {
					t.Error(err)
					return
				}
				defer c.Close()
				b := make([]byte, 100)
				for range deliveries / hosts / 2 {
					c.Write(b)
					if _, err := c.Read(b); err != nil {
						return
					}
				}
			})
		}
		all.Wait()
		seen = n.Counts()[simnet.Deliver]
	})
	if seen != deliveries {
		t.Fatalf("%d deliveries", seen)
	}
	return time.Since(start) / deliveries
}

// TestCostOfADelivery demands that a delivery does not get dear when many are
// under way: it looks for a place in a heap, and not through them all.
func TestCostOfADelivery(t *testing.T) {
	if raceDetector || testing.Short() {
		t.Skip("costs say nothing under the race detector: run without -race and -short")
	}
	few, many := cost(t, 10), cost(t, 2000)
	t.Logf("%s with 10 under way, %s with 2000", few, many)
	if many > 20*few {
		t.Errorf("a delivery costs %s with 10 under way and %s with 2000", few, many)
	}
}
