package liveness_test

import (
	"encoding/binary"
	"iter"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"github.com/ingotmetal/ingot/liveness"
)

const million = 1_000_000

// id is a node's 16-byte name.
func id(n int) (k [16]byte) {
	binary.BigEndian.PutUint64(k[8:], uint64(n))
	return k
}

// fleet opens n sessions and returns their handles in a shuffled order, so that
// beats miss the cache as they would on a gateway.
func fleet(b *testing.B, n int) (*liveness.Ledger[[16]byte], []liveness.Handle) {
	b.Helper()
	l := liveness.NewLedger[[16]byte](n)
	hs := make([]liveness.Handle, n)
	for i := range hs {
		h, err := l.Open(id(i), 1, liveness.At(0))
		if err != nil {
			b.Fatal(err)
		}
		hs[i] = h
	}
	r := rand.New(rand.NewPCG(1, 2))
	r.Shuffle(n, func(i, j int) { hs[i], hs[j] = hs[j], hs[i] })
	return l, hs
}

// BenchmarkBeat beats in random order over a million sessions.
func BenchmarkBeat(b *testing.B) {
	l, hs := fleet(b, million)
	b.ReportAllocs()
	i := 0
	now := liveness.At(0)
	for b.Loop() {
		now++
		if err := l.Beat(hs[i], now); err != nil {
			b.Fatal(err)
		}
		if i++; i == len(hs) {
			i = 0
		}
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds()/1e6, "Mbeats/s")
}

// BenchmarkLedgerMemory reports what the heap holds for a node, names included.
func BenchmarkLedgerMemory(b *testing.B) {
	var perNode float64
	for b.Loop() {
		before := heap()
		l := liveness.NewLedger[[16]byte](0) // grown, not sized: the worse case
		for i := range million {
			if _, err := l.Open(id(i), 1, liveness.At(0)); err != nil {
				b.Fatal(err)
			}
		}
		perNode = float64(heap()-before) / million
		runtime.KeepAlive(l)
	}
	b.ReportMetric(perNode, "B/node")
}

func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

func BenchmarkFlush1M(b *testing.B) {
	l, _ := fleet(b, million)
	b.ReportAllocs()
	for b.Loop() {
		for r := range l.Rows(liveness.At(time.Second)) {
			_ = r
		}
	}
}

// nodes is a million observations in domains of 32, all connected but every
// thousandth, which is due to be unreachable.
func nodes(now liveness.Instant) []liveness.Observation {
	pool := &liveness.Pool{Kind: "metal"}
	os := make([]liveness.Observation, million)
	for i := range os {
		os[i] = liveness.Observation{
			State: liveness.Connected, Since: liveness.At(0), Open: true, AsOf: now,
			Connected: liveness.At(0), Flushed: now.Add(-time.Duration(i%25) * time.Second),
			Gateway: "gw-1", Pool: pool, Domain: liveness.Domain(i / 32),
		}
		if i%1000 == 0 {
			os[i].Flushed = now.Add(-time.Minute)
		}
	}
	return os
}

// each yields observations by their index.
func each(os []liveness.Observation) iter.Seq2[int, *liveness.Observation] {
	return func(yield func(int, *liveness.Observation) bool) {
		for i := range os {
			if !yield(i, &os[i]) {
				return
			}
		}
	}
}

func BenchmarkSweep1M(b *testing.B) {
	now := liveness.At(time.Hour)
	os := nodes(now)
	t := liveness.Tick{Graces: &liveness.Graces{}, Previous: now.Add(-5 * time.Second), Now: now}
	changed := 0
	b.ReportAllocs()
	for b.Loop() {
		changed = 0
		seq, rep := liveness.Sweep(t, each(os))
		for range seq {
			changed++
		}
		if rep.Nodes != million || changed != million/1000 {
			b.Fatalf("%+v, %d changed", rep, changed)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/million, "ns/node")
}

// BenchmarkSweepCut1M sweeps the worst case: every node is silent, none in a
// grace, and every domain freezes.
func BenchmarkSweepCut1M(b *testing.B) {
	now := liveness.At(time.Hour)
	os := nodes(now)
	for i := range os {
		os[i].Flushed = now.Add(-time.Minute)
	}
	g := &liveness.Graces{}
	g.GatewayLost(liveness.Windows{}, "gw-2", now)
	t := liveness.Tick{Graces: g, Previous: now.Add(-5 * time.Second), Now: now}
	for b.Loop() {
		if _, rep := liveness.Sweep(t, each(os)); rep.Held != million {
			b.Fatalf("%d held", rep.Held)
		}
	}
}

func BenchmarkJudge(b *testing.B) {
	now := liveness.At(time.Hour)
	o := liveness.Observation{State: liveness.Connected, Connected: liveness.At(0), Disconnected: now.Add(-time.Minute), Gateway: "gw-1"}
	g := &liveness.Graces{}
	g.GatewayLost(liveness.Windows{}, "gw-1", now.Add(-time.Minute))
	b.ReportAllocs()
	for b.Loop() {
		if (liveness.Windows{}).Judge(o, g, now) != liveness.Disconnected {
			b.Fatal("grace forgotten")
		}
	}
}
