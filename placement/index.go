package placement

import (
	"fmt"
	"iter"
	"math/bits"
	"slices"
)

// MaxSlots bounds an Index: ten times the fleet of 100,000 nodes that it is
// measured with. The slots of a full one take 8.3 MiB, and each run of 64 that
// holds nodes dedicated to one tenant 24 bytes more, at most once a tenant.
const MaxSlots = 1 << 20

// policies is the number of policies that an Index keeps apart.
const policies = 2

// Index answers [Judge] for many nodes at once. Nodes stand in slots, small
// numbers that the caller gives them. The zero value is empty and ready.
//
// It holds what [Admits] says of each node: one bit a node and policy for the
// nodes open to everyone, and for each tenant the nodes open to it alone. So a
// query reads one word for 64 nodes.
//
// An Index may be read by many goroutines as long as none changes it. It may
// lag behind the store; the commit that books asks Judge again.
type Index struct {
	open [policies][]uint64 // bit per slot: open to everyone
	own  map[Tenant]*ownership
	held []*ownership // by slot: the tenant that has it alone, if any
}

// ownership is the slots that are open to one tenant alone.
type ownership struct {
	tenant Tenant
	chunks []chunk // ascending by word; none is empty
}

// chunk is 64 slots of an ownership.
type chunk struct {
	word int
	bits [policies]uint64
}

// Len is one more than the highest slot ever set.
func (x *Index) Len() int { return len(x.held) }

// Set puts n into a slot, from 0 to [MaxSlots]-1, in place of what was there.
// Its cost grows with the words that the node's tenant already has to itself,
// not with the fleet. Low slots are cheap: memory grows with the highest one.
func (x *Index) Set(slot int, n Node) error {
	if slot < 0 || slot >= MaxSlots {
		return &Invalid{"slot", fmt.Sprint(slot), fmt.Sprintf("0 to %d", MaxSlots-1), "PLACE-1"}
	}
	x.grow(slot + 1)
	x.Drop(slot)
	word, bit := slot/64, uint64(1)<<(slot%64)
	for p := range Policy(policies) {
		switch a := Admits(n, p); {
		case a.Everyone:
			x.open[p][word] |= bit
		case !a.Empty():
			o := x.owner(a.Tenant)
			o.at(word).bits[p] |= bit
			x.held[slot] = o
		}
	}
	return nil
}

// Drop empties a slot: nobody is placed there any more. A slot that is empty or
// out of range stays as it is.
func (x *Index) Drop(slot int) {
	if slot < 0 || slot >= len(x.held) {
		return
	}
	word, bit := slot/64, uint64(1)<<(slot%64)
	for p := range x.open {
		x.open[p][word] &^= bit
	}
	o := x.held[slot]
	if o == nil {
		return
	}
	x.held[slot] = nil
	if o.clear(word, bit); len(o.chunks) == 0 {
		delete(x.own, o.tenant)
	}
}

// Append appends the slots where Judge lets t through under p, ascending.
func (x *Index) Append(dst []int32, t Tenant, p Policy) []int32 {
	s := x.scan(t, p)
	for i := range s.open {
		for w := s.word(i); w != 0; w &= w - 1 {
			dst = append(dst, int32(i*64+bits.TrailingZeros64(w)))
		}
	}
	return dst
}

// All yields the slots where Judge lets t through under p, ascending. To begin
// elsewhere, so that many workers do not all try the same node, use [Index.From].
func (x *Index) All(t Tenant, p Policy) iter.Seq[int] { return x.From(0, t, p) }

// From is All for the slots from first on; those before it are left out.
func (x *Index) From(first int, t Tenant, p Policy) iter.Seq[int] {
	first = max(first, 0)
	return func(yield func(int) bool) {
		s := x.scan(t, p)
		mask := ^uint64(0) << (first % 64)
		for i := first / 64; i < len(s.open); i++ {
			for w := s.word(i) & mask; w != 0; w &= w - 1 {
				if !yield(i*64 + bits.TrailingZeros64(w)) {
					return
				}
			}
			mask = ^uint64(0)
		}
	}
}

// Count is the number of slots where Judge lets t through under p.
func (x *Index) Count(t Tenant, p Policy) int {
	var n int
	s := x.scan(t, p)
	for i := range s.open {
		n += bits.OnesCount64(s.word(i))
	}
	return n
}

// grow makes room for n slots.
func (x *Index) grow(n int) {
	if n <= len(x.held) {
		return
	}
	x.held = append(x.held, make([]*ownership, n-len(x.held))...)
	words := (n + 63) / 64
	for p := range x.open {
		x.open[p] = append(x.open[p], make([]uint64, words-len(x.open[p]))...)
	}
}

// owner returns t's ownership, and makes it if need be.
func (x *Index) owner(t Tenant) *ownership {
	if x.own == nil {
		x.own = make(map[Tenant]*ownership)
	}
	o := x.own[t]
	if o == nil {
		o = &ownership{tenant: t}
		x.own[t] = o
	}
	return o
}

// find returns where the chunk of a word is or belongs.
func (o *ownership) find(word int) (int, bool) {
	return slices.BinarySearchFunc(o.chunks, word, func(c chunk, w int) int { return c.word - w })
}

// at returns the chunk of a word, and makes it if need be.
func (o *ownership) at(word int) *chunk {
	i, ok := o.find(word)
	if !ok {
		o.chunks = slices.Insert(o.chunks, i, chunk{word: word})
	}
	return &o.chunks[i]
}

// clear takes a slot out, under every policy.
func (o *ownership) clear(word int, bit uint64) {
	i, ok := o.find(word)
	if !ok {
		return
	}
	c := &o.chunks[i]
	for p := range c.bits {
		c.bits[p] &^= bit
	}
	if c.bits == [policies]uint64{} {
		o.chunks = slices.Delete(o.chunks, i, i+1)
	}
}

// scan walks the words of an Index for one tenant and policy, in order.
type scan struct {
	open   []uint64
	chunks []chunk
	policy Policy
}

// scan starts a walk. A policy that is not known counts as EveryReason, as in
// Judge.
func (x *Index) scan(t Tenant, p Policy) scan {
	if p >= policies {
		p = EveryReason
	}
	s := scan{open: x.open[p], policy: p}
	if o := x.own[t]; o != nil {
		s.chunks = o.chunks
	}
	return s
}

// word returns the slots of word i that t may use. Calls go by ascending i.
func (s *scan) word(i int) uint64 {
	w := s.open[i]
	for len(s.chunks) > 0 && s.chunks[0].word <= i {
		if s.chunks[0].word == i {
			w |= s.chunks[0].bits[s.policy]
		}
		s.chunks = s.chunks[1:]
	}
	return w
}
