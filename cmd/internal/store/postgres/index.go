package postgres

import (
	"cmp"
	"slices"
)

// index is a set of keys in order, in chunks, so that each change moves few.
type index [][]string // neither it nor a chunk is ever empty in between

const maxChunk = 512

// chunk finds the one that holds key, if it is there at all.
func (x index) chunk(key string) int {
	i, exact := slices.BinarySearchFunc(x, key, func(c []string, key string) int { return cmp.Compare(c[0], key) })
	if !exact {
		i--
	}
	return max(i, 0)
}

// add adds a key.
func (x *index) add(key string) {
	if len(*x) == 0 {
		*x = index{{key}}
		return
	}
	i := x.chunk(key)
	c := (*x)[i]
	at, there := slices.BinarySearch(c, key)
	if there {
		return
	}
	c = slices.Insert(c, at, key)
	(*x)[i] = c
	if len(c) > maxChunk {
		upper := slices.Clone(c[maxChunk/2:])
		(*x)[i] = slices.Delete(c, maxChunk/2, len(c))
		*x = slices.Insert(*x, i+1, upper)
	}
}

// remove removes a key.
func (x *index) remove(key string) {
	if len(*x) == 0 {
		return
	}
	i := x.chunk(key)
	at, there := slices.BinarySearch((*x)[i], key)
	if !there {
		return
	}
	(*x)[i] = slices.Delete((*x)[i], at, at+1)
	if len((*x)[i]) == 0 {
		*x = slices.Delete(*x, i, i+1)
	}
}

// page returns the next keys of a span. There are no others below its end.
func (x index) page(s span) page {
	p := page{lo: s.lo, end: s.hi}
	if len(x) == 0 {
		return p
	}
	i := x.chunk(s.lo)
	at, _ := slices.BinarySearch(x[i], s.lo)
	p.keys = x[i][at:]
	if i+1 < len(x) {
		p.end = min(p.end, x[i+1][0])
	}
	return p
}
