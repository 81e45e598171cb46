package dhcp4

import "github.com/ingotmetal/ingot/booter"

// The options that are read or written (RFC 2132 and, where said, others).
const (
	optPad         = 0
	optMask        = 1
	optRouter      = 3
	optDNS         = 6
	optHostName    = 12
	optVendor      = 43
	optRequested   = 50
	optLease       = 51
	optOverload    = 52
	optType        = 53
	optServerID    = 54
	optAsked       = 55
	optMaxMessage  = 57
	optRenewal     = 58
	optRebinding   = 59
	optClass       = 60
	optClientID    = 61
	optServerName  = 66
	optBootFile    = 67
	optUserClass   = 77  // RFC 3004
	optAgent       = 82  // RFC 3046
	optArch        = 93  // RFC 4578
	optMachine     = 97  // RFC 4578
	optIPXE        = 175 // iPXE's encapsulated options
	optEnd         = 255
	subLink        = 5  // RFC 3527
	subServerID    = 11 // RFC 5107
	subRelayPort   = 19 // RFC 8357
	vendorBoot     = 6  // PXE 2.1, table 2-4: discovery control
	vendorBootItem = 71 // PXE 2.1, table 2-5
)

// The suboptions of option 175 by which an iPXE lists what it can do: from the first to
// the last (iPXE, "DHCP feature option tags").
const (
	ipxeFeatures    = 0x10
	ipxeHTTP        = 0x13
	ipxeLastFeature = 0x7f
)

// The layout of a message (RFC 2131 section 2).
const (
	offType    = 1
	offLen     = 2
	offHops    = 3
	offXID     = 4
	offSecs    = 8
	offFlags   = 10
	offClient  = 12
	offYour    = 16
	offNext    = 20
	offRelay   = 24
	offHW      = 28
	offServer  = 44  // sname, 64 bytes
	offFile    = 108 // file, 128 bytes
	offCookie  = 236
	offOptions = 240
)

// maxPacket is how much of a packet is read. No UDP payload on Ethernet is longer.
const maxPacket = 1500

// maxJoined bounds the bytes that are copied to join split options, so that a
// hostile packet costs no more than a few honest ones.
const maxJoined = 4096

// A span is where an option's value is: nowhere, in the packet, or in joined.
type span struct {
	at, n uint16
	in    uint8
}

const (
	inPacket = 1 + iota
	inJoined
)

// options are the options of one packet, each joined from its parts.
type options struct {
	packet []byte
	joined []byte
	spans  [256]span
}

// get is the value of an option.
func (o *options) get(code byte) ([]byte, bool) {
	s := o.spans[code]
	switch s.in {
	case inPacket:
		return o.packet[s.at : s.at+s.n : s.at+s.n], true
	case inJoined:
		return o.joined[s.at : s.at+s.n : s.at+s.n], true
	}
	return nil, false
}

// read finds the options in the packet's options field, and then in file and sname
// where option 52 says so, in that order (RFC 2131 section 4.1).
func (o *options) read(packet []byte) booter.Flaw {
	o.packet, o.joined, o.spans = packet, o.joined[:0], [256]span{}
	if flaw := o.walk(offOptions, len(packet)); flaw != "" {
		return flaw
	}
	over, ok := o.get(optOverload)
	if !ok {
		return ""
	}
	if len(over) != 1 || over[0] < 1 || over[0] > 3 {
		return booter.FlawOverload
	}
	if over[0]&1 != 0 {
		if flaw := o.walk(offFile, offCookie); flaw != "" {
			return flaw
		}
	}
	if over[0]&2 != 0 {
		return o.walk(offServer, offFile)
	}
	return ""
}

// walk reads the options between two offsets.
func (o *options) walk(at, end int) booter.Flaw {
	for at < end {
		code := o.packet[at]
		if at++; code == optPad {
			continue
		}
		if code == optEnd {
			return ""
		}
		if at == end || at+1+int(o.packet[at]) > end {
			return booter.FlawOption
		}
		n := int(o.packet[at])
		if at++; !o.add(code, at, n) {
			return booter.FlawOption
		}
		at += n
	}
	return ""
}

// add notes an option, or joins it to its parts before; false where that is more
// than anybody needs.
func (o *options) add(code byte, at, n int) bool {
	old, again := o.get(code)
	if !again {
		o.spans[code] = span{uint16(at), uint16(n), inPacket}
		return true
	}
	from := len(o.joined)
	if from+len(old)+n > maxJoined {
		return false
	}
	o.joined = append(append(o.joined, old...), o.packet[at:at+n]...)
	o.spans[code] = span{uint16(from), uint16(len(old) + n), inJoined}
	return true
}
