package simnet

import (
	"crypto/sha256"
	"encoding/binary"
	"time"
)

// A link is what draws and ties are keyed by: one direction of a stream, a
// packet's path, a deadline. Its name is made of names and counters that do not
// depend on the order in which goroutines ran.
type link struct {
	name   string
	hash   uint64
	pushes uint64 // events queued so far
}

func newLink(name string) link {
	sum := sha256.Sum256([]byte(name))
	return link{name: name, hash: binary.LittleEndian.Uint64(sum[:])}
}

// mix folds values into one that looks random (the finalizer of splitmix64).
func mix(values ...uint64) uint64 {
	x := uint64(0)
	for _, v := range values {
		x = (x ^ v) + 0x9e3779b97f4a7c15
		x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
		x = (x ^ x>>27) * 0x94d049bb133111eb
		x ^= x >> 31
	}
	return x
}

// A luck draws for one flight of one link. Every purpose draws on its own, so
// that turning one fault on does not move another's draws.
type luck struct{ seed, link, flight uint64 }

// What is drawn for.
const (
	forLatency = iota + 1
	forDrop
	forDuplicate
	forReorder
	forReorderBy
	forStall
	forStallBy
	forReset
	forSegment
	forPieces
	forPiece // the last: piece i draws for forPiece + i
)

func (l luck) bits(purpose int) uint64 { return mix(l.seed, l.link, l.flight, uint64(purpose)) }

// hits is true at the rate given, 0 never and 1 always.
func (l luck) hits(purpose int, rate float64) bool {
	return rate > 0 && float64(l.bits(purpose)>>11)/(1<<53) < rate
}

// within draws a duration of the range.
func (l luck) within(purpose int, s Span) time.Duration {
	if s.Max <= s.Min {
		return s.Min
	}
	return s.Min + time.Duration(l.bits(purpose)%uint64(s.Max-s.Min+1))
}
