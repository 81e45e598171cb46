package simnet

import (
	"syscall"
	"time"
)

// blocked reports whether nothing passes in a direction now. A host always
// reaches itself.
func (n *Net) blocked(from, to *site) bool {
	if from == to {
		return to.dark
	}
	return to.dark || from.clogged > 0 || to.clogged > 0 || n.cuts[pair{from.name, to.name}]
}

// All calls below take effect between two steps, and return once everybody has
// reacted to them at this instant.

// Cut stops one direction between two hosts, or both if called for both. Packets
// get lost. A stream's bytes wait for Heal; after Options.GiveUp their sender
// fails with ETIMEDOUT. Nobody is told.
func (n *Net) Cut(from, to string) { n.cut(Cut, []string{from}, []string{to}) }

// Heal takes a Cut back.
func (n *Net) Heal(from, to string) { n.cut(Heal, []string{from}, []string{to}) }

// Partition cuts both directions between every host of a and every host of b.
func (n *Net) Partition(a, b []string) { n.cut(Cut, a, b); n.cut(Cut, b, a) }

// Rejoin heals what Partition cut.
func (n *Net) Rejoin(a, b []string) { n.cut(Heal, a, b); n.cut(Heal, b, a) }

func (n *Net) cut(k Kind, from, to []string) {
	n.fault(func() {
		for _, f := range from {
			for _, t := range to {
				n.site(f)
				n.site(t)
				n.cuts[pair{f, t}] = k == Cut
				l := newLink(f + ">" + t)
				n.note(k, &l, nil, 0)
			}
		}
	})
}

// fault lets the net's goroutine do f, and then settles.
func (n *Net) fault(f func()) {
	n.do(func() { f(); n.releaseHeld() })
	n.Settle()
}

// releaseHeld lets go what no cut holds any more. The order does not matter: each
// way draws for itself, and the release is noted when the flight arrives.
func (n *Net) releaseHeld() {
	for w := range n.held {
		if !n.blocked(w.from.site, w.to.site) {
			w.release()
		}
	}
}

// Clog cuts a host off from all others, both ways. Clogs add up.
func (n *Net) Clog(host string) { n.fault(func() { n.clog(n.site(host), 1) }) }

// Unclog takes one Clog back.
func (n *Net) Unclog(host string) { n.fault(func() { n.clog(n.site(host), -1) }) }

func (n *Net) clog(s *site, by int) {
	s.clogged = max(0, s.clogged+by)
	k := Clog
	if by < 0 {
		k = Unclog
	}
	n.note(k, &s.link, nil, 0)
}

// Swizzle clogs some of the hosts one after the other, and unclogs them in
// another order, all within the time given; the seed says which and when. It
// does not wait.
func (n *Net) Swizzle(hosts []string, within time.Duration) {
	n.do(func() {
		for _, h := range hosts {
			s := n.site(h)
			l := luck{n.seed, s.hash, uint64(n.now())}
			if !l.hits(1, 0.7) {
				continue
			}
			on := l.within(2, Span{0, within / 2})
			off := l.within(3, Span{within / 2, within})
			n.push(&s.link, n.now()+on, func() { n.clog(s, 1) })
			n.push(&s.link, n.now()+off, func() { n.clog(s, -1); n.releaseHeld() })
		}
	})
}

// ResetBetween resets every connection between two hosts. "*" is every host.
func (n *Net) ResetBetween(a, b string) {
	is := func(s *site, name string) bool { return name == "*" || s.name == name }
	n.fault(func() {
		for _, s := range n.sites {
			if s.host == nil || !is(s, a) && !is(s, b) {
				continue
			}
			for c := range s.host.conns {
				if is(s, a) && is(c.peer.site, b) || is(s, b) && is(c.peer.site, a) {
					n.push(&c.out.link, n.now(), func() { c.fail(syscall.ECONNRESET, Reset) })
				}
			}
		}
	})
}

// Kill ends the process that runs on a host: its listeners and connections fail
// with net.ErrClosed, one after the other at this instant, its kernel ends or
// resets the connections, and later dials are refused. Net.Host returns its
// successor.
func (n *Net) Kill(host string) { n.crash(host, Kill) }

// PowerOff ends all that runs on a host, and nobody is told: peers wait, until
// their own deadlines. What they sent meanwhile is held, and reset after PowerOn.
func (n *Net) PowerOff(host string) { n.crash(host, PowerOff) }

func (n *Net) crash(host string, k Kind) {
	n.fault(func() {
		s := n.site(host)
		n.note(k, &s.link, nil, 0)
		s.dark = k == PowerOff
		if s.host == nil || s.host.dead {
			return
		}
		s.host.die(k == PowerOff, func(l *link, wake func()) { n.push(l, n.now(), wake) })
	})
}

// PowerOn lets a host be reached again. Net.Host returns what runs there from
// now on.
func (n *Net) PowerOn(host string) {
	n.fault(func() {
		s := n.site(host)
		s.dark = false
		n.note(PowerOn, &s.link, nil, 0)
	})
}
