package booting

import (
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ingotmetal/ingot/booter"
	"github.com/ingotmetal/ingot/booter/bootscript"
	"github.com/ingotmetal/ingot/booter/dhcp4"
	"github.com/ingotmetal/ingot/booter/images"
	"github.com/ingotmetal/ingot/cmd/api"
	"github.com/ingotmetal/ingot/cmd/internal/booting/account"
)

// A Desk answers machines. It is safe for concurrent use: each answer takes
// microseconds under one lock.
type Desk struct {
	place  Place
	store  *images.Store
	key    bootscript.Key
	now    func() time.Time
	wake   chan struct{} // something waits to be told
	counts counts

	sessions atomic.Int64 // of agents that proved their key

	mu      sync.Mutex
	world   *World
	policy  *booter.Policy
	pointer bootscript.Site
	staged  map[string]string
	boots   map[string]map[booter.Platform]bool // of what is staged
	memory  *booter.Memory
	history *history
	seen    Seen
	leases  Leases
	served  Served
	heard   time.Time // the control plane
	unkept  map[string]bool
}

// NewDesk is a desk that knows nothing of the site yet, and is silent to all.
func NewDesk(p Place, store *images.Store, key bootscript.Key, now func() time.Time) *Desk {
	d := &Desk{place: p, store: store, key: key, now: now, wake: make(chan struct{}, 1), memory: booter.NewMemory(p.Limits), history: newHistory(), world: NewWorld(api.BootSnapshot{}), heard: now()}
	d.restage()
	return d
}

// Wake is ready when something new waits to be told to the control plane.
func (d *Desk) Wake() <-chan struct{} { return d.wake }

// Change changes the world, under the desk's lock, and then decides by it.
func (d *Desk) Change(fn func(*World) *World) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.world = fn(d.world)
	d.policy = d.place.policy(d.world.Policy, d.boots)
	d.leases.Keep(func(mac booter.MAC) bool { _, ok := d.world.boots[mac]; return ok })
	for mac := range d.seen.by {
		if s, ok := d.world.boots[mac]; ok && s.rec.Address.IsValid() {
			d.seen.Forget(mac)
		}
	}
}

// Restage looks at what is staged anew, and reports whether that changed.
func (d *Desk) Restage() (changed bool, err error) {
	_, err = d.store.Reload() // what is found harmed while it is served changes without it
	now := d.store.Staged()
	d.mu.Lock()
	defer d.mu.Unlock()
	if changed = !maps.Equal(now, d.staged); changed {
		d.restage()
	}
	return changed, err
}

func (d *Desk) restage() {
	d.staged = d.store.Staged()
	d.boots = make(map[string]map[booter.Platform]bool, len(d.staged))
	for name := range d.staged {
		i, _ := d.store.Image(name) // one that went meanwhile boots nothing
		d.boots[name] = i.Platforms()
	}
	loader, _ := d.store.Image(d.place.Loader) // without it there are no first boot programs
	d.pointer = d.place.pointer(loader.Manifest)
	d.policy = d.place.policy(d.world.Policy, d.boots)
}

// Answer decides the reply to a packet, and remembers it; see [dhcp4.Server].
func (d *Desk) Answer(p *dhcp4.Packet) (booter.Reply, dhcp4.Fields, bool) {
	now := d.now()
	d.mu.Lock()
	defer d.mu.Unlock()
	s := d.world.boots[p.MAC]
	p.Recent = d.memory.Recall(d.policy, p.Request, now)
	reply, why := d.policy.Answer(s.rec, p.Request, now)
	var fields dhcp4.Fields
	if why == "" {
		if fields, why = d.fields(s, reply, p.MAC); why != "" {
			reply = booter.Reply{}
		}
	}
	d.memory.Note(p.Request, reply, why, now)
	d.note(p, reply, why, now)
	return reply, fields, why == ""
}

// fields are what goes beside a reply. A platform for which no first boot program is
// staged is not served: what it was offered could not be opened.
func (d *Desk) fields(s served, r booter.Reply, mac booter.MAC) (dhcp4.Fields, booter.Silence) {
	network, gateway := d.world.network(s)
	first, ok := d.pointer.First(r.Client, r.Kind, d.key.Token(mac))
	if !ok {
		return dhcp4.Fields{}, booter.ImageUnstaged
	}
	return dhcp4.Fields{Mask: network, Router: gateway, DNS: d.place.DNS, Boot: first}, ""
}

// note remembers a packet for people and for the control plane.
func (d *Desk) note(p *dhcp4.Packet, r booter.Reply, why booter.Silence, now time.Time) {
	d.counts.packet(why)
	if p.Flaw() != "" || why == booter.RateMAC || why == booter.RateSite {
		return // it may name any MAC, or would push out what others have to say
	}
	client, shaped := d.policy.Client(&p.Request, now)
	past := d.history.of(p.MAC)
	past.packet, past.client = kept(p.Request), client
	past.add(account.Moment{Time: now, Stage: stageDHCP, What: messageName(p.Type), Silence: why, Image: r.Image, Detail: string(client.Stage)})
	if shaped && (why == booter.NoRecord || why == booter.StateDiscovered) {
		var arch booter.Arch
		if len(p.Archs) > 0 {
			arch = p.Archs[0]
		}
		d.seen.Note(p.Request, arch, now)
		d.tell()
		return
	}
	if s, ok := d.world.boots[p.MAC]; ok && shaped {
		d.report(s, stageDHCP, r.Image, why, now)
	}
}

// report queues what the control plane is told of a machine that it knows.
func (d *Desk) report(s served, stage, image string, why booter.Silence, now time.Time) {
	d.served.Note(api.ServedOnce{MAC: s.MAC, Time: now, Stage: stage, Image: image, Silence: string(why)})
	d.tell()
}

func (d *Desk) tell() {
	select {
	case d.wake <- struct{}{}:
	default:
	}
}

func messageName(t booter.MessageType) string {
	names := [...]string{"BOOTP", "DISCOVER", "OFFER", "REQUEST", "DECLINE", "ACK", "NAK", "RELEASE", "INFORM", "FORCERENEW", "LEASEQUERY"}
	if int(t) < len(names) {
		return names[t]
	}
	return "unknown"
}
