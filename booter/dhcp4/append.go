package dhcp4

import (
	"encoding/binary"
	"fmt"
	"net/netip"
	"time"

	"github.com/ingotmetal/ingot/booter"
	"github.com/ingotmetal/ingot/booter/bootscript"
)

// Fields are what a reply carries beside what was decided: the site's network and
// where the client finds its boot program. Zero fields are left out.
type Fields struct {
	// With a lease alone.
	Mask   netip.Prefix // the client's network, for option 1
	Router netip.Addr
	Lease  time.Duration // default DefaultLease; renewal is at half of it, rebinding at 7/8 (RFC 2131 section 4.4.5)

	DNS  []netip.Addr
	Boot bootscript.First
}

// DefaultLease is for how long an address is given. A reservation does not end with
// it: it is how soon a machine notices that its address changed.
const DefaultLease = time.Hour

const (
	minReply = 300 // RFC 1542 section 2.1
	maxFile  = 127 // of the header's file, before its NUL
)

// A TooLarge reports a reply that the client would not take. Nothing was written.
type TooLarge struct{ Size, Max int }

// Error says what would make it smaller.
func (e *TooLarge) Error() string {
	return fmt.Sprintf("dhcp4: the reply has %d bytes and the client takes %d; a shorter URL or fewer relay options would fit", e.Size, e.Max)
}

// Code is the error's wire name (API-3).
func (*TooLarge) Code() string { return "UNSUPPORTED" }

// Append appends the message that answers p by r, with f. Where it does not fit into
// r.MaxSize, DNS is left out first; then the error is *TooLarge. A file name that the
// header does not hold is in option 67 alone, never cut.
func Append(dst []byte, p *Packet, r *booter.Reply, f *Fields) ([]byte, error) {
	at := len(dst)
	out := write(dst, p, r, f, f.DNS)
	if len(out)-at > r.MaxSize && len(f.DNS) > 0 {
		out = write(out[:at], p, r, f, nil)
	}
	if n := len(out) - at; n > r.MaxSize {
		return dst, &TooLarge{n, r.MaxSize}
	}
	for len(out)-at < minReply {
		out = append(out, optPad)
	}
	return out, nil
}

func write(dst []byte, p *Packet, r *booter.Reply, f *Fields, dns []netip.Addr) []byte {
	w := writer{dst}
	w.header(p, r, f)
	w.byte(optType, byte(r.Kind.Message()))
	if r.Kind.Leases() && f.Mask.IsValid() {
		w.mask(f.Mask)
		w.addresses(optRouter, f.Router)
	}
	w.addresses(optDNS, dns...)
	w.vendor(p, r, f)
	if r.Kind.Leases() {
		w.seconds(optLease, f.lease())
	}
	w.addresses(optServerID, r.ServerID)
	if r.Kind.Leases() {
		w.seconds(optRenewal, f.lease()/2)
		w.seconds(optRebinding, f.lease()/8*7)
	}
	w.option(optClass, class(r))
	w.raw(optClientID, p.ClientID)
	w.boot(r, f)
	w.raw(optMachine, p.Machine)
	switch r.Client.Stage {
	case booter.IPXE, booter.IPXETFTP, booter.Chained:
		w.raw(optIPXE, noProxy)
	}
	w.raw(optAgent, p.Agent)
	w.b = append(w.b, optEnd)
	return w.b
}

// noProxy tells iPXE not to wait for a second offer (iPXE's option no-pxedhcp).
var noProxy = []byte{0xb0, 1, 1}

func (f *Fields) lease() time.Duration {
	if f.Lease <= 0 {
		return DefaultLease
	}
	return f.Lease
}

// class is option 60: what tells firmware that the reply is for it. An iPXE needs it
// from a proxy alone, and takes another's address for a proxy's offer where it has it.
func class(r *booter.Reply) string {
	switch r.Client.Stage {
	case booter.PXE:
		return string(booter.PXEClient)
	case booter.HTTP, booter.UBootHTTP:
		return string(booter.HTTPClient)
	case booter.Plain:
		return ""
	}
	if r.Kind == booter.ProxyOffer || r.Kind == booter.BootAck {
		return string(booter.PXEClient)
	}
	return ""
}

// A writer appends to b.
type writer struct{ b []byte }

// header writes what is before the options (RFC 2131 table 3).
func (w *writer) header(p *Packet, r *booter.Reply, f *Fields) {
	at := len(w.b)
	w.b = append(w.b, blank[:]...)
	h := w.b[at:]
	h[0], h[offType], h[offLen] = 2, p.HType, p.HLen
	copy(h[offXID:], p.XID[:])
	binary.BigEndian.PutUint16(h[offFlags:], p.Flags)
	if r.Kind.Message() == booter.TypeAck {
		put4(h[offClient:], p.ClientIP)
	}
	put4(h[offYour:], r.Address)
	put4(h[offNext:], f.Boot.Server)
	put4(h[offRelay:], p.RelayIP)
	copy(h[offHW:], p.Hardware[:])
	if len(f.Boot.File) <= maxFile {
		copy(h[offFile:offCookie], f.Boot.File)
	}
	copy(h[offCookie:], cookie[:])
}

var blank [offOptions]byte

func put4(to []byte, a netip.Addr) {
	if a.Is4() {
		ip := a.As4()
		copy(to, ip[:])
	}
}

// raw writes an option where it has a value, split where that is longer than one
// option holds (RFC 3396).
func (w *writer) raw(code byte, v []byte) {
	for len(v) > 0 {
		n := min(len(v), 255)
		w.b = append(append(w.b, code, byte(n)), v[:n]...)
		v = v[n:]
	}
}

// option is raw for a string.
func (w *writer) option(code byte, v string) {
	for len(v) > 0 {
		n := min(len(v), 255)
		w.b = append(append(w.b, code, byte(n)), v[:n]...)
		v = v[n:]
	}
}

func (w *writer) byte(code, v byte) { w.b = append(w.b, code, 1, v) }

func (w *writer) seconds(code byte, d time.Duration) {
	w.b = binary.BigEndian.AppendUint32(append(w.b, code, 4), uint32(d/time.Second))
}

// addresses writes the IPv4 addresses among a, at most as many as one option holds.
func (w *writer) addresses(code byte, a ...netip.Addr) {
	at := len(w.b)
	w.b = append(w.b, code, 0)
	for _, ip := range a {
		if ip.Is4() && len(w.b)-at-2 <= 255-4 {
			four := ip.As4()
			w.b = append(w.b, four[:]...)
		}
	}
	if w.b[at+1] = byte(len(w.b) - at - 2); w.b[at+1] == 0 {
		w.b = w.b[:at]
	}
}

func (w *writer) mask(p netip.Prefix) {
	w.b = binary.BigEndian.AppendUint32(append(w.b, optMask, 4), ^uint32(0)<<(32-p.Bits()))
}

// vendor writes option 43 of PXE: the item that was chosen, and whether the file is
// loaded without looking for a boot server.
func (w *writer) vendor(p *Packet, r *booter.Reply, f *Fields) {
	if r.Client.Stage != booter.PXE || !p.Item.Set && !f.Boot.Discovery {
		return
	}
	at := len(w.b)
	w.b = append(w.b, optVendor, 0)
	if f.Boot.Discovery {
		w.b = append(w.b, vendorBoot, 1, 8)
	}
	if p.Item.Set {
		w.b = append(w.b, vendorBootItem, 4)
		w.b = binary.BigEndian.AppendUint16(w.b, p.Item.Type)
		w.b = binary.BigEndian.AppendUint16(w.b, p.Item.Layer)
	}
	w.b = append(w.b, optEnd)
	w.b[at+1] = byte(len(w.b) - at - 2)
}

// boot writes options 66 and 67. A name for TFTP ends in a NUL: old firmware reads on
// into what follows (the value of an option has no end of its own there). HTTP
// firmware takes the value as it is.
func (w *writer) boot(r *booter.Reply, f *Fields) {
	if f.Boot.Server.Is4() {
		at := len(w.b)
		w.b = f.Boot.Server.AppendTo(append(w.b, optServerName, 0))
		w.b[at+1] = byte(len(w.b) - at - 2)
	}
	if f.Boot.File == "" {
		return
	}
	if r.Client.Stage != booter.PXE || len(f.Boot.File) >= 255 {
		w.option(optBootFile, f.Boot.File)
		return
	}
	w.b = append(append(w.b, optBootFile, byte(len(f.Boot.File)+1)), f.Boot.File...)
	w.b = append(w.b, 0)
}
