package bootscript

import (
	"net/netip"

	"github.com/ingotmetal/ingot/booter"
)

// A Site is where one booter serves from.
type Site struct {
	TFTP netip.Addr     // of its TFTP server; the zero Addr if it has none
	HTTP netip.AddrPort // of its HTTP server
	// Loaders are the platforms for which it has a first boot program.
	Loaders map[booter.Platform]bool
	// Ask lets UEFI firmware ask port 4011 for its file, as some needs to
	// (a boot server is looked for where option 43 says nothing).
	Ask bool
}

// A First is what DHCP points a client at. The zero First is nothing.
type First struct {
	Server    netip.Addr // for TFTP: siaddr and option 66
	File      string     // name for TFTP, else a URL
	Discovery bool       // option 43/6 = 8: load File, look for no boot server (PXE 2.1)
}

// First is where a client goes on to. It is zero for one that does not boot, and for
// one whose platform has no first boot program here: false where that keeps it from
// booting.
func (s Site) First(c booter.Client, kind booter.Kind, token string) (First, bool) {
	leaf := Path{Token: token, Leaf: Loader, Platform: c.Platform}
	switch c.Stage {
	case booter.Plain:
		return First{}, true
	case booter.Chained, booter.IPXE: // any iPXE that may speak HTTP will do
		return First{Server: s.TFTP, File: s.URL(Path{Token: token, Leaf: Script, Platform: c.Platform})}, true
	}
	if !s.Loaders[c.Platform] {
		return First{}, false
	}
	switch c.Stage {
	case booter.HTTP, booter.UBootHTTP:
		return First{File: s.URL(leaf)}, true
	case booter.IPXETFTP:
		return First{Server: s.TFTP, File: "tftp://" + s.TFTP.String() + "/" + leaf.String()}, s.TFTP.IsValid()
	}
	return First{Server: s.TFTP, File: leaf.String(), Discovery: s.discovery(c.Platform, kind)}, s.TFTP.IsValid()
}

// discovery reports whether firmware is told to load the file without asking 4011.
// UEFI firmware asks a proxy in any case.
func (s Site) discovery(p booter.Platform, kind booter.Kind) bool {
	return p == booter.BIOS || !s.Ask && kind != booter.ProxyOffer
}

// URL is where a path is by HTTP.
func (s Site) URL(p Path) string { return "http://" + s.HTTP.String() + "/" + p.String() }
