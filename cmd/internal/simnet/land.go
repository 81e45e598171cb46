package simnet

import "syscall"

// land is the arrival of a flight at its receiver.
func (w *way) land(f flight) {
	to := w.to
	switch {
	case f.kind == Connect:
		w.connect()
	case to.closed || to.err != nil:
		w.unheard(f)
	case f.kind == Accepted:
		w.n.note(Accepted, &w.link, nil, 0)
		to.dialing = false
		to.write.Broadcast()
	case f.kind == Refuse:
		to.fail(syscall.ECONNREFUSED, Refuse)
	case f.kind == Deliver:
		w.n.note(Deliver, &w.link, f.data, f.size)
		w.buf = append(w.buf, f.data...)
		to.read.Broadcast()
	case f.kind == End:
		w.n.note(End, &w.link, nil, 0)
		w.ended = true
		to.read.Broadcast()
	case f.kind == Credit:
		w.n.note(Credit, &w.link, nil, 0)
		to.out.taken -= f.size
		to.write.Broadcast()
	case f.kind == Reset:
		to.fail(syscall.ECONNRESET, Reset)
	case f.kind == Break:
		w.n.note(Break, &w.link, nil, 0)
		to.fail(syscall.ECONNRESET, Reset)
		to.out.send(flight{kind: Reset})
	}
}

// unheard is an arrival at an end that is no more. To bytes, and to the answer
// to a dial, its host answers by a reset.
func (w *way) unheard(f flight) {
	w.n.note(Unheard, &w.link, nil, 0)
	if f.kind == Deliver || f.kind == Accepted || f.kind == Break {
		w.to.out.send(flight{kind: Reset})
	}
}

// connect brings a new connection to its listener.
func (w *way) connect() {
	n, c := w.n, w.to
	var l *Listener
	if h := c.site.host; h != nil && !h.dead {
		l = h.listeners[c.local.Port]
	}
	if l == nil || len(l.backlog) >= maxBacklog {
		n.note(Unheard, &w.link, nil, 0)
		c.closed = true
		c.out.send(flight{kind: Refuse})
		return
	}
	n.note(Connect, &w.link, nil, 0)
	c.peer.local.Port = c.peer.site.nextPort()
	c.host = l.host
	c.host.conns[c] = true
	l.backlog = append(l.backlog, c)
	l.arrived.Signal()
	c.out.send(flight{kind: Accepted})
}
