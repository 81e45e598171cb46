package simnet_test

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ingotmetal/ingot/cmd/internal/simnet"
	"pgregory.net/rapid"
)

func TestSettleWaitsForEverybody(t *testing.T) {
	in(t, simnet.Options{}, func(t *testing.T, n *simnet.Net) { // no latency: all at one instant
		a, b := connect(t, n)
		var rounds atomic.Int32
		for _, c := range []*simnet.Conn{a, b} {
			go func() {
				for buf := make([]byte, 1); ; {
					if _, err := c.Read(buf); err != nil || rounds.Add(1) >= 100 {
						return
					}
					c.Write(buf)
				}
			}()
		}
		start := time.Now()
		send(t, a, "x")
		n.Settle()
		if k, d := rounds.Load(), time.Since(start); k != 100 || d != 0 {
			t.Errorf("%d rounds after %s", k, d)
		}
		a.Close()
		b.Close()
	})
}

func TestOffsets(t *testing.T) {
	of := func(seed uint64, name string) (d time.Duration) {
		synctest.Test(t, func(*testing.T) {
			n := simnet.New(seed, simnet.Options{})
			defer n.Close()
			d = n.Offset(name)
		})
		return d
	}
	seen := map[time.Duration]bool{}
	for seed := range uint64(10) {
		for i := range 10 {
			d := of(seed, fmt.Sprint(i))
			if seen[d] || d < 0 || d >= time.Second || d != of(seed, fmt.Sprint(i)) {
				t.Errorf("seed %d, loop %d: %s", seed, i, d)
			}
			seen[d] = true
		}
	}
}

// TestSwarm demands that each fault of a rule is off for some seeds, on for
// others, and never quite certain to hit everything.
func TestSwarm(t *testing.T) {
	on := map[string]int{}
	for seed := range uint64(200) {
		r := simnet.Swarm(seed)
		if r != simnet.Swarm(seed) {
			t.Fatalf("seed %d draws two rules", seed)
		}
		for name, rate := range map[string]float64{
			"drop": r.Drop, "duplicate": r.Duplicate, "reorder": r.Reorder, "stall": r.Stall,
			"reset": r.Reset, "segment": r.Segment, "bandwidth": float64(r.Bandwidth),
		} {
			if rate > 0 {
				on[name]++
			}
			if rate > 1 && name != "bandwidth" {
				t.Errorf("seed %d: %s at a rate of %g", seed, name, rate)
			}
		}
		if r.Latency.Min <= 0 || r.Latency.Max < r.Latency.Min || r.Latency.Max > 10*time.Second {
			t.Errorf("seed %d: %+v", seed, r.Latency)
		}
	}
	for name, k := range on {
		if k < 70 || k > 130 {
			t.Errorf("%s is on for %d of 200 seeds", name, k)
		}
	}
	if len(on) != 7 {
		t.Errorf("on: %v", on)
	}
}

// TestStreamsKeepTheirBytes writes, reads, cuts and waits at random: what is
// read is the beginning of what was written, and all of it in the end, unless a
// reset says otherwise.
func TestStreamsKeepTheirBytes(t *testing.T) {
	total := map[simnet.Kind]int{}
	rapid.Check(t, func(t *rapid.T) {
		seed, window := rapid.Uint64().Draw(t, "seed"), rapid.IntRange(1, 3000).Draw(t, "window")
		steps := rapid.SliceOfN(rapid.SampledFrom([]string{"write", "write", "cut", "heal", "clog", "unclog", "wait", "wait"}), 30, -1).Draw(t, "steps")
		rule := simnet.Swarm(seed)
		rule.Reset = rapid.SampledFrom([]float64{0, 0, 0.1}).Draw(t, "resets")
		rapid.SyncTest(t, func(t *rapid.T) {
			n := simnet.New(seed, simnet.Options{Rule: rule, Window: window})
			defer n.Close()
			sent, got, err := stream(t, n, steps)
			if !strings.HasPrefix(sent, got) || err == nil && got != sent {
				t.Fatalf("wrote %q, read %q, %v", sent, got, err)
			}
			for k, times := range n.Counts() {
				total[k] += times
			}
		})
	})
	for _, k := range []simnet.Kind{simnet.Deliver, simnet.End, simnet.Credit, simnet.Hold, simnet.Release, simnet.Stall, simnet.Segment, simnet.Break, simnet.Reset} {
		if total[k] == 0 {
			t.Errorf("no %s: %v", k, total)
		}
	}
}

// stream takes the steps with a connection from a to b.
func stream(t *rapid.T, n *simnet.Net, steps []string) (sent, got string, err error) {
	l, err := n.Listen("tcp", "b:80")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	a, err := n.Host("a").DialContext(context.Background(), "tcp", "b:80")
	if err != nil {
		t.Fatal(err)
	}
	b, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	var in, out strings.Builder
	done := make(chan error)
	go func() { _, err := io.Copy(&in, b); done <- err }()
	for i, s := range steps {
		act(n, s, func() {
			a.SetWriteDeadline(time.Now().Add(20 * time.Millisecond))
			k, _ := a.Write([]byte(strings.Repeat(fmt.Sprint(i, " "), 1+i*37%500)))
			fmt.Fprint(&out, strings.Repeat(fmt.Sprint(i, " "), 1+i*37%500)[:k])
		})
	}
	n.Heal("a", "b")
	for range steps {
		n.Unclog("b")
	}
	a.(*simnet.Conn).CloseWrite()
	err = <-done
	return out.String(), in.String(), err
}

func act(n *simnet.Net, step string, write func()) {
	switch step {
	case "write":
		write()
	case "cut":
		n.Cut("a", "b")
	case "heal":
		n.Heal("a", "b")
	case "clog":
		n.Clog("b")
	case "unclog":
		n.Unclog("b")
	case "wait":
		time.Sleep(3 * time.Millisecond)
	}
}
