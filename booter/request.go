package booter

import (
	"fmt"
	"net/netip"
	"time"
)

// MAC is an Ethernet address.
type MAC [6]byte

// String is the canonical form: lower case, colons.
func (m MAC) String() string {
	return fmt.Sprintf("%02x:%02x:%02x:%02x:%02x:%02x", m[0], m[1], m[2], m[3], m[4], m[5])
}

// station reports whether m can be one machine's: neither zero nor a group
// address (IEEE 802: the lowest bit of the first octet).
func (m MAC) station() bool { return m != MAC{} && m[0]&1 == 0 }

// MessageType is option 53 (RFC 2132 section 9.6; 9 is RFC 3203, 10 to 13 are
// RFC 4388).
type MessageType uint8

// The message types. TypeBOOTP is no option 53. Only discover, request and inform
// are answered; a parser may find the others, and the decision is silent to them.
const (
	TypeBOOTP      MessageType = 0
	TypeDiscover   MessageType = 1
	TypeOffer      MessageType = 2
	TypeRequest    MessageType = 3
	TypeDecline    MessageType = 4
	TypeAck        MessageType = 5
	TypeNak        MessageType = 6
	TypeRelease    MessageType = 7
	TypeInform     MessageType = 8
	TypeForceRenew MessageType = 9
	TypeLeaseQuery MessageType = 10
)

// Flaw says what makes a packet malformed; "" is a whole packet.
type Flaw string

// The flaws. The first five are the parser's (BOOT-23); [Request.Flaw] finds
// the others in the facts.
const (
	FlawShort    Flaw = "short"    // under 240 bytes
	FlawOp       Flaw = "op"       // not a BOOTREQUEST
	FlawCookie   Flaw = "cookie"   // not the magic cookie of RFC 2131 section 3
	FlawOption   Flaw = "option"   // an option is cut off
	FlawOverload Flaw = "overload" // option 52 is not 1, 2 or 3
	FlawHardware Flaw = "hardware" // no Ethernet address of one machine: nothing to key on
	FlawHops     Flaw = "hops"     // passed a relay that left no giaddr
	FlawAddress  Flaw = "address"  // an address field that no host can have
	FlawInform   Flaw = "inform"   // an INFORM that says nowhere to answer
)

// Ethernet is the only hardware served: htype and hlen of RFC 2131 section 2.
const (
	EthernetType = 1
	EthernetLen  = 6
)

// Request holds the facts of one DHCPv4 packet, as a parser found them. An
// address is the zero Addr where its option is absent; a header address may
// also be 0.0.0.0. IPv4 addresses must be in their 4-byte form.
type Request struct {
	// The header, and option 53.
	Parsed    Flaw        // what the parser found; "" if it read the packet whole
	Type      MessageType // option 53
	HType     uint8       // hardware type
	HLen      uint8       // length of the hardware address
	Hops      uint8
	MAC       MAC
	Broadcast bool       // the flag 0x8000
	ClientIP  netip.Addr // ciaddr: the address it says it has
	RelayIP   netip.Addr // giaddr

	// The options. One of wrong length counts as absent (BOOT-23), but for 93.
	Requested   netip.Addr // option 50
	ServerID    netip.Addr // option 54
	MaxMessage  uint16     // option 57, 0 if absent
	Class       string     // option 60 as sent
	Archs       []Arch     // option 93 in its order; one [BadArch] for an odd or empty option
	UUID        [16]byte   // option 97 as sent, zero if absent: a claim, never the key (RFC 4578 section 2.3); for the edge, it decides nothing here
	UserClasses []string   // option 77, raw or in the tuples of RFC 3004
	IPXE        bool       // option 175 is there
	NoHTTP      bool       // option 175 lists what its iPXE can do, and HTTP is not among it

	// What the relay says, in suboptions of 82. Without a relay (giaddr unset)
	// the addresses are not heeded: any client can write them.
	LinkSelection  netip.Addr // suboption 82/5 (RFC 3527)
	ServerOverride netip.Addr // suboption 82/11 (RFC 5107)
	RelayPort      bool       // suboption 82/19 is there (RFC 8357)

	// How it came.
	BootPort  bool           // it came to port 4011, not 67
	Source    netip.AddrPort // of the UDP packet
	Interface string         // that received it, as in [Link.Name]

	Recent Recent // what the booter remembers, from [Memory.Recall]
}

// Recent holds what came before a packet. Each count is of what was let
// through in the window of its [Limit] and leaves this packet out.
type Recent struct {
	Packets int     // of this MAC
	Site    int     // of all MACs
	Boots   int     // this MAC was sent on its way from this stage
	Offer   Offered // the last one of ours that it still may take up
}

// Offered is an OFFER that was made. The zero value is none.
type Offered struct {
	At      time.Time
	Address netip.Addr
	Client  Client
}

// outstanding reports whether the offer was made in the last so much time. One
// from the future, as a clock that was set back leaves behind, was not.
func (o Offered) outstanding(now time.Time, last time.Duration) bool {
	age := now.Sub(o.At)
	return !o.At.IsZero() && age >= 0 && age <= last
}

// Flaw says why the packet counts as malformed, "" if it does not. What the
// parser found comes first. A hardware address that is no MAC is a flaw, as
// there is then no record to look for: some UEFI firmware can send its GUID
// there, with a length of 16.
func (r *Request) Flaw() Flaw {
	switch {
	case r.Parsed != "":
		return r.Parsed
	case r.HType != EthernetType || r.HLen != EthernetLen || !r.MAC.station():
		return FlawHardware
	case r.Hops > 0 && !r.relayed():
		return FlawHops
	case r.strayAddress():
		return FlawAddress
	case r.Type == TypeInform && !r.BootPort && !r.relayed() && !set(r.ClientIP) && !set(r.Source.Addr()):
		return FlawInform
	}
	return ""
}

// strayAddress reports whether an address is none of IPv4, or whether one
// that replies go to is not a host's: a forged one must not make the booter
// send to a group.
func (r *Request) strayAddress() bool {
	for _, a := range [...]netip.Addr{r.Requested, r.ServerID, r.LinkSelection, r.ServerOverride} {
		if a.IsValid() && !a.Is4() {
			return true
		}
	}
	for _, a := range [...]netip.Addr{r.ClientIP, r.RelayIP, r.Source.Addr()} {
		if a.IsValid() && (!a.Is4() || a.IsMulticast() || a == limitedBroadcast) {
			return true
		}
	}
	return false
}

func (r *Request) relayed() bool { return set(r.RelayIP) }

// limitedBroadcast is 255.255.255.255.
var limitedBroadcast = netip.AddrFrom4([4]byte{255, 255, 255, 255})

// set reports whether a header field holds an address.
func set(a netip.Addr) bool { return a.IsValid() && !a.IsUnspecified() }
