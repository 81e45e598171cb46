package storetest

import (
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/ingotmetal/ingot/cmd/internal/store"
)

// draft records what a closure writes over a Reader, and passes it on unless it is
// a rehearsal.
type draft struct {
	store.Reader
	to    store.Tx // nil in a rehearsal
	keys  []string // sorted
	vals  map[string]store.Change
	told  []store.Entry
	trims []store.Rev
}

// run runs fn on the draft and takes back what it was given.
func (d *draft) run(fn func(store.Tx) error) error {
	d.vals = map[string]store.Change{}
	var from store.Reader = d
	if d.to != nil {
		from = d.to
	}
	tx := &lentTx{lent{from: from}, d}
	defer tx.end()
	return fn(tx)
}

// lentTx is a Tx that takes back what it gave.
type lentTx struct {
	lent
	draft *draft
}

// alive returns where writes go, for as long as the closure runs.
func (t *lentTx) alive() *draft {
	t.reader()
	return t.draft
}

func (t *lentTx) Put(key string, val []byte) { t.alive().put(key, val) }

func (t *lentTx) Delete(key string) { t.alive().del(key) }

func (t *lentTx) Log(e store.Entry) { t.alive().log(e) }

func (t *lentTx) Trim(to store.Rev) { t.alive().trim(to) }

func (d *draft) put(key string, val []byte) {
	d.set(key, store.Change{Val: append([]byte{}, val...)})
	if d.to != nil {
		d.to.Put(key, val)
	}
}

func (d *draft) del(key string) {
	d.set(key, store.Change{Gone: true})
	if d.to != nil {
		d.to.Delete(key)
	}
}

func (d *draft) log(e store.Entry) {
	d.told = append(d.told, e)
	if d.to != nil {
		d.to.Log(e)
	}
}

func (d *draft) trim(to store.Rev) {
	d.trims = append(d.trims, to)
	if d.to != nil {
		d.to.Trim(to)
	}
}

func (d *draft) set(key string, c store.Change) {
	if _, again := d.vals[key]; !again {
		i, _ := slices.BinarySearch(d.keys, key)
		d.keys = slices.Insert(d.keys, i, key)
	}
	d.vals[key] = c
}

// Get looks at the rehearsal's own writes first.
func (d *draft) Get(key string) ([]byte, bool) {
	if c, ok := d.vals[key]; ok {
		return c.Val, !c.Gone
	}
	return d.Reader.Get(key)
}

// Range looks anew for each next key, since the closure may write on the way.
func (d *draft) Range(lo, hi string) iter.Seq2[string, []byte] {
	return func(yield func(string, []byte) bool) {
		for at := lo; ; {
			k, v, ok := d.next(at, hi)
			if !ok || !yield(k, v) {
				return
			}
			at = k + "\x00"
		}
	}
}

// next is the first key that is there, of the store's and the rehearsal's own.
func (d *draft) next(lo, hi string) (key string, val []byte, ok bool) {
	for k, v := range d.Reader.Range(lo, hi) {
		if _, mine := d.vals[k]; !mine {
			key, val, ok = k, v, true
			break
		}
	}
	for i, _ := slices.BinarySearch(d.keys, lo); i < len(d.keys) && d.keys[i] < hi; i++ {
		own := d.keys[i]
		if c := d.vals[own]; !c.Gone {
			if !ok || own < key {
				return own, c.Val, true
			}
			break
		}
	}
	return key, val, ok
}

// differs says how the second run was another than the first.
func (d *draft) differs(o *draft, was, is error) string {
	if fmt.Sprint(was) != fmt.Sprint(is) {
		return fmt.Sprintf("returned %v, then %v", was, is)
	}
	for _, k := range slices.Concat(d.keys, o.keys) {
		a, before := d.vals[k]
		if b, after := o.vals[k]; before != after || a.Gone != b.Gone || string(a.Val) != string(b.Val) {
			return fmt.Sprintf("wrote %q otherwise", k)
		}
	}
	if fmt.Sprint(timeless(d.told)) != fmt.Sprint(timeless(o.told)) {
		return "logged something else"
	}
	if !slices.Equal(d.trims, o.trims) {
		return "trimmed otherwise"
	}
	return ""
}

// timeless leaves out when it was: the clock may be read in a closure for its row.
func timeless(told []store.Entry) []store.Entry {
	out := slices.Clone(told)
	for i := range out {
		out[i].Time = time.Time{}
	}
	return out
}
