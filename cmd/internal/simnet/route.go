package simnet

import "net/netip"

// seal sends the packets written since the last step.
func (p *PacketConn) seal() {
	p.marked = false
	n := p.host.net
	for _, k := range p.out {
		heard := false
		for _, to := range n.air[port{p.port.segment, k.peer.Port()}] {
			if to != p && to.hears(k.peer.Addr()) {
				heard = true
				p.send(to, packet{p.source(), k.data})
			}
		}
		if !heard {
			n.counts[Unheard]++
		}
		p.sent++
	}
	p.out = nil
}

// broadcast is everybody on a segment.
func broadcast() netip.Addr { return netip.AddrFrom4([4]byte{255, 255, 255, 255}) }

func (p *PacketConn) hears(to netip.Addr) bool {
	return to == broadcast() || p.source().Addr() == to
}

// send draws a packet's fate on its path to one receiver.
func (p *PacketConn) send(to *PacketConn, k packet) {
	n := p.host.net
	w := p.paths[to]
	if w == nil {
		w = &path{link: newLink(p.name + " > " + to.name)}
		p.paths[to] = w
	}
	r := n.rule(p.host.site, to.host.site)
	l := luck{n.seed, w.hash, p.sent}
	due := n.now() + l.within(forLatency, r.Latency)
	if l.hits(forDrop, r.Drop) {
		n.push(&w.link, due, func() { n.note(Drop, &w.link, k.data, len(k.data)) })
		return
	}
	if l.hits(forReorder, r.Reorder) {
		n.push(&w.link, due+1+l.within(forReorderBy, r.ReorderBy), func() { p.arrive(w, to, k, Reorder) })
	} else {
		w.floor = max(w.floor, due)
		n.push(&w.link, w.floor, func() { p.arrive(w, to, k, "") })
	}
	if l.hits(forDuplicate, r.Duplicate) {
		again := luck{n.seed, w.hash, mix(p.sent)}.within(forLatency, r.Latency)
		n.push(&w.link, due+again, func() { p.arrive(w, to, k, Duplicate) })
	}
}

// arrive hands a packet to its receiver, if it still can.
func (p *PacketConn) arrive(w *path, to *PacketConn, k packet, how Kind) {
	n := p.host.net
	if how != "" {
		n.note(how, &w.link, nil, 0)
	}
	switch {
	case to.closed:
		n.note(Unheard, &w.link, nil, 0)
	case n.blocked(p.host.site, to.host.site):
		n.note(Drop, &w.link, k.data, len(k.data))
	case len(to.in) >= maxQueue:
		n.note(Overflow, &w.link, k.data, len(k.data))
	default:
		n.note(Deliver, &w.link, k.data, len(k.data))
		to.in = append(to.in, k)
		to.arrived.Signal()
	}
}
