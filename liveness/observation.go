package liveness

import "time"

// A State is a node's connectivity. The enumeration is open: a state this
// package does not know is kept and never acted on.
type State string

// The states of LIVE-6. The empty State is a node that has none yet.
const (
	Connected    State = "connected"    // it has a live session
	Disconnected State = "disconnected" // no live session; lease plus grace not over, or never seen
	Unreachable  State = "unreachable"  // last seen longer ago than lease plus grace
	Lost         State = "lost"         // unreachable for longer than its pool waits
)

// NoSchedule reports whether s keeps new work away, which is all that it ever
// does (LIVE-3).
func (s State) NoSchedule() bool { return s == Unreachable || s == Lost }

// ranked holds the known states from best to worst.
var ranked = [...]State{"", Connected, disconnected: Disconnected, Unreachable, Lost}

// disconnected is the rank of the worst state that takes no evidence.
const disconnected uint8 = 2

// rank is the index of s in ranked, and false if s is not known.
func (s State) rank() (uint8, bool) {
	switch s {
	case Connected:
		return 1, true
	case Disconnected:
		return disconnected, true
	case Unreachable:
		return 3, true
	case Lost:
		return 4, true
	}
	return 0, s == ""
}

// A PoolKind is the kind of a pool, by its wire name.
type PoolKind string

// The kinds whose pools may give up on a node (LIVE-3). Every other kind, metal
// first of all, never has a lost node.
const (
	Provider PoolKind = "provider"
	VPSHost  PoolKind = "vps-host"
)

// A Pool is the part of a pool's policy that liveness reads.
type Pool struct {
	Kind      PoolKind
	LostAfter time.Duration // unreachable for longer is lost; 0: never
}

// Validate refuses a LostAfter that is negative, or that is set in a pool whose
// kind has no lost nodes (PLACE-6).
func (p Pool) Validate() error {
	want := "0 or more"
	switch {
	case p.LostAfter >= 0 && (p.LostAfter == 0 || p.mayLose()):
		return nil
	case !p.mayLose():
		want = "unset outside provider and vps-host pools"
	}
	return &Invalid{Field: "LostAfter", Got: p.LostAfter.String(), Want: want, Req: "PLACE-6", code: codeInput}
}

func (p Pool) mayLose() bool { return p.Kind == Provider || p.Kind == VPSHost }

// lostAfter is 0 wherever lost is not to be set, however the policy got there.
func (p *Pool) lostAfter() time.Duration {
	if p == nil || !p.mayLose() {
		return 0
	}
	return p.LostAfter
}

// A Domain is a failure domain (a rack, a switch, a room), as an index that the
// caller gives out from 0. Where nobody gives any, the whole site is domain 0.
type Domain uint16

// An Observation is what an observer knows of one node. All instants are of
// that observer's clock, and those about a session are of the node's latest
// session alone.
type Observation struct {
	State State // the recorded verdict

	Domain       Domain
	Open         bool    // the latest session is open, as far as anyone said
	AsOf         Instant // when the gateway of an open session last reported; Never: now
	Flushed      Instant // last_seen of the session, as flushed or as in the ledger
	Disconnected Instant // when it ended; where it ended by silence, its last beat
	Connected    Instant // when it began
	Issued       Instant // when the node's newest certificate was issued

	Since   Instant // since when State is recorded; where Never, unreachable is never lost
	Gateway string  // that holds or last held the session
	Pool    *Pool   // nil: none
}

// LastSeen is the last-seen rule of LIVE-1: the later of flushed last_seen and
// disconnected_at, else connected_at, else the newest certificate's issue. So a
// node that has joined, and whose first hello still waits, has a whole lease.
// The sweep and the check of one node both use it. Never: it was never seen.
func (o *Observation) LastSeen() Instant {
	if seen := max(o.Flushed, o.Disconnected); seen != Never {
		return seen
	}
	if o.Connected != Never {
		return o.Connected
	}
	return o.Issued
}

// sign is the last sign of life. Opening the session that is open is one, even
// where a row still holds the last_seen of an older session.
func (o *Observation) sign() Instant {
	if o.Open {
		return max(o.LastSeen(), o.Connected)
	}
	return o.LastSeen()
}

// asOf is the instant up to which the node's silence is known. What a gateway
// has not reported yet does not count against a node of it.
func (o *Observation) asOf(now Instant) Instant {
	if o.Open && o.AsOf != Never {
		return min(o.AsOf, now)
	}
	return now
}
