package storetest

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/ingotmetal/ingot/cmd/internal/store"
)

// hostileKeys are keys that closures may write, and that order, quoting, case,
// wildcards or prefixes could get wrong.
func hostileKeys() []string {
	long := strings.Repeat("k", store.MaxKey-1)
	return []string{
		"a", "a/", "a/b", "a/b/c", "a0", "a.b", "a b", "A", "B", "b", "Z", "aa", "aA", "a_b", "a%b", "a%", "a-b",
		`a\b`, `a"b`, "a'b", "$1", "--", ";", " ", "  ", "!", "~", "~~", "0", "00", "10", "9", "%00",
		"ledger", "ledger/", "ledger/a", "ledger/~", "ledger0", "log", "log.", "log0", "logs/1", "meta", "meta.", "meta0",
		long, long + "!", long + "~",
	}
}

// hostileBounds are bounds of ranges; they need not be keys.
func hostileBounds() []string {
	bounds := []string{"", "\x00", "\x7f", "\xff", "\xff\xff", strings.Repeat("~", store.MaxKey+1), "é"}
	for _, k := range hostileKeys() {
		bounds = append(bounds, k, k+"\x00", k+"\xff")
	}
	return bounds
}

// model is what a store should hold outside of its log.
type model map[string]string

// between are the model's keys in a range, in order.
func (m model) between(lo, hi string) []string {
	var keys []string
	for k := range m {
		if lo <= k && k < hi {
			keys = append(keys, k)
		}
	}
	slices.Sort(keys)
	return keys
}

// gets compares one key.
func (m model) gets(r store.Reader, key string) error {
	got, ok := r.Get(key)
	if want, there := m[key]; ok != there || string(got) != want {
		return fmt.Errorf("Get(%.40q) is %.40q, %t; want %.40q, %t", key, got, ok, want, there)
	}
	return nil
}

// ranges compares one range.
func (m model) ranges(r store.Reader, lo, hi string) error {
	want, i := m.between(lo, hi), 0
	for k, v := range r.Range(lo, hi) {
		if kept(k) && lo <= k && k < hi {
			continue
		}
		if i == len(want) || k != want[i] || string(v) != m[k] {
			return fmt.Errorf("Range(%.20q, %.20q) yields %.40q=%.20q as number %d; want the keys %.200q", lo, hi, k, v, i, want)
		}
		i++
	}
	if i < len(want) {
		return fmt.Errorf("Range(%.20q, %.20q) ends before %.40q", lo, hi, want[i])
	}
	return nil
}

// all compares everything.
func (m model) all(r store.Reader) error {
	for k := range m {
		if err := m.gets(r, k); err != nil {
			return err
		}
	}
	return m.ranges(r, "", "\xff")
}

// op is one step of a closure.
type op struct {
	do       string // put, delete, get, range
	key, val string // val is the upper bound of a range
}

// closure is a drawn update.
type closure struct {
	ops    []op
	refuse bool
}

// closures draws updates, the same for each seed.
func closures(seed uint64, n int) []closure {
	rng := rand.New(rand.NewPCG(seed, 7))
	keys, bounds := hostileKeys(), hostileBounds()
	all := make([]closure, n)
	for i := range all {
		all[i].refuse = rng.IntN(4) == 0
		for range 1 + rng.IntN(12) {
			o := op{do: []string{"put", "put", "put", "delete", "get", "range"}[rng.IntN(6)], key: keys[rng.IntN(len(keys))]}
			switch o.do {
			case "put":
				o.val = strings.Repeat(string([]byte{byte(rng.IntN(256))}), rng.IntN(4))
			case "range":
				o.key, o.val = bounds[rng.IntN(len(bounds))], bounds[rng.IntN(len(bounds))]
			}
			all[i].ops = append(all[i].ops, o)
		}
	}
	return all
}

// run makes the update on a Tx and on a copy of the model, which it returns.
func (c closure) run(tx store.Tx, m model) (model, error) {
	m = maps.Clone(m)
	for _, o := range c.ops {
		var err error
		switch o.do {
		case "put":
			tx.Put(o.key, []byte(o.val))
			m[o.key] = o.val
		case "delete":
			tx.Delete(o.key)
			delete(m, o.key)
		case "get":
			err = m.gets(tx, o.key)
		case "range":
			err = m.ranges(tx, o.key, o.val)
		}
		if err != nil {
			return m, err
		}
	}
	tx.Log(told("drawn"))
	if c.refuse {
		return m, errRefused
	}
	return m, nil
}
