package simnet

import "time"

// A Span is a range of durations, both ends included. A Max below Min counts as
// Min.
type Span struct{ Min, Max time.Duration }

// A Rule says what happens to that which one host sends to another. The zero
// Rule delivers at once and harms nothing. Rates are between 0, never, and 1,
// always; each is drawn anew for every packet, or for every flight of a stream:
// what a connection sends in one go.
type Rule struct {
	Latency Span

	// Packets.
	Drop      float64
	Duplicate float64 // it arrives twice, the second time at a latency of its own
	Reorder   float64 // others overtake it, for it is held up by ReorderBy
	ReorderBy Span

	// Streams.
	Stall     float64 // the direction stands still for StallFor
	StallFor  Span
	Reset     float64 // both ends see a reset instead of the bytes
	Segment   float64 // the flight arrives in 2 to 8 pieces, up to 1 ms apart
	Bandwidth int     // bytes a second and connection; 0 is no limit
}

// Swarm draws a rule for a seed, for campaigns over many seeds: each fault is
// off for half of them, so that faults are also met without the others that
// would hide them, and latencies and rates differ by orders of magnitude.
func Swarm(seed uint64) Rule {
	l := luck{seed: seed, link: newLink("swarm").hash}
	purpose := 0
	rate := func(most float64) float64 {
		purpose += 2
		if l.hits(purpose, 0.5) {
			return 0
		}
		return most / float64(uint(1)<<(l.bits(purpose+1)%6))
	}
	least := time.Duration(1+l.bits(100)%1000) * time.Microsecond
	return Rule{
		Latency: Span{least, least << (l.bits(101) % 12)},
		Drop:    rate(0.5), Duplicate: rate(0.5),
		Reorder: rate(0.5), ReorderBy: Span{0, 30 * time.Second >> (l.bits(102) % 15)},
		Stall: rate(0.1), StallFor: Span{0, 30 * time.Second >> (l.bits(103) % 10)},
		Reset: rate(0.02), Segment: rate(1),
		Bandwidth: []int{0, 0, 0, 1 << 14, 1 << 17, 1 << 20}[l.bits(104)%6],
	}
}

// A pair is a direction between two hosts. "*" is every host.
type pair struct{ from, to string }

// SetRule gives a direction its rule, for what is sent from this instant on.
// Either name may be "*", for every host that has no rule by name; from the more
// to the less exact it is: both names, the sender's, the receiver's, neither's.
// A host always reaches itself by the zero Rule.
func (n *Net) SetRule(from, to string, r Rule) {
	n.do(func() { n.rules[pair{from, to}] = r })
}

func (n *Net) rule(from, to *site) Rule {
	if from == to {
		return Rule{}
	}
	for _, p := range [...]pair{{from.name, to.name}, {from.name, "*"}, {"*", to.name}, {"*", "*"}} {
		if r, ok := n.rules[p]; ok {
			return r
		}
	}
	return Rule{}
}
