package daemon_test

import (
	"context"
	"iter"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/ingotmetal/ingot/cmd/internal/simnet"
	"github.com/ingotmetal/ingot/cmd/internal/store"
)

// seeds is how many seeds a campaign lives through: INGOT_SEEDS, or few.
func seeds(t *testing.T, few int) int {
	t.Helper()
	text := os.Getenv("INGOT_SEEDS")
	if text == "" {
		return few
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("INGOT_SEEDS is %q, want a number of seeds", text)
	}
	return n
}

// Every seed keeps every promise, and goes the same way twice.
func TestCampaign(t *testing.T) {
	all := map[simnet.Kind]int{}
	n := seeds(t, 6)
	for seed := range uint64(n) {
		trace, faults, broken := run(t, seed, plant{})
		for _, b := range broken {
			t.Errorf("seed %d: %s", seed, b)
		}
		for k, v := range faults {
			all[k] += v
		}
		again, _, _ := run(t, seed, plant{})
		if again != trace {
			t.Errorf("seed %d went two ways: %x and %x", seed, trace[:4], again[:4])
		}
	}
	t.Logf("%d seeds, each twice; on the net happened %v", n, all)
	for _, k := range []simnet.Kind{simnet.Kill, simnet.Reset, simnet.Cut, simnet.Hold} {
		if all[k] == 0 {
			t.Errorf("no %s happened: the campaign proves nothing of it", k)
		}
	}
}

// Faults that are planted in the control plane are found by some seed.
func TestPlantedFaults(t *testing.T) {
	for _, p := range plants() {
		t.Run(p.name, func(t *testing.T) {
			for seed := range uint64(seeds(t, 20)) {
				if _, _, broken := run(t, seed, p); len(broken) > 0 {
					t.Logf("seed %d: %s", seed, strings.Join(broken, "; "))
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
