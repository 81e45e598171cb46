package booting

import (
	"container/list"
	"net/netip"

	"github.com/ingotmetal/ingot/booter"
	"github.com/ingotmetal/ingot/cmd/internal/booting/account"
)

// The bounds of what is remembered for people.
const (
	historyMACs = 4096
	historyEach = 32
)

// history is the last moments of the machines that were heard of last.
type history struct {
	order *list.List // of *past, the last heard of first
	by    map[booter.MAC]*list.Element
}

type past struct {
	mac     booter.MAC
	moments []account.Moment // a ring once it is full
	next    int
	packet  booter.Request // the last one of DHCP, for why-silent
	client  booter.Client
}

func newHistory() *history { return &history{list.New(), map[booter.MAC]*list.Element{}} }

// of is a machine's past, made where there is none.
func (h *history) of(mac booter.MAC) *past {
	if e, ok := h.by[mac]; ok {
		h.order.MoveToFront(e)
		return e.Value.(*past)
	}
	if h.order.Len() >= historyMACs {
		last := h.order.Back()
		delete(h.by, last.Value.(*past).mac)
		h.order.Remove(last)
	}
	p := &past{mac: mac}
	h.by[mac] = h.order.PushFront(p)
	return p
}

// heard is the past of a machine of which a packet of DHCP was kept, or nil.
func (h *history) heard(mac booter.MAC) *past {
	e, ok := h.by[mac]
	if !ok || e.Value.(*past).packet.MAC != mac {
		return nil
	}
	return e.Value.(*past)
}

func (p *past) add(m account.Moment) {
	if len(p.moments) < historyEach {
		p.moments = append(p.moments, m)
		return
	}
	p.moments[p.next] = m
	p.next = (p.next + 1) % historyEach
}

// again adds a moment, in the place of the last one where that was the same.
func (p *past) again(m account.Moment) {
	if n := len(p.moments); n > 0 {
		last := &p.moments[(p.next+n-1)%n]
		was := *last
		if was.Time = m.Time; was == m {
			*last = m
			return
		}
	}
	p.add(m)
}

// all are a machine's moments, the oldest first.
func (h *history) all(mac booter.MAC) []account.Moment {
	e, ok := h.by[mac]
	if !ok {
		return []account.Moment{}
	}
	p := e.Value.(*past)
	return append(append([]account.Moment{}, p.moments[p.next:]...), p.moments[:p.next]...)
}

// kept is a request that may be kept: its slices are its own.
func kept(r booter.Request) booter.Request {
	r.Archs = append([]booter.Arch(nil), r.Archs...)
	r.UserClasses = append([]string(nil), r.UserClasses...)
	return r
}

func addrText(a netip.Addr) string {
	if !a.IsValid() || a.IsUnspecified() {
		return ""
	}
	return a.String()
}
