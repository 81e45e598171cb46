package booter

import "net/netip"

// Kind is what a reply is. There is no NAK (BOOT-6).
type Kind string

// The kinds. Lease times, mask and router go with Offer and Ack alone
// (BOOT-24).
const (
	Offer      Kind = "offer"
	Ack        Kind = "ack"
	ProxyOffer Kind = "proxy-offer" // boot fields; another server gives the address
	InformAck  Kind = "inform-ack"  // boot fields, to a client that has an address
	BootAck    Kind = "boot-ack"    // boot fields, from port 4011
)

// Message is the kind's option 53.
func (k Kind) Message() MessageType {
	if k == Offer || k == ProxyOffer {
		return TypeOffer
	}
	return TypeAck
}

// Leases reports whether the reply gives an address, and so carries the lease.
func (k Kind) Leases() bool { return k == Offer || k == Ack }

// Boots reports whether the reply counts as a boot in the bound on loops: the
// last one that a client needs before it loads something. A BootAck follows
// on one that was counted.
func (k Kind) Boots() bool { return k == Ack || k == ProxyOffer || k == InformAck }

// Reply is an answer, decided but not yet written. Its Boot is zero for a
// [Plain] client, which gets a lease and no boot fields.
type Reply struct {
	Boot
	Kind     Kind
	Client   Client
	Address  netip.Addr // yiaddr; the zero Addr where the kind gives none
	ServerID netip.Addr // option 54, and the source address
	MaxSize  int        // bytes of DHCP message that the client takes (BOOT-23)
	To       Destination
}

// Via is how a reply gets to its destination.
type Via string

// The ways.
const (
	Routed    Via = "routed"    // by the routing table
	Broadcast Via = "broadcast" // to 255.255.255.255 on the interface
	Direct    Via = "direct"    // on the interface, to the hardware address: the client has no IP yet
)

// Destination is where a reply goes. Interface is set unless it is routed,
// Hardware if it is direct. A direct reply needs a raw socket or an entry in
// the ARP table, since the client does not answer ARP yet; an edge that has
// neither broadcasts instead.
type Destination struct {
	Via       Via
	To        netip.AddrPort
	Interface string
	Hardware  MAC
}

// Ports of BOOTP (RFC 2131 section 4.1) and of the PXE boot server (PXE 2.1).
const (
	ServerPort = 67
	ClientPort = 68
	BootPort   = 4011
)

// The sizes of BOOT-23, in bytes of DHCP message. 548 is the 576 bytes of
// IPv4 that every host takes, less the headers of IP and UDP; 1472 is the
// same of an Ethernet frame.
const (
	DefaultSize = 548
	MinMaxSize  = 576
	LargestSize = 1472
)

// maxSize applies BOOT-23 to option 57.
func maxSize(option57 uint16) int {
	if option57 == 0 {
		return DefaultSize
	}
	return min(max(int(option57), MinMaxSize), LargestSize)
}

// reply is the answer of a decision that nothing silences.
func (d *decision) reply() Reply {
	r := Reply{
		Kind:     d.kind(),
		Client:   d.client,
		ServerID: d.serverID(&d.req),
		MaxSize:  maxSize(d.req.MaxMessage),
	}
	if r.Kind.Leases() {
		r.Address = d.rec.Address
	}
	if d.client.Stage != Plain {
		r.Boot = d.choice.boot(&d.rec)
	}
	r.To = d.req.destination(r.Kind, r.Address)
	return r
}

// kind is the reply's kind, by the port, then the message, then the mode. A
// REQUEST on 67 gets this far in server mode alone.
func (d *decision) kind() Kind {
	switch {
	case d.req.BootPort:
		return BootAck
	case d.req.Type == TypeInform:
		return InformAck
	case d.req.Type == TypeRequest:
		return Ack
	case d.Proxy:
		return ProxyOffer
	}
	return Offer
}

// destination applies RFC 2131 section 4.1 to a reply that gives the address
// yours, or none. On 4011 it goes back where the packet came from; an INFORM
// is answered at the address it names, else at its source (BOOT-24). An
// OFFER of a proxy is never sent to ciaddr, which nobody has vouched for.
func (r *Request) destination(k Kind, yours netip.Addr) Destination {
	switch {
	case k == BootAck:
		return r.back()
	case k == InformAck && set(r.ClientIP):
		return routed(r.ClientIP, ClientPort)
	case r.relayed():
		return routed(r.RelayIP, r.relayPort())
	case k == InformAck:
		return routed(r.Source.Addr(), ClientPort)
	case k.Leases() && set(r.ClientIP):
		return routed(r.ClientIP, ClientPort)
	case r.Broadcast || !yours.IsValid():
		return r.broadcast(ClientPort)
	}
	return Destination{Direct, netip.AddrPortFrom(yours, ClientPort), r.Interface, r.MAC}
}

// back returns where a packet to 4011 came from, its port included: firmware
// listens on 4011 itself.
func (r *Request) back() Destination {
	port := r.Source.Port()
	if port == 0 {
		port = BootPort
	}
	switch {
	case set(r.Source.Addr()):
		return routed(r.Source.Addr(), port)
	case set(r.ClientIP):
		return routed(r.ClientIP, port)
	}
	return r.broadcast(port)
}

// relayPort is 67, or the relay's own port where it says that it listens
// there (RFC 8357 section 5.1).
func (r *Request) relayPort() uint16 {
	if port := r.Source.Port(); r.RelayPort && port != 0 {
		return port
	}
	return ServerPort
}

// broadcast goes out where the packet came in, and nowhere else.
func (r *Request) broadcast(port uint16) Destination {
	return Destination{Via: Broadcast, To: netip.AddrPortFrom(limitedBroadcast, port), Interface: r.Interface}
}

func routed(to netip.Addr, port uint16) Destination {
	return Destination{Via: Routed, To: netip.AddrPortFrom(to, port)}
}
