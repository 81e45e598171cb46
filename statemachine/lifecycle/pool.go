package lifecycle

import (
	"encoding/binary"
	"fmt"
	"net/netip"
	"slices"

	sm "github.com/ingotmetal/ingot/statemachine"
)

// MinPoolBits is the widest admin network: a /8 has 16 million addresses,
// more than any segment.
const MinPoolBits = 8

// MaxPoolBits is the narrowest: a /30 has two addresses for hosts.
const MaxPoolBits = 30

// Span is a run of free addresses, both ends included.
type Span struct{ First, Last netip.Addr }

// Pool is the free addresses of the admin network: disjoint spans in order,
// never touching each other, so that equal pools are equal values. The lowest
// free address is the first of the first. A Pool is a value: methods return
// the changed one.
type Pool struct {
	Network netip.Prefix
	Free    []Span
}

// PoolError reports an address that cannot be taken or freed.
type PoolError struct {
	Addr netip.Addr
	Why  string
	code sm.Code
}

// Error names the address.
func (e *PoolError) Error() string { return fmt.Sprintf("address %s: %s", e.Addr, e.Why) }

// Code is INVALID_INPUT or CONFLICT.
func (e *PoolError) Code() string { return string(e.code) }

// NewPool makes the pool of an IPv4 network: all its addresses but network,
// broadcast and the excluded ones, among which belong the gateway, the
// server's own and those that records hold (BOOT-19, BOOT-22). An excluded
// address outside the network is ignored.
func NewPool(network netip.Prefix, exclude ...netip.Addr) (Pool, error) {
	if !network.Addr().Is4() || network.Bits() < MinPoolBits || network.Bits() > MaxPoolBits {
		return Pool{}, &PoolError{network.Addr(), "want an IPv4 network of /8 to /30", sm.InvalidInput}
	}
	p := Pool{Network: network.Masked()}
	first, last := p.ends()
	p.Free = []Span{{first.Next(), last.Prev()}}
	for _, a := range exclude {
		if q, err := p.Take(a.Unmap()); err == nil {
			p = q
		}
	}
	return p, nil
}

// ends are the network's own address and its broadcast address (RFC 922).
func (p Pool) ends() (network, broadcast netip.Addr) {
	hosts := uint32(1)<<(32-p.Network.Bits()) - 1
	return p.Network.Addr(), address(number(p.Network.Addr()) | hosts)
}

// holds reports whether a is an address for a host of the network.
func (p Pool) holds(a netip.Addr) bool {
	if !p.Network.Contains(a) {
		return false
	}
	first, last := p.ends()
	return a != first && a != last
}

func number(a netip.Addr) uint32 {
	b := a.As4()
	return binary.BigEndian.Uint32(b[:])
}

func address(n uint32) netip.Addr {
	var b [4]byte
	binary.BigEndian.PutUint32(b[:], n)
	return netip.AddrFrom4(b)
}

// Lowest is the lowest free address; false when the pool is exhausted.
func (p Pool) Lowest() (netip.Addr, bool) {
	if len(p.Free) == 0 {
		return netip.Addr{}, false
	}
	return p.Free[0].First, true
}

// find is the position of the span that holds a, or where one would go.
func (p Pool) find(a netip.Addr) (int, bool) {
	return slices.BinarySearchFunc(p.Free, a, func(s Span, a netip.Addr) int {
		switch {
		case s.Last.Less(a):
			return -1
		case a.Less(s.First):
			return 1
		}
		return 0
	})
}

// Take returns the pool without a. An address that is not free is a conflict.
func (p Pool) Take(a netip.Addr) (Pool, error) {
	i, free := p.find(a)
	if !free {
		return p, &PoolError{a, "is not free", sm.Conflict}
	}
	s := p.Free[i]
	var left []Span
	if s.First != a {
		left = append(left, Span{s.First, a.Prev()})
	}
	if s.Last != a {
		left = append(left, Span{a.Next(), s.Last})
	}
	p.Free = slices.Concat(p.Free[:i], left, p.Free[i+1:])
	return p, nil
}

// Put returns the pool with a free again. An address that is free already is
// an error: it would be handed out twice. So is one outside the network, and
// the network's own and broadcast addresses, which are never free.
func (p Pool) Put(a netip.Addr) (Pool, error) {
	i, free := p.find(a)
	if free {
		return p, &PoolError{a, "is free already", sm.Conflict}
	}
	if !p.holds(a) {
		return p, &PoolError{a, "is no host's address of the admin network", sm.InvalidInput}
	}
	s, from, to := Span{a, a}, i, i
	if i > 0 && p.Free[i-1].Last.Next() == a {
		s.First, from = p.Free[i-1].First, i-1
	}
	if i < len(p.Free) && a.Next() == p.Free[i].First {
		s.Last, to = p.Free[i].Last, i+1
	}
	p.Free = slices.Concat(p.Free[:from], []Span{s}, p.Free[to:])
	return p, nil
}

// check reports a pool that no methods made: its spans must be in order, apart,
// and of the network.
func (p Pool) check() error {
	if !p.Network.IsValid() && len(p.Free) == 0 {
		return nil
	}
	if n := p.Network; !n.Addr().Is4() || n.Bits() < MinPoolBits || n.Bits() > MaxPoolBits || n != n.Masked() {
		return &PoolError{p.Network.Addr(), "is no admin network", sm.InvalidInput}
	}
	for i, s := range p.Free {
		apart := i == 0 || p.Free[i-1].Last.Next().Less(s.First)
		if !p.holds(s.First) || !p.holds(s.Last) || s.Last.Less(s.First) || !apart {
			return &PoolError{s.First, "begins a span that no pool has", sm.InvalidInput}
		}
	}
	return nil
}

// Count is the number of free addresses.
func (p Pool) Count() int {
	n := 0
	for _, s := range p.Free {
		n += int(number(s.Last)-number(s.First)) + 1
	}
	return n
}
