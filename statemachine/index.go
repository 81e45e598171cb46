package statemachine

// slots is the size of an index. A byte addresses it, so that a look-up needs
// no bounds check; MaxStates and MaxEvents fit.
const slots = 256

// factors bounds the search for a hash without collisions: 1,024 hashes are
// tried, once a table. It takes about a millisecond for the largest.
const factors = 32

// index numbers names. A look-up hashes the length and three bytes, then
// compares once. Names that share a slot wait in a map.
type index struct {
	slots [slots]slot
	hash  hash
	rest  map[string]int
}

// slot holds a name beside its number, so that a look-up touches one line of
// cache.
type slot struct {
	name string
	at   int
}

// hash weighs a name's length, its first and its last byte.
type hash struct{ length, first, last uint32 }

func (h hash) of(s string) uint8 {
	n := len(s)
	return uint8(uint32(n)*h.length + uint32(s[0])*h.first + uint32(s[n-1])*h.last + uint32(s[n>>1]))
}

// of returns the number of s, or -1.
func (x *index) of(s string) int {
	if s == "" {
		return -1
	}
	if e := &x.slots[x.hash.of(s)]; e.name == s {
		return e.at
	}
	return x.slow(s)
}

// slow serves the names that share a slot, and the unknown.
//
//go:noinline
func (x *index) slow(s string) int {
	if at, ok := x.rest[s]; ok {
		return at
	}
	return -1
}

// fill numbers names by their order. They are distinct and not empty.
func (x *index) fill(names []string) {
	x.hash = spread(names)
	for i, name := range names {
		e := &x.slots[x.hash.of(name)]
		if e.name == "" {
			*e = slot{name, i}
			continue
		}
		if x.rest == nil {
			x.rest = map[string]int{}
		}
		x.rest[name] = i
	}
}

// spread finds the hash under which the fewest names share a slot.
func spread(names []string) (best hash) {
	least := len(names) + 1
	for f := range uint32(factors * factors) {
		h := hash{length: 1 + f%7*2, first: 1 + f%factors*2, last: 1 + f/factors*2}
		if n := h.collisions(names); n < least {
			best, least = h, n
		}
		if least == 0 {
			break
		}
	}
	return best
}

func (h hash) collisions(names []string) (n int) {
	var taken [slots]bool
	for _, name := range names {
		at := h.of(name)
		if taken[at] {
			n++
		}
		taken[at] = true
	}
	return n
}
