package tftp

import (
	"cmp"
	"context"
	"log/slog"
	"net"
	"net/netip"
	"slices"
	"sync"
	"time"
)

// A tid tells a client's transfers apart: the port is its TID (RFC 1350
// section 4).
type tid struct {
	client netip.AddrPort
	local  netip.Addr // the address that was asked
}

// A desk takes the requests of one Serve and holds its transfers.
type desk struct {
	Server  // with defaults
	running sync.WaitGroup

	mu      sync.Mutex
	open    map[tid]*transfer
	clients map[netip.Addr]int // transfers of an address
}

func newDesk(s *Server) *desk {
	d := &desk{Server: *s, open: map[tid]*transfer{}, clients: map[netip.Addr]int{}}
	d.Limits.Sessions = cmp.Or(s.Limits.Sessions, DefaultSessions)
	d.Limits.PerClient = cmp.Or(s.Limits.PerClient, DefaultPerClient)
	d.MTU = cmp.Or(s.MTU, DefaultMTU)
	if s.Log == nil {
		d.Log = slog.New(slog.DiscardHandler)
	}
	if s.Now == nil {
		d.Now = time.Now
	}
	if s.Listen == nil {
		d.Listen = func(local netip.AddrPort) (net.PacketConn, error) {
			return net.ListenUDP("udp", net.UDPAddrFromAddrPort(local))
		}
	}
	return d
}

// take hands a request to its transfer, which is a new one or, for a client
// that repeats itself, the one that runs.
func (d *desk) take(ctx context.Context, packet []byte, id tid) {
	a, err := parseRequest(packet)
	if err == nil && (group(id.local) || group(id.client.Addr()) || id.client.Port() == 0) {
		err = &Malformed{"not from one host to another"}
	}
	if err != nil {
		d.report(Transfer{Client: id.client, Local: id.local, Outcome: Discarded, Err: err})
		return
	}
	if !d.seat(ctx, visit{a, slices.Clone(packet)}, id) {
		d.report(Transfer{Client: id.client, Local: id.local, Name: shown(a.name), Outcome: Limited})
	}
}

// seat gives the request a transfer, if there is room for one.
func (d *desk) seat(ctx context.Context, v visit, id tid) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if t := d.open[id]; t != nil {
		t.knock(v)
		return true
	}
	client := id.client.Addr()
	if len(d.open) >= d.Limits.Sessions || d.clients[client] >= d.Limits.PerClient {
		return false
	}
	t := &transfer{desk: d, tid: id}
	d.open[id] = t
	d.clients[client]++
	d.running.Go(func() { t.run(ctx, v) })
	return true
}

// leave frees the transfer's place, unless its client has asked for something
// else meanwhile, which it returns.
func (d *desk) leave(t *transfer, last visit, o Outcome) (visit, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if v := t.knocked(); v != nil && (o == Superseded || !v.same(last)) {
		return *v, true
	}
	client := t.client.Addr()
	delete(d.open, t.tid)
	if d.clients[client]--; d.clients[client] == 0 {
		delete(d.clients, client)
	}
	return visit{}, false
}

// report tells how a request ended.
func (d *desk) report(t Transfer) {
	level := slog.LevelInfo
	switch t.Outcome {
	case Discarded, Limited, Silenced:
		level = slog.LevelDebug
	case Failed:
		level = slog.LevelError
	}
	d.Log.LogAttrs(context.Background(), level, "tftp request ended", t.attrs()...)
	if d.Done != nil {
		d.Done(t)
	}
}

// broadcast is 255.255.255.255.
var broadcast = netip.AddrFrom4([4]byte{255, 255, 255, 255})

// group reports whether a is more than one host's.
func group(a netip.Addr) bool { return a.IsMulticast() || a == broadcast }
