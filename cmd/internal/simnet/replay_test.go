package simnet_test

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/cryptotest"
	"testing/synctest"
	"time"

	"github.com/ingotmetal/ingot/cmd/internal/simnet"
)

// A history is what two runs of a seed must share.
type history struct {
	trace [32]byte
	log   string
	count map[simnet.Kind]int
	said  string // what the clients of the run report, in their own order
}

// chat lets 20 hosts send five requests each, all at the same instants.
// Meanwhile harm, if not nil, does what it likes to the net.
func chat(t *testing.T, over string, seed uint64, o simnet.Options, harm func(*simnet.Net)) (h history) {
	cryptotest.SetGlobalRandom(t, seed)
	synctest.Test(t, func(t *testing.T) {
		n := simnet.New(seed, o)
		defer n.Close()
		w := serve(t, n, over, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if b, err := io.ReadAll(r.Body); err == nil {
				fmt.Fprintf(w, "%s from %s", b, r.RemoteAddr)
			}
		}))
		var clients sync.WaitGroup
		said := make([]strings.Builder, 20)
		for i := range said {
			c := w.on(n.Host(fmt.Sprintf("client-%d", i)))
			clients.Go(func() {
				defer c.CloseIdleConnections()
				for beat := range 5 {
					time.Sleep(time.Duration(beat) * time.Second)
					got, err := post(c, w.url(), fmt.Sprintf("beat %d of %d", beat, i))
					fmt.Fprintln(&said[i], got, err)
				}
			})
		}
		if harm != nil {
			harm(n)
		}
		clients.Wait()
		w.stop(t)
		n.Settle()
		h = history{trace: n.Trace(), log: n.Log(), count: n.Counts()}
		for i := range said {
			h.said += said[i].String()
		}
	})
	return h
}

// nemesis does every kind of harm while the clients talk, and takes it back.
func nemesis(n *simnet.Net) {
	at := n.Offset("nemesis")
	time.Sleep(at)
	n.Swizzle([]string{"client-0", "client-1", "client-2", "client-3", "client-4", "client-5"}, 5*time.Second)
	n.Cut("client-6", "server")
	n.Partition([]string{"client-7", "client-8"}, []string{"server"})
	time.Sleep(at)
	n.Kill("client-9")
	n.PowerOff("client-10")
	time.Sleep(at)
	n.ResetBetween("*", "server")
	n.Heal("client-6", "server")
	n.Rejoin([]string{"client-7", "client-8"}, []string{"server"})
	n.PowerOn("client-10")
}

// seeds is how many seeds a test of replays tries; INGOT_SEEDS asks for another
// number. Of HTTP/2 under harm few are enough to ask for: its flushes follow the
// chance of a select, and about one seed in a hundred goes two ways.
func seeds(few int) uint64 {
	if raceDetector || testing.Short() {
		return 3
	}
	if n, err := strconv.ParseUint(os.Getenv("INGOT_SEEDS"), 10, 32); err == nil && n > 0 {
		return n
	}
	return uint64(few)
}

// replay demands that a seed goes the same way on one processor and on two, each
// time.
func replay(t *testing.T, seed uint64, run func() history) history {
	t.Helper()
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	first := run()
	for _, procs := range []int{2, 1, 1} {
		runtime.GOMAXPROCS(procs)
		if again := run(); again.trace != first.trace || again.said != first.said {
			t.Errorf("seed %d went two ways, with %d processors the second time:\n%s", seed, procs, parting(first.log+first.said, again.log+again.said))
			break
		}
	}
	return first
}

// parting is where two logs differ first, and the lines around it.
func parting(a, b string) string {
	as, bs := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range min(len(as), len(bs)) {
		if as[i] != bs[i] {
			return fmt.Sprintf("%s\nthen\n%s\nor\n%s", strings.Join(as[max(0, i-5):i], "\n"), as[i], bs[i])
		}
	}
	return "the logs agree as far as they go"
}

func TestSameSeedSameHistory(t *testing.T) {
	ties := simnet.Rule{Latency: simnet.Span{Min: time.Millisecond}}
	for _, c := range []struct {
		over   string
		detail simnet.Detail
		few    int
	}{
		{"http1", simnet.Bytes, 5},
		{"https1", simnet.Bytes, 2},
		{"http2", simnet.Lengths, 3},
	} {
		for _, kind := range []string{"ties", "swarm", "harm"} {
			t.Run(c.over+"/"+kind, func(t *testing.T) {
				traces, total := map[[32]byte]uint64{}, map[simnet.Kind]int{}
				for seed := range seeds(c.few) {
					o := simnet.Options{Rule: ties, Detail: c.detail, Log: 10000}
					harm := nemesis
					if kind != "harm" {
						harm = nil
					}
					if kind != "ties" {
						o.Rule = simnet.Swarm(seed)
					}
					h := replay(t, seed, func() history { return chat(t, c.over, seed, o, harm) })
					if other, ok := traces[h.trace]; ok {
						t.Errorf("the seeds %d and %d went the same way", other, seed)
					}
					traces[h.trace] = seed
					for k, times := range h.count {
						total[k] += times
					}
				}
				t.Log(total)
			})
		}
	}
}
