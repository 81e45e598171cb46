package storetest

import (
	"errors"
	"maps"
	"slices"
	"testing"

	"github.com/ingotmetal/ingot/cmd/internal/store"
	"pgregory.net/rapid"
)

// A tree holds what a map holds, in order, and older trees stay as they were.
func TestTree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var tr *tree
		model := map[string]string{}
		keys := rapid.StringMatching(`[abc]{0,3}`)
		for range rapid.IntRange(0, 40).Draw(t, "steps") {
			k := keys.Draw(t, "key")
			was, before := tr, content(tr)
			if rapid.Bool().Draw(t, "delete") {
				tr = tr.del(k)
				delete(model, k)
			} else {
				v := rapid.String().Draw(t, "value")
				tr = tr.put(k, []byte(v))
				model[k] = v
			}
			if !maps.Equal(before, content(was)) {
				t.Fatal("an older tree changed")
			}
		}
		lo, hi := keys.Draw(t, "lo"), keys.Draw(t, "hi")
		var got []string
		tr.walk(lo, hi, func(k string, v []byte) bool {
			if string(v) != model[k] {
				t.Fatalf("%q is %q, want %q", k, v, model[k])
			}
			got = append(got, k)
			return true
		})
		want := slices.DeleteFunc(slices.Sorted(maps.Keys(model)), func(k string) bool { return k < lo || k >= hi })
		if !slices.Equal(got, want) {
			t.Fatalf("%q to %q: got %q, want %q", lo, hi, got, want)
		}
	})
}

func content(t *tree) map[string]string {
	m := map[string]string{}
	t.walk("", "z", func(k string, v []byte) bool {
		m[k] = string(v)
		return true
	})
	return m
}

func TestHostileCatchesClosures(t *testing.T) {
	n, kept := 0, []byte(nil)
	var late store.Tx
	impure := map[string]func(store.Tx) error{
		"a value that is drawn": func(tx store.Tx) error {
			n++
			tx.Put(store.LedgerPrefix+"n", []byte{byte(n)})
			return nil
		},
		"a key that is drawn": func(tx store.Tx) error {
			n++
			tx.Put(store.LedgerPrefix+string(rune('a'+n%20)), nil)
			return nil
		},
		"an outcome that is drawn": func(store.Tx) error {
			n++
			if n%2 == 0 {
				return errors.New("no")
			}
			return nil
		},
	}
	for name, fn := range impure {
		s := Hostile(Memory("site"))
		_, err := s.Update(t.Context(), fn)
		if _, ok := errors.AsType[*Impure](err); !ok {
			t.Errorf("%s: %v", name, err)
		}
		s.Close()
	}
	s := Hostile(Memory("site"))
	defer s.Close()
	runs := 0
	if _, err := s.Update(t.Context(), func(tx store.Tx) error {
		runs++
		tx.Put(store.LedgerPrefix+"k", []byte("v"))
		kept, _ = tx.Get(store.LedgerPrefix + "k")
		late = tx
		return nil
	}); err != nil || runs != 2 {
		t.Errorf("%d runs, %v", runs, err)
	}
	if string(kept) == "v" {
		t.Error("a slice outlived its closure")
	}
	defer func() {
		if recover() == nil {
			t.Error("a Tx outlived its closure")
		}
	}()
	late.Get("k")
}
