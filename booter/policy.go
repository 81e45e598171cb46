package booter

import (
	"cmp"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"time"
)

// Policy is the site as a booter sees it. Its zero value is silent to all: no
// network is the site's. It is read only; share it between goroutines freely.
type Policy struct {
	AnswerAny  bool   // answer_only_pxe is off: give addresses to clients that do not boot
	UBoot      bool   // U-Boot may boot (BOOT-20)
	Proxy      bool   // proxyDHCP: another server gives the addresses
	ChainClass string // user class of the site's own iPXE; "" if it has none

	Networks  []netip.Prefix  // the admin networks
	Links     []Link          // the interfaces of this booter
	ServerIDs []netip.Addr    // further addresses of ours; the first serves a link that has none
	Staged    map[string]bool // the images whose files are here, whole and checked

	// Boots holds the platforms that an image has a program for; one that is not in it has
	// one for all. What has none for a client counts as not staged.
	Boots map[string]map[Platform]bool

	Enrollment string // image of enrolling records; "" if unset
	Rescue     string // image of mode rescue; "" if unset

	Limits Limits
}

// Link is an interface of the booter. A direct client is served where one of
// the link's networks overlaps an admin network; a relayed client on any link.
type Link struct {
	Name     string
	ServerID netip.Addr     // its address, which names the booter in option 54
	Networks []netip.Prefix // those it is connected to
}

// Limits are the bounds of BOOT-20 and BOOT-21. A zero field takes its
// default.
type Limits struct {
	MAC   Limit         // packets of one MAC; default 20 in 10 s
	Site  Limit         // packets of all; default 5,000 in 1 s
	Boots Limit         // same MAC, same stage; default 10 in 10 min
	Offer time.Duration // how long an offer may be taken up by a bare REQUEST; default 120 s
}

// Limit lets Max through in any span of Per. The one after them is silenced.
type Limit struct {
	Max int
	Per time.Duration
}

// or fills the fields that are zero from def.
func (l Limit) or(def Limit) Limit {
	return Limit{cmp.Or(l.Max, def.Max), cmp.Or(l.Per, def.Per)}
}

func (l Limits) mac() Limit           { return l.MAC.or(Limit{20, 10 * time.Second}) }
func (l Limits) site() Limit          { return l.Site.or(Limit{5000, time.Second}) }
func (l Limits) boots() Limit         { return l.Boots.or(Limit{10, 10 * time.Minute}) }
func (l Limits) offer() time.Duration { return cmp.Or(l.Offer, 120*time.Second) }

// Validate reports every field that cannot be meant, joined; each is an
// *[Invalid]. Images are not judged: one that is unset, refused or not staged
// is a reason of silence, which lifts as soon as it is mended (BOOT-2).
func (p *Policy) Validate() error {
	var errs []error
	add := func(field string, value any, want string) {
		errs = append(errs, &Invalid{field, fmt.Sprint(value), want, "BOOT-21"})
	}
	for _, n := range p.Networks {
		if !n.IsValid() || !n.Addr().Is4() {
			add("Networks", n, "an IPv4 prefix")
		}
	}
	for _, id := range p.ServerIDs {
		if !host(id) {
			add("ServerIDs", id, "an IPv4 address of a host")
		}
	}
	for _, l := range p.Links {
		if !host(l.ServerID) && (l.ServerID.IsValid() || len(p.ServerIDs) == 0) {
			add("Links", l.Name+" "+l.ServerID.String(), "a ServerID that is an IPv4 address of a host")
		}
	}
	if len(p.Links) == 0 && len(p.ServerIDs) == 0 {
		add("Links", "none", "a link or a server ID")
	}
	return errors.Join(append(errs, p.Limits.validate()...)...)
}

// validate reports the limits that are negative.
func (l Limits) validate() []error {
	var errs []error
	for _, f := range []struct {
		name string
		Limit
	}{{"Limits.MAC", l.MAC}, {"Limits.Site", l.Site}, {"Limits.Boots", l.Boots}, {"Limits.Offer", Limit{0, l.Offer}}} {
		if f.Max < 0 || f.Per < 0 {
			errs = append(errs, &Invalid{f.name, fmt.Sprintf("%d in %s", f.Max, f.Per), "0 or more, where 0 is the default", "BOOT-21"})
		}
	}
	return errs
}

// host reports whether one machine can have a.
func host(a netip.Addr) bool {
	return a.Is4() && set(a) && !a.IsMulticast() && a != limitedBroadcast
}

// link returns the interface of that name; a zero one if it is not ours.
func (p *Policy) link(name string) Link {
	for _, l := range p.Links {
		if l.Name == name {
			return l
		}
	}
	return Link{}
}

// ours reports whether id names this booter to the sender of req. A relay
// that overrides the server ID speaks for us (RFC 5107 section 4).
func (p *Policy) ours(id netip.Addr, req *Request) bool {
	return slices.Contains(p.ServerIDs, id) ||
		slices.ContainsFunc(p.Links, func(l Link) bool { return l.ServerID == id }) ||
		req.relayed() && req.ServerOverride == id
}

// serverID is the option 54 of a reply: the one that the client chose, so
// that an ACK repeats its OFFER; else the relay's; else the link's.
func (p *Policy) serverID(req *Request) netip.Addr {
	if req.ServerID.IsValid() {
		return req.ServerID
	}
	if req.relayed() && set(req.ServerOverride) {
		return req.ServerOverride
	}
	if id := p.link(req.Interface).ServerID; id.IsValid() || len(p.ServerIDs) == 0 {
		return id
	}
	return p.ServerIDs[0]
}

// foreign reports whether req comes from outside the admin networks: a
// relayed one by its link selection, else its relay (RFC 3527 section 3), a
// direct one by the interface that received it.
func (p *Policy) foreign(req *Request) bool {
	if !req.relayed() {
		return !p.carries(p.link(req.Interface))
	}
	at := req.RelayIP
	if set(req.LinkSelection) {
		at = req.LinkSelection
	}
	for _, n := range p.Networks {
		if n.Contains(at) {
			return false
		}
	}
	return true
}

// carries reports whether l is connected to an admin network.
func (p *Policy) carries(l Link) bool {
	for _, n := range l.Networks {
		for _, admin := range p.Networks {
			if n.Overlaps(admin) {
				return true
			}
		}
	}
	return false
}
