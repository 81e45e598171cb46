package dhcp4

import (
	"encoding/binary"
	"iter"
	"net/netip"

	"github.com/ingotmetal/ingot/booter"
)

// A Packet is a DHCPv4 message as it came. Its slices, those of the Request too, are
// parts of the bytes that Read was given or of the Packet, and good until its next
// Read. The zero Packet is ready. It is not safe for concurrent use.
type Packet struct {
	booter.Request

	XID      [4]byte
	Secs     uint16
	Flags    uint16
	Hardware [16]byte // chaddr, all of it
	Asked    []byte   // option 55: what it asks for
	ClientID []byte   // option 61, opaque
	Agent    []byte   // option 82, as its relay sent it
	Machine  []byte   // option 97, as sent
	Item     BootItem

	opts  options
	archs [8]booter.Arch
}

// A BootItem is what a client chose from a boot menu (PXE 2.1, option 43/71). Set
// says that it chose.
type BootItem struct {
	Set         bool
	Type, Layer uint16
}

// MaxArchs is how many architectures of option 93 are read.
const MaxArchs = 8

// Read reads a message. Where it cannot, Request.Parsed says why, and of the other
// facts only those are there that come before the flaw. How the packet came
// (BootPort, Source, Interface) is for the caller to fill in after.
func (p *Packet) Read(b []byte) {
	*p = Packet{opts: options{joined: p.opts.joined}}
	b = b[:min(len(b), maxPacket)] // of a longer one, what is cut is found
	if p.Parsed = p.header(b); p.Parsed != "" {
		return
	}
	if p.Parsed = p.opts.read(b); p.Parsed != "" {
		return
	}
	p.facts()
	p.boots()
	p.relayed()
}

// header reads what is before the options.
func (p *Packet) header(b []byte) booter.Flaw {
	switch {
	case len(b) < offOptions:
		return booter.FlawShort
	case b[0] != 1:
		return booter.FlawOp
	}
	p.HType, p.HLen, p.Hops = b[offType], b[offLen], b[offHops]
	p.XID = [4]byte(b[offXID:])
	p.Secs = binary.BigEndian.Uint16(b[offSecs:])
	p.Flags = binary.BigEndian.Uint16(b[offFlags:])
	p.Broadcast = p.Flags&0x8000 != 0
	p.ClientIP, p.RelayIP = address(b[offClient:]), address(b[offRelay:])
	p.Hardware = [16]byte(b[offHW:])
	p.MAC = booter.MAC(p.Hardware[:6])
	if [4]byte(b[offCookie:]) != cookie {
		return booter.FlawCookie
	}
	return ""
}

// cookie is the magic cookie (RFC 2131 section 3).
var cookie = [4]byte{99, 130, 83, 99}

func address(b []byte) netip.Addr { return netip.AddrFrom4([4]byte(b)) }

// facts reads the options that every client may send.
func (p *Packet) facts() {
	if v, ok := p.opts.get(optType); ok && len(v) == 1 {
		p.Type = booter.MessageType(v[0])
	}
	p.Requested, p.ServerID = p.address(optRequested), p.address(optServerID)
	if v, ok := p.opts.get(optMaxMessage); ok && len(v) == 2 {
		p.MaxMessage = binary.BigEndian.Uint16(v)
	}
	p.Asked, _ = p.opts.get(optAsked)
	if v, ok := p.opts.get(optClientID); ok && len(v) >= 2 { // RFC 2132 section 9.14
		p.ClientID = v
	}
}

// address is an option that holds one address.
func (p *Packet) address(code byte) netip.Addr {
	v, ok := p.opts.get(code)
	if !ok || len(v) != 4 {
		return netip.Addr{}
	}
	return address(v)
}

// boots reads the options of clients that boot.
func (p *Packet) boots() {
	if v, ok := p.opts.get(optClass); ok {
		p.Class = string(v)
	}
	if v, ok := p.opts.get(optArch); ok {
		p.Archs = readArchs(v, p.archs[:0])
	}
	if v, ok := p.opts.get(optMachine); ok && len(v) == 17 {
		if p.Machine = v; v[0] == 0 {
			p.UUID = [16]byte(v[1:])
		}
	}
	if v, ok := p.opts.get(optUserClass); ok {
		p.UserClasses = userClasses(v)
	}
	if v, ok := p.opts.get(optIPXE); ok {
		p.IPXE, p.NoHTTP = true, lacksHTTP(v)
	}
	if v, ok := p.opts.get(optVendor); ok {
		p.Item = bootItem(v)
	}
}

// readArchs reads option 93: numbers of two bytes (RFC 4578 section 2.1).
func readArchs(v []byte, out []booter.Arch) []booter.Arch {
	if len(v) == 0 || len(v)%2 != 0 {
		return append(out, booter.BadArch)
	}
	for i := 0; i < len(v) && len(out) < MaxArchs; i += 2 {
		out = append(out, booter.Arch(binary.BigEndian.Uint16(v[i:])))
	}
	return out
}

// maxClasses is how many user classes are read.
const maxClasses = 8

// userClasses reads option 77: pairs of length and value (RFC 3004 section 4), or,
// as iPXE and others send it, one bare value.
func userClasses(v []byte) []string {
	var out []string
	for rest := v; len(rest) > 0; {
		n := int(rest[0])
		if n == 0 || n >= len(rest) || len(out) == maxClasses {
			return []string{string(v)}
		}
		out, rest = append(out, string(rest[1:1+n])), rest[1+n:]
	}
	return out
}

// lacksHTTP reports whether an iPXE that lists its features, in option 175, leaves HTTP
// out. One that lists none says nothing.
func lacksHTTP(v []byte) (lacks bool) {
	for code := range suboptions(v) {
		if code == ipxeHTTP {
			return false
		}
		lacks = lacks || ipxeFeatures <= code && code <= ipxeLastFeature
	}
	return lacks
}

// bootItem reads what was chosen from a menu out of option 43. A layer whose highest
// bit is set asks for credentials, which nobody here gives: that counts as no choice.
func bootItem(v []byte) BootItem {
	item, ok := suboption(v, vendorBootItem)
	if !ok || len(item) != 4 || item[2]&0x80 != 0 {
		return BootItem{}
	}
	return BootItem{true, binary.BigEndian.Uint16(item), binary.BigEndian.Uint16(item[2:])}
}

// relayed reads what the relay added (RFC 3046).
func (p *Packet) relayed() {
	p.Agent, _ = p.opts.get(optAgent)
	if v, ok := suboption(p.Agent, subLink); ok && len(v) == 4 {
		p.LinkSelection = address(v)
	}
	if v, ok := suboption(p.Agent, subServerID); ok && len(v) == 4 {
		p.ServerOverride = address(v)
	}
	_, p.RelayPort = suboption(p.Agent, subRelayPort)
}

// suboption finds an encapsulated option.
func suboption(v []byte, code byte) ([]byte, bool) {
	for c, value := range suboptions(v) {
		if c == code {
			return value, true
		}
	}
	return nil, false
}

// suboptions are the encapsulated options of an option (RFC 2132 section 8.4). One that
// is cut off ends them.
func suboptions(v []byte) iter.Seq2[byte, []byte] {
	return func(yield func(byte, []byte) bool) {
		for len(v) > 0 && v[0] != optEnd {
			if v[0] == optPad {
				v = v[1:]
				continue
			}
			if len(v) < 2 || len(v) < 2+int(v[1]) || !yield(v[0], v[2:2+int(v[1])]) {
				return
			}
			v = v[2+int(v[1]):]
		}
	}
}
