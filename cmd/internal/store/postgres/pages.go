package postgres

import (
	"cmp"
	"slices"

	"github.com/ingotmetal/ingot/cmd/internal/store"
)

// page is all keys that the server has from lo on and below end.
type page struct {
	lo, end string
	keys    []string
}

// pages are those that a batch has read, in order of lo.
type pages []page

// find returns a page that covers key.
func (p pages) find(key string) (page, bool) {
	i, exact := slices.BinarySearchFunc(p, key, func(p page, key string) int { return cmp.Compare(p.lo, key) })
	if !exact {
		i--
	}
	if i < 0 || key >= p[i].end {
		return page{}, false
	}
	return p[i], true
}

// add takes in a page. Of two that begin alike the longer one stays.
func (p *pages) add(n page) {
	i, exact := slices.BinarySearchFunc(*p, n.lo, func(p page, key string) int { return cmp.Compare(p.lo, key) })
	switch {
	case !exact:
		*p = slices.Insert(*p, i, n)
	case n.end > (*p)[i].end:
		(*p)[i] = n
	}
}

// within cuts sorted keys to a span.
func within(keys []string, s span) []string {
	from, _ := slices.BinarySearch(keys, s.lo)
	to, _ := slices.BinarySearch(keys, s.hi)
	return keys[from:max(from, to)]
}

// writes are what a group has written. Its keys are put in order when somebody
// asks for it.
type writes struct {
	vals  map[string]store.Change
	order []string // sorted
	fresh []string // not in order yet
}

func (w *writes) set(key string, c store.Change) {
	if w.vals == nil {
		w.vals = map[string]store.Change{}
	}
	if _, again := w.vals[key]; !again {
		w.fresh = append(w.fresh, key)
	}
	w.vals[key] = c
}

// sorted returns the keys in order.
func (w *writes) sorted() []string {
	if len(w.fresh) > 0 {
		slices.Sort(w.fresh)
		w.order = merged(w.order, w.fresh)
		w.fresh = nil
	}
	return w.order
}

// merged is a sorted slice of two.
func merged(a, b []string) []string {
	out := make([]string, 0, len(a)+len(b))
	for len(a) > 0 && len(b) > 0 {
		if a[0] < b[0] {
			out, a = append(out, a[0]), a[1:]
		} else {
			out, b = append(out, b[0]), b[1:]
		}
	}
	return append(append(out, a...), b...)
}
