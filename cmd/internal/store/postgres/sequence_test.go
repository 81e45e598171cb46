package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ingotmetal/ingot/cmd/internal/store"
	"github.com/ingotmetal/ingot/cmd/internal/store/postgres"
)

var errRefused = errors.New("refused")

// rows are what a store should hold.
type rows map[string]string

func (r rows) between(lo, hi string) []string {
	var out []string
	for _, k := range slices.Sorted(maps.Keys(r)) {
		if lo <= k && k < hi {
			out = append(out, k+"="+r[k])
		}
	}
	return out
}

func collect(r store.Reader, lo, hi string) []string {
	var out []string
	for k, v := range r.Range(lo, hi) {
		if !strings.HasPrefix(k, store.LogPrefix) && !strings.HasPrefix(k, store.MetaPrefix) {
			out = append(out, k+"="+string(v))
		}
	}
	return out
}

// TestSequences has a store with little memory, which changes from all to some of
// its rows on the way, and whose connection breaks now and then, do what a map does.
func TestSequences(t *testing.T) {
	o := options(t)
	keys := rapid.StringMatching(`[a-d]/[0-9]{1,2}`)
	edges := rapid.SampledFrom([]string{"", "a/", "a/5", "b/", "b/5\x00", "c/", "k", "log/", "log0", "\xff", "\xff\xff"})
	rapid.Check(t, func(t *rapid.T) {
		w := &wire{}
		o := o
		o.Dial = w.dial
		o.Cache = rapid.SampledFrom([]int{0, 600, 4000, 1 << 20}).Draw(t, "cache")
		s, err := postgres.Open(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		if _, err := s.Update(t.Context(), empty); err != nil {
			t.Fatal(err)
		}
		want := rows{}
		for range rapid.IntRange(1, 12).Draw(t, "updates") {
			next := maps.Clone(want)
			steps := rapid.SliceOfN(rapid.IntRange(0, 4), 1, 8).Draw(t, "steps")
			refuse := rapid.IntRange(0, 4).Draw(t, "refuse") == 0
			if rapid.IntRange(0, 5).Draw(t, "cut") == 0 {
				w.cut()
			}
			ks, es := rapid.SliceOfN(keys, 8, 8).Draw(t, "keys"), rapid.SliceOfN(edges, 9, 9).Draw(t, "edges")
			_, err := s.Update(t.Context(), func(tx store.Tx) error {
				clear(next)
				maps.Copy(next, want)
				if wrong := script(tx, next, steps, ks, es); wrong != nil {
					return wrong
				}
				tx.Log(told("step"))
				if refuse {
					return errRefused
				}
				return nil
			})
			switch {
			case err == nil:
				want = next
			case !errors.Is(err, errRefused) && !is[*store.Unavailable](err):
				t.Fatal(err)
			}
		}
		if err := patient(t.Context(), s, func(r store.Reader) error {
			if got := collect(r, "", "\xff\xff"); !slices.Equal(got, want.between("", "\xff\xff")) {
				return fmt.Errorf("got %q, want %q", got, want)
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	})
}

// patient views again where a loaded machine made a view too long.
func patient(ctx context.Context, s store.Store, fn func(store.Reader) error) error {
	for {
		if err := s.View(ctx, fn); !is[*store.TooLong](err) {
			return err
		}
	}
}

// empty deletes what the run before left.
func empty(tx store.Tx) error {
	for k := range tx.Range("a", "e") {
		tx.Delete(k)
	}
	tx.Log(told("emptied"))
	return nil
}

// script does some steps on a closure's Tx and on what it should be.
func script(tx store.Tx, want rows, steps []int, keys, edges []string) error {
	for i, step := range steps {
		k := keys[i]
		switch step {
		case 0:
			tx.Delete(k)
			delete(want, k)
		case 1:
			v, ok := tx.Get(k)
			if was, there := want[k]; ok != there || string(v) != was {
				return fmt.Errorf("%q is %q (%t), want %q (%t)", k, v, ok, was, there)
			}
		case 2:
			lo, hi := edges[i], edges[i+1]
			if got := collect(tx, lo, hi); !slices.Equal(got, want.between(lo, hi)) {
				return fmt.Errorf("%q to %q: got %q, want %q", lo, hi, got, want.between(lo, hi))
			}
		default:
			val := strings.Repeat(k, step*i)
			tx.Put(k, []byte(val))
			want[k] = val
		}
	}
	return nil
}
