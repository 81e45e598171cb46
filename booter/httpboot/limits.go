package httpboot

import (
	"cmp"
	"net/netip"
	"sync"
	"time"
)

// Limits bound what clients may take at once. A request beyond them is answered with
// 503 and Retry-After. A zero field takes its default.
type Limits struct {
	PerClient int           // requests of one address at once; default 8
	Total     int           // of all; default 1,024
	Stall     time.Duration // a client that takes no MiB in this long is cut off; default 1 min
}

func (l Limits) perClient() int       { return cmp.Or(l.PerClient, 8) }
func (l Limits) total() int           { return cmp.Or(l.Total, 1024) }
func (l Limits) stall() time.Duration { return cmp.Or(l.Stall, time.Minute) }

// A gauge counts requests that are being served.
type gauge struct {
	mu      sync.Mutex
	all     int
	clients map[netip.Addr]int
}

func (g *gauge) enter(who netip.Addr, l Limits) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.all >= l.total() || g.clients[who] >= l.perClient() {
		return false
	}
	if g.clients == nil {
		g.clients = map[netip.Addr]int{}
	}
	g.all++
	g.clients[who]++
	return true
}

func (g *gauge) leave(who netip.Addr) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.all--
	if g.clients[who]--; g.clients[who] == 0 {
		delete(g.clients, who)
	}
}
