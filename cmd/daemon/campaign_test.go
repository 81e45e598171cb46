package daemon_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/ingotmetal/ingot/cmd/internal/simnet"
	"github.com/ingotmetal/ingot/cmd/internal/store"
)

// seeds are the seeds that a campaign lives through: INGOT_SEEDS is their number, or
// the first and their number as in 40+10; else few, from 0 on.
func seeds(t *testing.T, few uint64) (first, n uint64) {
	t.Helper()
	text := os.Getenv("INGOT_SEEDS")
	if text == "" {
		return 0, few
	}
	from, count, both := strings.Cut(text, "+")
	if !both {
		from, count = "0", text
	}
	first, err1 := strconv.ParseUint(from, 10, 32)
	n, err2 := strconv.ParseUint(count, 10, 32)
	if err := errors.Join(err1, err2); err != nil || n == 0 {
		t.Fatalf("INGOT_SEEDS is %q, want a number of seeds, or the first and their number as in 40+10", text)
	}
	return first, n
}

// A start that fails closes what it was given, so that the next one can listen. Seed
// 47 found that it did not: a commit is refused in it just as the plane begins.
func TestFailedStartClosesItsListeners(t *testing.T) {
	if l := run(t, 47, plant{}, 1); len(l.broken) > 0 {
		t.Error(l.broken)
	}
}

// Every seed keeps every promise, and goes the same way twice.
func TestCampaign(t *testing.T) {
	all := map[simnet.Kind]int{}
	first, n := seeds(t, 6)
	for seed := first; seed < first+n; seed++ {
		l := run(t, seed, plant{}, everyEvent)
		for _, b := range l.broken {
			t.Errorf("seed %d: %s", seed, b)
		}
		for k, v := range l.faults {
			all[k] += v
		}
		if again := run(t, seed, plant{}, everyEvent); again.trace != l.trace {
			t.Errorf("seed %d went two ways: %x and %x; %s", seed, l.trace[:4], again.trace[:4], parting(l.log, again.log))
		}
	}
	t.Logf("%d seeds, each twice; on the net happened %v", n, all)
	for _, k := range []simnet.Kind{simnet.Kill, simnet.Reset, simnet.Cut, simnet.Hold} {
		if all[k] == 0 && n > 3 {
			t.Errorf("no %s happened: the campaign proves nothing of it", k)
		}
	}
}

// everyEvent is more than a life has.
const everyEvent = 1 << 20

// parting says where two logs differ.
func parting(one, other string) string {
	a, b := strings.Split(one, "\n"), strings.Split(other, "\n")
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			from := max(0, i-12)
			return fmt.Sprintf("they part at event %d:\n%s\n--- or\n%s", i, strings.Join(a[from:min(len(a), i+4)], "\n"), strings.Join(b[i:min(len(b), i+4)], "\n"))
		}
	}
	return "what differs is in the bytes"
}

// Faults that are planted in the control plane are found by some seed.
func TestPlantedFaults(t *testing.T) {
	for _, p := range plants() {
		t.Run(p.name, func(t *testing.T) {
			first, n := seeds(t, 20)
			for seed := first; seed < first+n; seed++ {
				if l := run(t, seed, p, 1); len(l.broken) > 0 {
					t.Logf("seed %d: %s", seed, strings.Join(l.broken, "; "))
					return
				}
			}
			t.Error("no seed finds it")
		})
	}
}

// plants are the faults, each a store that is wrong in one way.
func plants() []plant {
	return []plant{
		{"a commit that failed is acknowledged", func(s store.Store) store.Store { return lenient{s} }},
		{"the sweeper is blind", func(s store.Store) store.Store { return hides{s, "due/"} }},
		{"a key's index outlives it", func(s store.Store) store.Store { return deaf{s, "by/key/", false} }},
		{"idempotency keys are forgotten", func(s store.Store) store.Store { return deaf{s, store.LedgerPrefix + "used/", true} }},
		{"rows of the log are read before they are there", func(s store.Store) store.Store { return &skips{Store: s} }},
		{"a registration row is written late", func(s store.Store) store.Store { return deaf{s, "registration/", true} }},
	}
}

// lenient takes an unknown outcome for a success.
type lenient struct{ store.Store }

func (l lenient) Update(ctx context.Context, fn func(store.Tx) error) (store.Rev, error) {
	var rev store.Rev
	got, err := l.Store.Update(ctx, func(tx store.Tx) error {
		rev = store.Rev(tx.Head().Revision + 1)
		return fn(tx)
	})
	if _, unknown := err.(*store.Unknown); unknown {
		return rev, nil
	}
	return got, err
}

// hides shows views nothing below a prefix.
type hides struct {
	store.Store
	prefix string
}

func (h hides) View(ctx context.Context, fn func(store.Reader) error) error {
	return h.Store.View(ctx, func(r store.Reader) error { return fn(hidden{r, h.prefix}) })
}

type hidden struct {
	store.Reader
	prefix string
}

func (h hidden) Range(lo, hi string) iter.Seq2[string, []byte] {
	if strings.HasPrefix(lo, h.prefix) {
		return func(func(string, []byte) bool) {}
	}
	return h.Reader.Range(lo, hi)
}

// deaf does not hear of puts, or of deletes, below a prefix.
type deaf struct {
	store.Store
	prefix string
	puts   bool
}

func (d deaf) Update(ctx context.Context, fn func(store.Tx) error) (store.Rev, error) {
	return d.Store.Update(ctx, func(tx store.Tx) error { return fn(deafTx{tx, d}) })
}

type deafTx struct {
	store.Tx
	deaf
}

func (d deafTx) Put(key string, val []byte) {
	if d.puts && strings.HasPrefix(key, d.prefix) {
		if old, ok := d.Get(key); ok || d.prefix != "registration/" {
			_ = old
			return
		}
	}
	d.Tx.Put(key, val)
}

func (d deafTx) Delete(key string) {
	if !d.puts && strings.HasPrefix(key, d.prefix) {
		return
	}
	d.Tx.Delete(key)
}

// skips leaves out, now and then, the newest row but one of the log, as a store does
// whose revisions become visible out of order.
type skips struct {
	store.Store
	n atomic.Int64
}

func (s *skips) View(ctx context.Context, fn func(store.Reader) error) error {
	return s.Store.View(ctx, func(r store.Reader) error {
		if s.n.Add(1)%7 != 0 {
			return fn(r)
		}
		return fn(skipping{r})
	})
}

type skipping struct{ store.Reader }

func (s skipping) Range(lo, hi string) iter.Seq2[string, []byte] {
	return func(yield func(string, []byte) bool) {
		missing := store.LogKey(store.Rev(max(1, s.Head().Revision) - 1))
		for k, v := range s.Reader.Range(lo, hi) {
			if k != missing && !yield(k, v) {
				return
			}
		}
	}
}
