package lifecycle_test

import (
	"fmt"
	"net/netip"
	"slices"
	"time"

	sm "github.com/ingotmetal/ingot/statemachine"
	"github.com/ingotmetal/ingot/statemachine/lifecycle"
	"github.com/ingotmetal/ingot/statemachine/netboot"
	"github.com/ingotmetal/ingot/statemachine/provision"
	"github.com/ingotmetal/ingot/statemachine/registration"
	"github.com/ingotmetal/ingot/statemachine/schedule"
)

// place is a state of a model: a whole lifecycle.State, kept as the numbers of
// its parts, and the machine and its messages around it. Equal places are equal
// states, since every part is brought to one form first: epochs become current
// or stale, times none, later or due (see tidy). So a place is its own key.
type place struct {
	reg, prov, rest, site uint16
	nics                  [2]uint16
	mail                  mail  // reports under way
	power, seen           uint8 // the machine, and what the BMC last showed
	cert                  cert  // that the machine holds
}

// mail is a set of reports under way: at most one of each kind for the current
// attempt, and one for an earlier one.
type mail uint8

const (
	setupDone mail = 1 << iota
	setupFail
	flowDone
	flowFail
	staleShift      = 4
	setupMail  mail = setupDone | setupFail
	flowMail   mail = flowDone | flowFail
)

// supersede makes the current reports of kinds stale.
func (m mail) supersede(kinds mail) mail { return m&^kinds | m&kinds<<staleShift }

const (
	off, on     uint8 = 1, 2
	unseen      uint8 = 0
	noCert      cert  = 0
	currentCert cert  = 1
	revokedCert cert  = 2
	selfID            = lifecycle.NodeID("node_00000000000000000000000001")
	otherID           = lifecycle.NodeID("node_00000000000000000000000002")
	regEpoch          = 1 // what tidy calls the registration's newest attempt
	provEpoch         = 2 // and the provision axis's
	lateEpoch         = 3 // and one that is over
	siteEpoch         = 4 // the last that was given
	imageName         = "enroll-1"
)

type cert uint8

// The fixed points of the models.
var (
	noon        = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	later       = noon.Add(30 * time.Minute)
	past        = noon.Add(-time.Minute)
	someAddress = netip.MustParseAddr("10.0.0.1")
	network     = netip.MustParsePrefix("10.0.0.0/29")
	usable      = twoAddresses()
	macs        = [2]netboot.MAC{{2, 0, 0, 0, 0, 1}, {2, 0, 0, 0, 0, 2}}
	server      = registration.ServerID{1, 2, 3}
	agentA      = registration.Hash{0xa}
	agentB      = registration.Hash{0xb}
	codeOK      = registration.Hash{0xc}
	pollToken   = registration.Hash{0xd}
	bound       = registration.Key{ID: "k", Hash: registration.Hash{1}, Scope: lifecycle.ScopeAgent}
	tickets     = [3]registration.Key{
		{ID: "t1", Hash: registration.Hash{2}, Scope: lifecycle.ScopeTicket},
		{ID: "t2", Hash: registration.Hash{3}, Scope: lifecycle.ScopeTicket},
		{ID: "t3", Hash: registration.Hash{4}, Scope: lifecycle.ScopeTicket}}
	disks     = []string{"disk"}
	found     = registration.Inventory{Digest: registration.Hash{9}, MACs: []registration.MAC{registration.MAC(macs[0]), registration.MAC(macs[1])}, Seen: []registration.MAC{registration.MAC(macs[0]), registration.MAC(macs[1])}, Serials: disks}
	realized  = registration.Plan{Digest: registration.Hash{8}, Inventory: found.Digest, Serials: disks, Hostname: "m1"}
	evidence  = provision.Hash{7}
	inspected = lifecycle.Inspection{Server: server, MACs: macs[:], Inventory: lifecycle.Inventory{Digest: provision.Hash{6}, Serials: disks}}
)

// twoAddresses is the pool of the models.
func twoAddresses() lifecycle.Pool {
	pool, err := lifecycle.NewPool(network)
	if err != nil {
		panic(err)
	}
	for pool.Count() > 2 {
		a, _ := pool.Lowest()
		pool, _ = pool.Take(a)
	}
	return pool
}

// parts numbers the distinct values of one part of a state.
type parts[K comparable, V any] struct {
	values []V
	number map[K]uint16
}

func (p *parts[K, V]) of(k K, v V) uint16 {
	if n, ok := p.number[k]; ok {
		return n
	}
	if p.number == nil {
		p.number = map[K]uint16{}
	}
	n := uint16(len(p.values))
	p.values, p.number[k] = append(p.values, v), n
	return n
}

// regKey tells tidy registration rows apart.
type regKey struct {
	state                                registration.State
	ended                                registration.Kind
	before                               sm.Decided[registration.Kind]
	epoch                                uint64
	deadline                             time.Time
	code, poll                           registration.Expiring
	spent                                registration.Spent
	waiting, sealed                      registration.Sealed
	bound                                registration.Key
	tickets                              [3]registration.Key
	agent, plan                          registration.Hash
	rearmed, once, consumed, seen, known bool
	image, lastError                     string
	approved                             time.Time
}

func keyOfReg(r *registration.Record) regKey {
	return regKey{state: r.State, ended: r.Ended, before: r.Before, epoch: r.Epoch, deadline: r.Deadline, code: r.Code, poll: r.Poll, spent: r.Spent,
		waiting: r.Waiting, sealed: r.Bundle.Sealed, bound: r.Bound, tickets: r.Tickets, agent: r.AgentKey, plan: r.Plan.Digest,
		rearmed: r.Rearmed, once: r.OnceApproved, consumed: r.Bundle.Consumed, seen: len(r.Inventory.Seen) > 0,
		known: r.Server != registration.ServerID{}, image: r.Image, lastError: r.LastError, approved: r.ApprovedAt}
}

// restKey tells apart what is left of tidy nodes.
type restKey struct {
	id        lifecycle.NodeID
	claims    lifecycle.Claims
	certs     int
	writing   lifecycle.Writing
	epoch     uint64
	sched     schedule.State
	service   schedule.Service
	why       string
	inventory provision.Hash
	link      lifecycle.Link
	metal     bool
}

func keyOfRest(n *lifecycle.Node) restKey {
	return restKey{id: n.ID, claims: n.Claims, certs: len(n.Identity.Live), writing: n.Grant.Writing, epoch: n.Grant.Epoch,
		sched: n.Sched.State, service: n.Sched.Service, why: n.Sched.Why, inventory: n.Inventory.Digest, link: n.Conn.Link, metal: n.Metal.BMC != ""}
}

// siteKey tells tidy sites apart.
type siteKey struct {
	free       [6]bool
	autoSlots  int
	auto       bool
	strangers  int
	discovered int
}

func keyOfSite(s *lifecycle.Site) siteKey {
	k := siteKey{autoSlots: s.AutoApprove.Slots, auto: !s.AutoApprove.End.IsZero(), strangers: s.Unapproved, discovered: s.Discovered}
	for _, span := range s.Pool.Free {
		for a := span.First; a.Compare(span.Last) <= 0; a = a.Next() {
			k.free[a.As4()[3]-1] = true
		}
	}
	return k
}

// pack numbers the parts of a tidy state.
func (l *life) pack(f *full) place {
	p := f.place
	n := &f.Node
	p.reg = l.regs.of(keyOfReg(&n.Reg), n.Reg)
	p.prov = l.provs.of(n.Prov, n.Prov)
	p.nics = [2]uint16{}
	for i := range n.NICs {
		b := n.NICs[i]
		at := slices.Index(macs[:], b.MAC)
		b.MAC = netboot.MAC{} // its place says it
		if b.Address.IsValid() {
			b.Address = someAddress // the order of the records says which
		}
		p.nics[at] = 1 + l.nics.of(b, b)
	}
	rest := *n
	rest.Reg, rest.Prov, rest.NICs = registration.Record{}, provision.Record{}, nil
	p.rest = l.rests.of(keyOfRest(n), rest)
	p.site = l.sites.of(keyOfSite(&f.Site), f.Site)
	return p
}

// full is a place with its state spelled out.
type full struct {
	lifecycle.State
	place
}

// unpack spells p out. The boot records are f's to change.
func (l *life) unpack(p place, f *full) {
	f.place = p
	f.Node = l.rests.values[p.rest]
	f.Node.Reg, f.Node.Prov, f.Site = l.regs.values[p.reg], l.provs.values[p.prov], l.sites.values[p.site]
	for i, n := range p.nics {
		if n > 0 {
			b := l.nics.values[n-1]
			b.MAC = macs[i]
			f.Node.NICs = append(f.Node.NICs, b)
		}
	}
	tidyAddresses(f)
}

// tidy brings what a step made to its one form: epochs by name, times as
// none, later or due, versions and reasons away, a tombstone's place taken by
// the empty node that a loader finds then.
func (l *life) tidy(f *full, was *lifecycle.State) {
	n := &f.Node
	if n.Reg.Epoch != was.Node.Reg.Epoch {
		f.mail = f.mail.supersede(setupMail)
	}
	if n.Prov.Epoch != was.Node.Prov.Epoch {
		f.mail = f.mail.supersede(flowMail)
	}
	if n.Identity.Generation != was.Node.Identity.Generation && f.cert == currentCert {
		f.cert = revokedCert
	}
	tidyGrant(n)
	n.Reg.Epoch, n.Prov.Epoch = rename(n.Reg.Epoch, regEpoch), rename(n.Prov.Epoch, provEpoch)
	n.Reg.Before.Epoch, n.Prov.Before.Epoch = rename(n.Reg.Before.Epoch, lateEpoch), rename(n.Prov.Before.Epoch, lateEpoch)
	tidyMemory(f)
	f.Site.Epoch = siteEpoch
	tidyReg(&n.Reg)
	if !l.codes {
		tidyCodes(&n.Reg)
	}
	if !l.metal || l.coarse {
		n.Sched = schedule.New()
	}
	if l.coarse {
		tidyCoarse(n)
	}
	tidyTime(&n.Prov.Deadline)
	n.Prov.LastError.Why, n.Sched.Why = "", ""
	if n.Reg.LastError != "" {
		n.Reg.LastError = "e"
	}
	tidyAddresses(f)
	n.Version, n.Identity.Generation, n.Conn.Since, n.Conn.Session = 1, 1, time.Time{}, 0
	if !n.Deleted.IsZero() {
		tidyDead(n)
	}
	if f.Site.AutoApprove.End.Before(noon) || f.Site.AutoApprove.Budget && f.Site.AutoApprove.Slots == 0 {
		f.Site.AutoApprove = lifecycle.Window{}
	}
}

// tidyMemory forgets what attempts that are over were decided as, once no
// report of them is left that could ask.
func tidyMemory(f *full) {
	reg, prov := &f.Node.Reg.At, &f.Node.Prov.At
	if f.mail&(setupMail<<staleShift) == 0 {
		reg.Before = sm.Decided[registration.Kind]{}
	}
	if f.mail&(flowMail<<staleShift) == 0 {
		prov.Before = sm.Decided[provision.Kind]{}
	}
	if f.mail&setupMail == 0 && !registration.Table.Open(*reg) {
		reg.Epoch, reg.Ended = 0, ""
	}
	if f.mail&flowMail == 0 && !provision.Table.Open(*prov) {
		prov.Epoch, prov.Ended = 0, ""
	}
}

// tidyAddresses names the addresses by the order of the records that hold
// them: which of two equal addresses a record has decides nothing.
func tidyAddresses(f *full) {
	slices.SortFunc(f.Node.NICs, func(a, b netboot.Record) int { return slices.Compare(a.MAC[:], b.MAC[:]) })
	pool := usable
	for i := range f.Node.NICs {
		b := &f.Node.NICs[i]
		if b.Mode == netboot.Normal {
			b.Mode = ""
		}
		if b.Address.IsValid() {
			b.Address, _ = pool.Lowest()
			pool, _ = pool.Take(b.Address)
		}
	}
	f.Site.Pool = pool
}

func rename(epoch, name uint64) uint64 {
	if epoch == 0 {
		return 0
	}
	return name
}

func tidyGrant(n *lifecycle.Node) {
	switch n.Grant.Epoch {
	case 0:
	case n.Reg.Epoch:
		n.Grant.Epoch = regEpoch
	case n.Prov.Epoch:
		n.Grant.Epoch = provEpoch
	default:
		n.Grant.Epoch = lateEpoch // a law of the models forbids it
	}
}

func tidyReg(r *registration.Record) {
	for _, t := range []*time.Time{&r.Deadline, &r.Code.Until, &r.Poll.Until, &r.Spent.Until} {
		tidyTime(t)
	}
	if !r.Code.Holds(noon) {
		r.Code = registration.Expiring{}
	}
	if !r.Spent.Holds(noon) {
		r.Spent = registration.Spent{}
	}
	if r.Waiting == "" && !r.Poll.Holds(noon) {
		r.Poll = registration.Expiring{}
	}
	if r.AgentKey != (registration.Hash{}) {
		r.AgentKey = agentA // the one that was announced; others are others
	}
	if !r.ApprovedAt.IsZero() {
		r.ApprovedAt = noon
	}
}

// tidyCoarse forgets what the product of all axes leaves to the smaller
// models: why a machine failed, and when its disks were first seen.
func tidyCoarse(n *lifecycle.Node) {
	n.Prov.LastError.Code = ""
	n.Inventory = lifecycle.Inventory{}
	if n.Live() {
		n.Inventory = inspected.Inventory
	}
}

// tidyCodes forgets what only codes, tokens and windows tell apart, in models
// without them.
func tidyCodes(r *registration.Record) {
	r.Spent, r.Rearmed = registration.Spent{}, false
	if r.Waiting == "" {
		r.Poll = registration.Expiring{}
	}
}

func tidyTime(t *time.Time) {
	switch {
	case t.IsZero():
	case t.After(noon):
		*t = later
	default:
		*t = past
	}
}

// tidyDead is what a loader finds by the machine's UUID and MACs once its node
// is a tombstone: its row, if that stayed, and its boot records.
func tidyDead(n *lifecycle.Node) {
	dead := *n
	*n = lifecycle.Node{Schema: lifecycle.Schema, Reg: dead.Reg, NICs: dead.NICs, Prov: provision.New(), Sched: schedule.New(), Run: dead.Run}
	n.Identity.Generation, n.Version = 1, 1
	for i := range n.NICs {
		if n.NICs[i].Owner.Node == string(selfID) {
			n.NICs[i].Owner.Node = string(otherID)
		}
	}
}

// String says what the numbers of a place's parts do not depend on.
func (p place) String() string {
	return fmt.Sprintf("mail %08b, power %d, seen %d, certificate %d", p.mail, p.power, p.seen, p.cert)
}
