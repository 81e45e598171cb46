package booting

import (
	"net/netip"

	"github.com/ingotmetal/ingot/booter"
)

// Leases are the addresses that machines have of another DHCP server, where booterd is a
// proxy: that from which one asked by HTTP with a token of its own. An address is one
// machine's, and a machine has one address, the last. The zero value has none. It is not
// safe for concurrent use.
type Leases struct {
	of map[booter.MAC]netip.Addr
	at map[netip.Addr]booter.MAC
}

// Take notes that a machine asked from an address.
func (l *Leases) Take(mac booter.MAC, from netip.Addr) {
	if l.of == nil {
		l.of, l.at = map[booter.MAC]netip.Addr{}, map[netip.Addr]booter.MAC{}
	}
	from = from.Unmap()
	if old, ok := l.at[from]; ok {
		delete(l.of, old)
	}
	delete(l.at, l.of[mac])
	l.of[mac], l.at[from] = from, mac
}

// At is the machine that asked from an address.
func (l *Leases) At(from netip.Addr) (booter.MAC, bool) {
	mac, ok := l.at[from.Unmap()]
	return mac, ok
}

// Keep forgets the machines that are no longer known.
func (l *Leases) Keep(known func(booter.MAC) bool) {
	for mac, from := range l.of {
		if !known(mac) {
			delete(l.of, mac)
			delete(l.at, from)
		}
	}
}

// at is the machine that has an address: in a site's own networks that for which it is
// reserved, and beside another DHCP server that which asked from it. The lock is held.
func (d *Desk) at(from netip.Addr) (booter.MAC, bool) {
	if d.place.Proxy {
		return d.leases.At(from)
	}
	return d.world.At(from.Unmap())
}
