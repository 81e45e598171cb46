package store

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// keys are few, so that writes and cursors meet.
var keys = rapid.StringMatching(`[abc]{1,2}`)

// TestRangesSeeWhatIsWrittenAhead lets a closure put and delete while one or two of
// its ranges are under way. Each step must yield the least key of the model that is
// after the cursor at that moment.
func TestRangesSeeWhatIsWrittenAhead(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		base := rapid.MapOf(keys, rapid.SliceOfN(rapid.Byte(), 0, 2)).Draw(t, "base")
		o := &overlay{vals: map[string]Change{}, batch: &fakeBatch{rows: maps.Clone(base)}}
		m := &model{t: t, o: o, rows: maps.Clone(base)}
		lo, hi := keys.Draw(t, "lo"), keys.Draw(t, "hi")
		early := o.Range(lo, hi) // made before the writes, used after them
		m.writes(3)
		m.walk(early, lo, hi, 2)
		m.same()
	})
}

// model is what a closure should see.
type model struct {
	t    *rapid.T
	o    *overlay
	rows map[string][]byte
}

// writes does up to n writes, to the overlay and to the model.
func (m *model) writes(n int) {
	for range rapid.IntRange(0, n).Draw(m.t, "writes") {
		key := keys.Draw(m.t, "key")
		if rapid.Bool().Draw(m.t, "delete") {
			m.o.Delete(key)
			delete(m.rows, key)
			continue
		}
		val := rapid.SliceOfN(rapid.Byte(), 0, 2).Draw(m.t, "val")
		m.o.Put(key, val)
		m.rows[key] = slices.Clone(val)
		for i := range val {
			val[i]++ // the overlay keeps a copy
		}
	}
}

// next is the model's least key from `from` on, or after it.
func (m *model) next(from string, past bool, hi string) (string, bool) {
	for _, k := range slices.Sorted(maps.Keys(m.rows)) {
		if (k > from || k == from && !past) && k < hi {
			return k, true
		}
	}
	return "", false
}

// walk goes along a range, writing and walking others on the way.
func (m *model) walk(seq func(func(string, []byte) bool), lo, hi string, depth int) {
	at, past, left := lo, false, rapid.IntRange(0, 9).Draw(m.t, "steps")
	for k, v := range seq {
		want, ok := m.next(at, past, hi)
		if !ok || k != want || string(v) != string(m.rows[k]) {
			m.t.Fatalf("[%q,%q) at %q: got %q=%q, want %q=%q (%t)", lo, hi, at, k, v, want, m.rows[want], ok)
		}
		at, past = k, true
		if left--; left < 0 {
			return
		}
		m.writes(2)
		if depth > 1 && rapid.Bool().Draw(m.t, "nest") {
			lo, hi := keys.Draw(m.t, "lo"), keys.Draw(m.t, "hi")
			m.walk(m.o.Range(lo, hi), lo, hi, depth-1)
		}
	}
	if want, ok := m.next(at, past, hi); ok {
		m.t.Fatalf("[%q,%q) ended at %q, and %q is there", lo, hi, at, want)
	}
}

// same compares everything, row by row, and what is handed to the engine.
func (m *model) same() {
	got := map[string][]byte{}
	for k, v := range m.o.Range("", "~") {
		got[k] = v
	}
	if fmt.Sprint(got) != fmt.Sprint(m.rows) {
		m.t.Fatalf("the whole range is %q, want %q", got, m.rows)
	}
	for _, k := range []string{"a", "b", "ab", "cc"} {
		v, ok := m.o.Get(k)
		if want, there := m.rows[k]; ok != there || string(v) != string(want) {
			m.t.Fatalf("%q is %q, %t", k, v, ok)
		}
	}
	b := m.o.batch.(*fakeBatch)
	if b.f = new(fake); b.Apply(m.o.changes()) != nil || fmt.Sprint(b.rows) != fmt.Sprint(m.rows) {
		m.t.Fatalf("the changes make %q, want %q", b.rows, m.rows)
	}
}

func TestMisuse(t *testing.T) {
	big := make([]byte, MaxValue+1)
	for name, fn := range map[string]func(Tx) error{
		"no key":           put("", "x"),
		"a long key":       put(fmt.Sprintf("%01001d", 0), "x"),
		"a key of the log": put(LogPrefix+"x", "x"),
		"a key of ours":    put(MetaName, "x"),
		"a space too far":  put("a\x7f", "x"),
		"not ASCII":        put("ä", "x"),
		"a large value":    func(tx Tx) error { tx.Put("a", big); tell(tx); return nil },
		"two entries":      func(tx Tx) error { tell(tx); tell(tx); return nil },
		"nothing told":     func(tx Tx) error { tx.Put("a", nil); return nil },
		"a deletion untold": func(tx Tx) error {
			tx.Delete("a")
			return nil
		},
		"trim of all": func(tx Tx) error { tx.Trim(Rev(tx.Head().Revision)); tell(tx); return nil },
	} {
		_, c := start(t)
		if _, err := c.Update(t.Context(), put("a", "old")); err != nil {
			t.Fatal(err)
		}
		_, err := c.Update(t.Context(), fn)
		var m *Misuse
		if !errors.As(err, &m) {
			t.Errorf("%s: %v", name, err)
		}
		rev, err := c.Update(t.Context(), func(tx Tx) error {
			if v, _ := tx.Get("a"); string(v) != "old" {
				t.Errorf("%s: something was kept: %q", name, v)
			}
			return nil
		})
		if rev != 1 || err != nil {
			t.Errorf("%s: then %d %v", name, rev, err)
		}
	}
}
