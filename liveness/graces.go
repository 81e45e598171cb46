package liveness

import (
	"cmp"
	"maps"
	"slices"
	"time"
)

// Graces remember faults of ours for as long as they delay a verdict (LIVE-2).
// Graces that overlap combine by the latest end: they are never summed, and
// none shortens another.
//
// Faults that follow each other closely form a chain, and all graces of one
// chain together last at most GraceMax. So a controller that crashes for ever
// cannot keep dead nodes alive for ever; [Graces.Bounded] reports it. That works
// only if the graces outlive the controller: see [Graces.Rows].
//
// The zero Graces hold none. They are not safe for concurrent use.
type Graces struct {
	site     chain
	gateways map[string]chain
}

// Away records that the controller or the store was away for that long, until
// back. More than OutageAfter earns every node OutageGrace from back on. A
// controller that cannot tell how long it was away passes a long time: doubt is
// in the nodes' favour.
func (g *Graces) Away(w Windows, away time.Duration, back Instant) {
	w = w.filled()
	if away > w.OutageAfter {
		g.site.earn(&w, back.Add(-away), back, w.OutageGrace)
	}
}

// GatewayLost records that a gateway was lost at an instant, and earns the
// nodes whose latest session it held GatewayGrace from there, to move to
// another one. Record a loss once. The empty name is no gateway and earns
// nothing. Chains that are over are forgotten here.
func (g *Graces) GatewayLost(w Windows, gateway string, at Instant) {
	if gateway == "" {
		return
	}
	w = w.filled()
	if g.gateways == nil {
		g.gateways = map[string]chain{}
	}
	maps.DeleteFunc(g.gateways, func(_ string, c chain) bool { return c.over <= at })
	c := g.gateways[gateway]
	c.earn(&w, at, at, w.GatewayGrace)
	g.gateways[gateway] = c
}

// Tick records two ticks in a row of the observer's own sweep, and returns the
// gap between them if it is a suspension, else 0. One is longer than two sweep
// intervals: a whole tick is missing. What passed in it counts against nobody;
// if it is longer than OutageAfter the controller was away. A previous tick of
// Never is the first sweep.
func (g *Graces) Tick(w Windows, previous, now Instant) time.Duration {
	w = w.filled()
	gap := now.Sub(previous)
	switch {
	case previous == Never || gap <= 2*w.Sweep:
		return 0
	case gap > w.OutageAfter:
		g.Away(w, gap, now)
	default:
		g.site.earn(&w, previous, now, 0)
	}
	return gap
}

// Until is the end of the grace of a gateway's nodes; Never if none was earned.
// The name of no gateway gives that of the whole site.
func (g *Graces) Until(gateway string) Instant { return g.until(gateway) }

func (g *Graces) until(gateway string) Instant {
	if g == nil {
		return Never
	}
	if len(g.gateways) == 0 {
		return g.site.end
	}
	return max(g.site.end, g.gateways[gateway].end)
}

// Bounded reports whether at now a chain of faults has used up its graces, so
// that nodes are judged although faults go on. Someone should look.
func (g *Graces) Bounded(now Instant) bool {
	if g == nil {
		return false
	}
	if g.site.cut(now) {
		return true
	}
	for _, c := range g.gateways {
		if c.cut(now) {
			return true
		}
	}
	return false
}

// A GraceRow is one chain of faults as it is stored: in durations, which mean
// the same to the next observer. Time between storing and restoring is not
// counted.
type GraceRow struct {
	Gateway string        // empty: the whole site
	Left    time.Duration // of the grace; not positive: it is over
	Over    time.Duration // until the chain is over
	Used    time.Duration // of GraceMax
	Bounded bool          // the chain earned less than it asked for
}

// Rows returns the chains that are not over at now, the site's first and then
// by gateway. Store them with each change and at each flush.
func (g *Graces) Rows(now Instant) []GraceRow {
	var rows []GraceRow
	if g.site.over > now {
		rows = append(rows, g.site.row("", now))
	}
	for name, c := range g.gateways {
		if c.over > now {
			rows = append(rows, c.row(name, now))
		}
	}
	slices.SortFunc(rows, func(a, b GraceRow) int { return cmp.Compare(a.Gateway, b.Gateway) })
	return rows
}

// RestoreGraces is the inverse of Rows, on the clock of another observer.
func RestoreGraces(rows []GraceRow, now Instant) *Graces {
	g := &Graces{gateways: map[string]chain{}}
	for _, r := range rows {
		c := chain{begin: now, end: now.Add(r.Left), over: now.Add(r.Over), used: r.Used, bounded: r.Bounded}
		if r.Gateway == "" {
			g.site = c
			continue
		}
		g.gateways[r.Gateway] = c
	}
	return g
}
