package simnet

import (
	"syscall"
	"time"
)

// A way is one direction of a stream.
type way struct {
	link
	n        *Net
	from, to *Conn
	marked   bool

	// The sender's side.
	out                  []byte // written since the last step
	hello, ending, reset bool   // to be sent: the first packet, the end, a reset
	ended0, reset0       bool   // and sent
	mute                 bool   // nothing is sent: the host lost its power
	taken                int    // bytes that the reader has not confirmed
	sent                 uint64 // flights
	floor, free          time.Duration

	// Under way.
	next uint64 // the flight to arrive next
	held []flight
	lost *event // the sender gives up
	void uint64 // flights below this one were given up

	// The receiver's side.
	buf   []byte
	ended bool
	read  int // bytes to be confirmed
}

// A flight is what one end sent in one go.
type flight struct {
	kind   Kind
	data   []byte
	size   int // of data, see weight; of a Credit the bytes it is for
	number uint64
	faults []Kind // drawn for it, to be noted when it arrives
}

func (w *way) mark() {
	if !w.marked && !w.n.closed {
		w.marked = true
		w.n.mark(w)
	}
}

// put takes what the window has room for.
func (w *way) put(p []byte) int {
	k := min(len(p), w.n.window-w.taken)
	if k <= 0 {
		return 0
	}
	w.out = append(w.out, p[:k]...)
	w.taken += k
	w.mark()
	return k
}

// take reads what has arrived.
func (w *way) take(p []byte) int {
	k := copy(p, w.buf)
	w.buf = w.buf[k:]
	if len(w.buf) == 0 {
		w.buf = nil
	}
	w.read += k
	if w.due() {
		w.to.out.mark()
	}
	return k
}

// due reports whether the sender has to hear that its bytes were read.
func (w *way) due() bool { return w.read > 0 && w.read >= w.n.window/2 }

// seal sends all that the sender wrote since the last step.
func (w *way) seal() {
	w.marked = false
	if w.mute {
		return
	}
	if w.hello {
		w.hello = false
		w.send(flight{kind: Connect})
	}
	if back := w.from.in; back.due() && w.from.err == nil {
		w.send(flight{kind: Credit, size: back.read})
		back.read = 0
	}
	if w.reset && !w.reset0 {
		w.reset0, w.out = true, nil
		w.send(flight{kind: Reset})
		return
	}
	if len(w.out) > 0 && w.from.err == nil {
		w.send(flight{kind: Deliver, data: w.out, size: weight(w.out)})
	}
	w.out = nil
	if w.ending && !w.ended0 {
		w.ended0 = true
		w.send(flight{kind: End})
	}
}

// send draws a flight's fate and queues its arrival.
func (w *way) send(f flight) {
	r := w.n.rule(w.from.site, w.to.site)
	l := luck{w.n.seed, w.hash, w.sent}
	now := w.n.now()
	due := now + l.within(forLatency, r.Latency)
	if r.Bandwidth > 0 {
		w.free = max(w.free, now) + time.Duration(f.size)*time.Second/time.Duration(r.Bandwidth)
		due += w.free - now
	}
	if l.hits(forStall, r.Stall) {
		f.faults = append(f.faults, Stall)
		due += l.within(forStallBy, r.StallFor)
	}
	if f.kind == Deliver && l.hits(forReset, r.Reset) {
		f = flight{kind: Break, faults: f.faults}
	}
	if f.kind == Deliver && len(f.data) > 1 && l.hits(forSegment, r.Segment) {
		f.faults = append(f.faults, Segment)
		w.pieces(l, f, due)
		return
	}
	w.queue(f, due)
}

// pieces queues a flight as 2 to 8 of them. When they arrive does not depend on
// how long the flight is. Where chance cuts the records, the last piece alone
// completes one.
func (w *way) pieces(l luck, f flight, due time.Duration) {
	count := 2 + int(l.bits(forPieces)%7)
	rest, most, size := f.data, len(f.data), f.size
	if w.n.detail != Bytes && f.size != len(f.data) {
		most = recordHeader
	}
	for i := range count {
		k := len(rest)
		if i < count-1 {
			k = int(l.bits(forPiece+i) >> 32 % uint64(min(len(rest)/2, most/2)+1))
		}
		part := k
		if i == count-1 {
			part = size
		}
		if k > 0 {
			w.queue(flight{kind: Deliver, data: rest[:k], size: part, faults: f.faults}, due)
			f.faults = nil
		}
		rest, size = rest[k:], size-part
		due += 1 + time.Duration(l.bits(forPiece+i)%uint64(time.Millisecond))
	}
}

// queue lets a flight arrive, never before one sent earlier.
func (w *way) queue(f flight, due time.Duration) {
	f.number = w.sent
	w.sent++
	w.floor = max(w.floor, due)
	w.n.push(&w.link, w.floor, func() { w.arrive(f) })
}

// arrive lands a flight, unless a cut holds it back, or one before it.
func (w *way) arrive(f flight) {
	switch {
	case w.n.blocked(w.from.site, w.to.site):
		w.hold(f)
	case f.number != w.next:
		w.n.push(&w.link, w.floor, func() { w.arrive(f) })
	default:
		w.next++
		if f.number < w.void {
			return
		}
		for _, k := range f.faults {
			w.n.note(k, &w.link, nil, 0)
		}
		w.land(f)
	}
}

// hold keeps a flight until the cut heals, or the sender gives up.
func (w *way) hold(f flight) {
	n := w.n
	n.note(Hold, &w.link, f.data, f.size)
	if len(w.held) == 0 {
		n.held[w] = true
		w.lost = n.push(&w.link, n.now()+n.giveUp, func() {
			w.void = w.sent
			w.from.fail(syscall.ETIMEDOUT, Timeout)
		})
	}
	w.held = append(w.held, f)
}

// release sends again what was held.
func (w *way) release() {
	n := w.n
	delete(n.held, w)
	n.drop(w.lost)
	l := luck{n.seed, w.hash, mix(w.next)}
	due := n.now() + l.within(forLatency, n.rule(w.from.site, w.to.site).Latency)
	w.floor = max(w.floor, due)
	w.held[0].faults = append(w.held[0].faults, Release)
	for _, f := range w.held {
		n.push(&w.link, due, func() { w.arrive(f) })
	}
	w.held = nil
}
