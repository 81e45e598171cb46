package liveness

import (
	"iter"
	"time"
)

// A Ledger keeps, in memory, when each node was last seen (LIVE-1). A gateway
// has one of the sessions it holds; an observer has one of all nodes, fed by
// flushes. With 16-byte names it takes about 90 bytes a node, names included; a
// beat is one write in place and allocates nothing.
//
// A Ledger is not safe for concurrent use: shard the nodes, one ledger a shard.
// Make one with [NewLedger].
type Ledger[K comparable] struct {
	slots   []slot
	nodes   []K // by slot
	index   map[K]uint32
	free    []uint32
	flushed Instant
}

// A slot is one node's entry.
type slot struct {
	seen  Instant
	epoch uint64 // of the newest session; 0: none yet
	beats uint32 // that the session has had
	turn  uint16 // tells the nodes apart that the slot has had
	open  bool   // the session of epoch is open in this ledger
}

// A Handle names one session in the ledger that opened it, so that a beat needs
// no look-up. It is void once the session is superseded or closed or its node
// removed. The zero Handle is void.
type Handle struct {
	epoch uint64
	slot  uint32
	turn  uint16
}

// A Row is one node's entry as it is flushed and stored: an age, which means the
// same on every clock. Whoever lets a row wait adds the wait to Age.
type Row[K comparable] struct {
	Node  K
	Epoch uint64        // of the newest session; 0: none yet
	Beats uint32        // of that session so far, so that an old row is known as old
	Age   time.Duration // since the node was last seen
}

// NewLedger returns a ledger with room for that many nodes; it grows past them.
func NewLedger[K comparable](nodes int) *Ledger[K] {
	return &Ledger[K]{
		slots: make([]slot, 0, nodes),
		nodes: make([]K, 0, nodes),
		index: make(map[K]uint32, nodes),
	}
}

// Len is the number of nodes.
func (l *Ledger[K]) Len() int { return len(l.index) }

// Open begins a session of a node, which counts as seeing it. The epoch must be
// higher than every one the ledger has had of that node: the newest session
// wins, and the handle of the one before is void (it may be half-open still).
// A node the ledger does not have is added.
func (l *Ledger[K]) Open(node K, epoch uint64, now Instant) (Handle, error) {
	i, ok := l.index[node]
	var have uint64
	if ok {
		have = l.slots[i].epoch
	}
	if epoch <= have {
		return Handle{}, &Refused{"open", epoch, have, "open with a higher epoch", codeConflict}
	}
	if !ok {
		i = l.add(node)
	}
	s := &l.slots[i]
	s.epoch, s.beats, s.open = epoch, 0, true
	s.beat(now)
	return Handle{epoch, i, s.turn}, nil
}

// Beat records that the session's node was seen at now. An earlier now than the
// last changes nothing.
func (l *Ledger[K]) Beat(h Handle, now Instant) error {
	if s := l.held(h); s != nil {
		s.beat(now)
		return nil
	}
	return l.void("beat", h)
}

func (s *slot) beat(now Instant) {
	s.seen = max(s.seen, now)
	s.beats++
}

// Close ends a session. Its node stays, last seen at seen or at its last beat,
// whichever is later: for a session that ended by silence, pass [Never].
func (l *Ledger[K]) Close(h Handle, seen Instant) error {
	s := l.held(h)
	if s == nil {
		return l.void("close", h)
	}
	s.beat(seen)
	s.open = false
	return nil
}

// held is the slot that h is good for, or nil.
func (l *Ledger[K]) held(h Handle) *slot {
	if uint64(h.slot) >= uint64(len(l.slots)) {
		return nil
	}
	if s := &l.slots[h.slot]; s.turn == h.turn && s.epoch == h.epoch && s.open {
		return s
	}
	return nil
}

// void says why h is good for nothing.
func (l *Ledger[K]) void(op string, h Handle) error {
	if int(h.slot) >= len(l.slots) || l.slots[h.slot].turn != h.turn {
		return &Refused{op, h.epoch, 0, "the node is not in the ledger; open a session", codeNotFound}
	}
	if have := l.slots[h.slot].epoch; have != h.epoch {
		return &Refused{op, h.epoch, have, "a newer session has taken over; close this one", codeConflict}
	}
	return &Refused{op, h.epoch, h.epoch, "the session is over; open another", codeState}
}

// Restore puts a stored row back, as an observer does when it starts. It adds
// the node if need be, and else does what Apply does. How long the row lay in
// the store nobody knows, and it is not counted: doubt is in the node's favour.
func (l *Ledger[K]) Restore(r Row[K], now Instant) error {
	if _, ok := l.index[r.Node]; !ok {
		l.add(r.Node)
	}
	return l.merge("restore", r, now)
}

// Apply takes a flushed row over, now being when it was written or, for an
// observer that polls, first read. A row that brings no new beat changes
// nothing, so reading it again is no sign of life. Apply refuses the row of a
// session that is not the newest, and of a node the ledger does not have: a late
// flush brings no deleted node back. Last seen never moves back.
func (l *Ledger[K]) Apply(r Row[K], now Instant) error {
	if _, ok := l.index[r.Node]; !ok {
		return &Refused{"apply", r.Epoch, 0, "the node is not in the ledger; restore it first", codeNotFound}
	}
	return l.merge("apply", r, now)
}

func (l *Ledger[K]) merge(op string, r Row[K], now Instant) error {
	s := &l.slots[l.index[r.Node]]
	switch {
	case r.Epoch < s.epoch:
		return &Refused{op, r.Epoch, s.epoch, "a newer session has taken over; drop the row", codeConflict}
	case r.Epoch == s.epoch && r.Beats <= s.beats && s.seen != Never:
		return nil
	}
	s.seen = max(s.seen, now.Add(-max(0, r.Age)))
	s.epoch, s.beats = r.Epoch, r.Beats
	return nil
}

// Remove forgets a node. Its session's late beats are refused from then on. It
// reports whether the node was there.
func (l *Ledger[K]) Remove(node K) bool {
	i, ok := l.index[node]
	if !ok {
		return false
	}
	var none K
	delete(l.index, node)
	l.slots[i] = slot{turn: l.slots[i].turn + 1} // voids its handles
	l.nodes[i] = none
	l.free = append(l.free, i)
	return true
}

// add gives a node a slot of its own.
func (l *Ledger[K]) add(node K) uint32 {
	var i uint32
	if n := len(l.free); n > 0 {
		i, l.free = l.free[n-1], l.free[:n-1]
	} else {
		i = uint32(len(l.slots))
		l.slots = append(l.slots, slot{turn: 1})
		l.nodes = append(l.nodes, node)
	}
	l.nodes[i], l.index[node] = node, i
	return i
}

// Seen is when the node was last seen, and false if the ledger does not have it.
func (l *Ledger[K]) Seen(node K) (Instant, bool) {
	i, ok := l.index[node]
	if !ok {
		return Never, false
	}
	return l.slots[i].seen, true
}

// Rows yields every node of the ledger, aged at now, in no set order. The ledger
// must not change meanwhile.
func (l *Ledger[K]) Rows(now Instant) iter.Seq[Row[K]] { return l.since(Never+1, now) }

// Unflushed yields, aged at now, the nodes seen since the last Flushed. A flush
// that failed is repeated by calling it again: the lag never counts against a
// node, since the ages are new each time.
func (l *Ledger[K]) Unflushed(now Instant) iter.Seq[Row[K]] { return l.since(l.flushed, now) }

// Flushed records that the rows that Unflushed(at) yielded are stored.
func (l *Ledger[K]) Flushed(at Instant) { l.flushed = max(l.flushed, at) }

// since yields the nodes last seen at from or later. One seen at the instant of
// a flush may have come just after it, so it is flushed again.
func (l *Ledger[K]) since(from, now Instant) iter.Seq[Row[K]] {
	return func(yield func(Row[K]) bool) {
		for i := range l.slots {
			s := &l.slots[i]
			if s.seen == Never || s.seen < from {
				continue
			}
			if !yield(Row[K]{l.nodes[i], s.epoch, s.beats, max(0, now.Sub(s.seen))}) {
				return
			}
		}
	}
}
