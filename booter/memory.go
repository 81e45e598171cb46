package booter

import "time"

// MaxKeys bounds what a [Memory] holds of each kind. It is over the 50,000
// MACs that the default limits let through in 10 s, so that a flood of MACs
// cannot push a live count out.
const MaxKeys = 1 << 16

// Memory is what a booter remembers between packets: the counts of BOOT-21
// and the offers of BOOT-20. It holds at most [MaxKeys] keys of each, and is
// not safe for concurrent use. Show it every packet:
//
//	req.Recent = m.Recall(p, req, now)
//	reply, why := p.Answer(rec, req, now)
//	m.Note(req, reply, why, now)
type Memory struct {
	macs   *Window[MAC]
	site   *Window[struct{}]
	boots  *Window[visit]
	offers lru[MAC, Offered]
}

// visit is a client at a stage.
type visit struct {
	mac   MAC
	stage Stage
}

// NewMemory returns an empty memory with the limits of l. A policy whose
// limits change needs a new one.
func NewMemory(l Limits) *Memory {
	return &Memory{
		macs:   NewWindow[MAC](l.mac(), MaxKeys),
		site:   NewWindow[struct{}](l.site(), 1),
		boots:  NewWindow[visit](l.boots(), MaxKeys),
		offers: newLRU[MAC, Offered](MaxKeys),
	}
}

// Recall returns what came before req.
func (m *Memory) Recall(p *Policy, req Request, now time.Time) Recent {
	r := Recent{Packets: m.macs.Count(req.MAC, now), Site: m.site.Count(struct{}{}, now)}
	if o := m.offers.get(req.MAC); o != nil {
		r.Offer = *o
	}
	req.Recent = r
	client, _ := p.Client(&req, now)
	r.Boots = m.boots.Count(visit{req.MAC, client.Stage}, now)
	return r
}

// Note takes in how req was decided. A packet that a rate limit silenced does
// not count, so a client is heard again once it slows down to the limit; one
// that is malformed counts for the site alone, since it may name any MAC. A
// client that chose another server gives up our offer.
func (m *Memory) Note(req Request, reply Reply, why Silence, now time.Time) {
	switch why {
	case RateMAC, RateSite:
		return
	case Malformed:
		m.site.Add(struct{}{}, now)
		return
	case OtherServer:
		m.offers.drop(req.MAC)
	}
	m.site.Add(struct{}{}, now)
	m.macs.Add(req.MAC, now)
	if why != "" {
		return
	}
	if reply.Kind == Offer || reply.Kind == ProxyOffer {
		*m.offers.touch(req.MAC) = Offered{now, reply.Address, reply.Client}
	}
	if reply.Kind.Boots() {
		m.boots.Add(visit{req.MAC, reply.Client.Stage}, now)
	}
}
