package statemachine

// index finds a name's position by its length and three of its bytes, then
// compares. Names that collide are kept apart, in a map.
type index struct {
	slots   []slot
	a, b, c uint32
	rest    map[string]int
}

// slot holds a name beside its position, so that a look-up touches one line
// of cache.
type slot struct {
	name string
	at   int
}

// The search for a collision-free index stops at these bounds.
const (
	minSlots, maxSlots = 16, 512
	maxFactor          = 32
)

// of returns the position of s, or -1.
func (x *index) of(s string) int {
	n := len(s)
	if n == 0 {
		return -1
	}
	h := uint32(n)*x.a + uint32(s[0])*x.b + uint32(s[n-1])*x.c + uint32(s[n>>1])
	e := &x.slots[int(h)&(len(x.slots)-1)]
	if e.name == s {
		return e.at
	}
	return x.slow(s)
}

// slow serves the names that share a slot, and the unknown.
func (x *index) slow(s string) int {
	if at, ok := x.rest[s]; ok {
		return at
	}
	return -1
}

// newIndex numbers names by their order, each position times stride.
func newIndex(names []string, stride int) index {
	for size := minSlots; size <= maxSlots; size *= 2 {
		if size < len(names) {
			continue
		}
		if x, ok := perfect(names, stride, size); ok {
			return x
		}
	}
	x := index{slots: make([]slot, maxSlots), a: 1, b: 1, c: 1}
	x.fill(names, stride)
	return x
}

// perfect looks for factors under which no two names share a slot.
func perfect(names []string, stride, size int) (index, bool) {
	for f := range uint32(maxFactor * maxFactor) {
		x := index{slots: make([]slot, size), a: 1 + f%7*2, b: 1 + f%maxFactor*2, c: 1 + f/maxFactor*2}
		if x.fill(names, stride) {
			return x, true
		}
	}
	return index{}, false
}

// fill places names and reports whether none collided.
func (x *index) fill(names []string, stride int) bool {
	x.rest = nil
	for i, name := range names {
		e := &x.slots[x.hash(name)]
		if e.name == "" {
			*e = slot{name, i * stride}
			continue
		}
		if x.rest == nil {
			x.rest = map[string]int{}
		}
		x.rest[name] = i * stride
	}
	return x.rest == nil
}

func (x *index) hash(s string) int {
	n := len(s)
	h := uint32(n)*x.a + uint32(s[0])*x.b + uint32(s[n-1])*x.c + uint32(s[n>>1])
	return int(h) & (len(x.slots) - 1)
}
