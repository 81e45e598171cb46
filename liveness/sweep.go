package liveness

import (
	"iter"
	"time"
)

// A Tick is what one pass of [Sweep] is to know beside the nodes.
type Tick struct {
	Windows  Windows
	Graces   *Graces // the pass adds its own suspension; nil: that counts in this pass alone
	Previous Instant // the Now of the pass before; Never: there was none
	Now      Instant

	// Confirmed holds the domains whose loss an operator has confirmed: these
	// are never frozen.
	Confirmed map[Domain]bool
}

// A Change is a node whose state differs from the recorded one.
type Change[K any] struct {
	Node     K
	From, To State
}

// SetsNoSchedule reports that new work is to be kept away from now on (JOINT-8).
func (c Change[K]) SetsNoSchedule() bool { return !c.From.NoSchedule() && c.To.NoSchedule() }

// ClearsNoSchedule reports that new work may come again. The same commit clears
// the reason and wakes what waits for it (JOINT-8).
func (c Change[K]) ClearsNoSchedule() bool { return c.From.NoSchedule() && !c.To.NoSchedule() }

// A Report is what a pass found beside the changes. Anything in it but Nodes
// asks for a person's eye.
type Report struct {
	Nodes     int
	Suspended time.Duration // how long the observer itself was stopped; see Graces.Tick
	Bounded   bool          // faults go on past what graces allow; see Graces.Bounded
	Frozen    []Freeze      // by domain
	Held      int           // changes for the worse that the frozen domains held back
	Unknown   int           // nodes in a recorded state that is not of this package
}

// A Freeze is a failure domain in which too many nodes went silent at once: the
// domain is the likelier culprit, so none of its nodes becomes unreachable or
// lost; at worst one is disconnected. It lasts until enough nodes are back or
// someone confirms the loss.
type Freeze struct {
	Domain        Domain
	Silent, Nodes int // of the nodes ever seen and not already unreachable
}

// Sweep judges every node at t.Now, each as [Windows.Judge] does, and returns
// the changes, in the order of nodes, with a report. It reads nodes once, before
// it returns, so the report is whole before the first change is acted on. It
// changes no observation and keeps none; its memory is that of the changes.
//
// A node counts as silent at once if it is past its lease or within one
// heartbeat of it, since the beats of a domain that is cut off end within one
// interval of each other. More than DomainShare percent of them freezes the
// domain.
//
// Before a change for the worse is committed its node must be read anew from
// the store; if what Sweep was given was stale, drop the whole pass.
func Sweep[K any](t Tick, nodes iter.Seq2[K, *Observation]) (iter.Seq[Change[K]], Report) {
	p := pass[K]{w: t.Windows.filled(), graces: t.Graces, now: t.Now}
	if p.graces == nil {
		p.graces = &Graces{}
	}
	p.report.Suspended = p.graces.Tick(p.w, t.Previous, t.Now)
	p.report.Bounded = p.graces.Bounded(t.Now)
	for k, o := range nodes {
		p.add(k, o)
	}
	p.freeze(t.Confirmed)
	return p.yield, p.report
}

// A pass is a Sweep under way.
type pass[K any] struct {
	w       Windows
	graces  *Graces
	now     Instant
	report  Report
	domains []tally // by Domain
	moves   []move[K]
}

// A tally counts one domain.
type tally struct {
	silent, nodes uint32
	frozen        bool
}

// A move is a change as it waits for its domain's tally, packed: when a whole
// site goes silent there are as many as nodes.
type move[K any] struct {
	node     K
	domain   Domain
	from, to uint8 // ranks
}

func (m *move[K]) change() Change[K] { return Change[K]{m.node, ranked[m.from], ranked[m.to]} }

func (p *pass[K]) add(k K, o *Observation) {
	p.report.Nodes++
	from, ok := o.State.rank()
	if !ok {
		p.report.Unknown++
		return
	}
	to, silent := p.w.judge(o, p.graces, p.now)
	if !o.State.NoSchedule() && o.sign() != Never {
		p.count(o.Domain, silent > p.w.Lease-p.w.Heartbeat)
	}
	if to != o.State {
		rank, _ := to.rank()
		p.moves = append(p.moves, move[K]{k, o.Domain, from, rank})
	}
}

func (p *pass[K]) count(d Domain, silent bool) {
	if int(d) >= len(p.domains) {
		p.domains = append(p.domains, make([]tally, int(d)+1-len(p.domains))...)
	}
	p.domains[d].nodes++
	if silent {
		p.domains[d].silent++
	}
}

// freeze marks the domains that are silent as a whole, and counts what they
// hold back.
func (p *pass[K]) freeze(confirmed map[Domain]bool) {
	for i := range p.domains {
		t, d := &p.domains[i], Domain(i)
		silent, all := int(t.silent), int(t.nodes)
		if silent < p.w.DomainMin || silent*100 <= p.w.DomainShare*all || confirmed[d] {
			continue
		}
		t.frozen = true
		p.report.Frozen = append(p.report.Frozen, Freeze{d, silent, all})
	}
	for i := range p.moves {
		if p.held(&p.moves[i]) {
			p.report.Held++
		}
	}
}

// held reports whether a frozen domain holds m back. A domain none of whose
// nodes was counted has no tally.
func (p *pass[K]) held(m *move[K]) bool {
	return ranked[m.to].NoSchedule() && m.to > m.from &&
		int(m.domain) < len(p.domains) && p.domains[m.domain].frozen
}

// yield passes the changes on. A node that is held back has no live session, so
// it is disconnected if it was not worse than that.
func (p *pass[K]) yield(yield func(Change[K]) bool) {
	for _, m := range p.moves {
		if p.held(&m) {
			m.to = max(m.from, disconnected)
		}
		if m.to != m.from && !yield(m.change()) {
			return
		}
	}
}
