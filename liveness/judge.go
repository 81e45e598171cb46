package liveness

import "time"

// Judge returns the state that o deserves at now (LIVE-6). It is pure; g may be
// nil, which is no grace. Windows that Validate refuses give no useful verdict.
//
// Silence counts from the later of the last sign of life and the end of the
// node's grace, and a node silent for longer than a lease is unreachable. So a
// grace delays a verdict by its length and is never added to another. It only
// delays: what was already found unreachable stays so until it is seen again.
//
// An open session is live while its silence is within the lease: a socket
// nobody beats on is none. A new session makes any state connected. Lost comes
// only after unreachable was recorded, and only in the pools of LIVE-3. A
// recorded state this package does not know is returned as it is.
//
// [Sweep] may hold a bad verdict of Judge back, where a whole failure domain
// went silent at once.
func (w Windows) Judge(o Observation, g *Graces, now Instant) State {
	w = w.filled()
	s, _ := w.judge(&o, g, now)
	return s
}

// judge is Judge for windows that are filled. It also tells how long the node
// has been silent, graces taken off.
func (w *Windows) judge(o *Observation, g *Graces, now Instant) (State, time.Duration) {
	sign, asOf := o.sign(), o.asOf(now)
	silent := asOf.Sub(sign)
	if _, ok := o.State.rank(); !ok {
		return o.State, 0
	}
	switch {
	case o.Open && silent <= w.Lease-w.Heartbeat:
		return Connected, silent // the way of nearly every node; it asks no grace
	case sign == Never:
		return Disconnected, 0
	case o.State.NoSchedule() && silent > w.Lease:
		return o.gone(g, asOf), silent
	}
	live := o.Open && silent <= w.Lease
	silent = asOf.Sub(max(sign, g.until(o.Gateway)))
	switch {
	case live:
		return Connected, silent
	case silent > w.Lease:
		return Unreachable, silent
	}
	return Disconnected, silent
}

// gone tells unreachable from lost, for a node that was and is one of them. A
// grace puts lost off as it puts off unreachable.
func (o *Observation) gone(g *Graces, asOf Instant) State {
	after := o.Pool.lostAfter()
	switch {
	case after <= 0:
		return Unreachable
	case o.State == Lost:
		return Lost
	case o.Since != Never && asOf.Sub(max(o.Since, g.until(o.Gateway))) > after:
		return Lost
	}
	return Unreachable
}
