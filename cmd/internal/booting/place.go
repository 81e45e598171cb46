package booting

import (
	"net/netip"
	"slices"

	"github.com/ingotmetal/ingot/booter"
	"github.com/ingotmetal/ingot/booter/bootscript"
	"github.com/ingotmetal/ingot/booter/images"
	"github.com/ingotmetal/ingot/cmd/api"
)

// A Place is what a booter is by its configuration: where it stands, and what its
// machines are told of it.
type Place struct {
	Name       string // of this booter at the control plane
	Links      []booter.Link
	Proxy      bool
	UBoot      bool
	ChainClass string
	Ask        bool // let UEFI firmware ask port 4011 for its file
	DNS        []netip.Addr
	TFTP       netip.Addr
	HTTP       netip.AddrPort
	Loader     string // image with the first boot programs
	Limits     booter.Limits

	// What the agent in an image is told by kernel arguments.
	Session    string // host:port of this booter's sessions
	SessionPin string
	Server     string // host:port of the control plane
	ServerPin  string
}

// policy is the site's policy as this booter decides by it.
func (p Place) policy(site api.Policy, boots map[string]map[booter.Platform]bool) *booter.Policy {
	out := &booter.Policy{AnswerAny: !site.AnswerOnlyPXE, UBoot: p.UBoot, Proxy: p.Proxy, ChainClass: p.ChainClass, Links: p.Links,
		Staged: make(map[string]bool, len(boots)), Boots: boots, Enrollment: site.EnrollmentImage, Rescue: site.RescueImage, Limits: p.Limits}
	if n, err := netip.ParsePrefix(site.Network); err == nil {
		out.Networks = []netip.Prefix{n}
	}
	if a, err := netip.ParseAddr(site.Server); err == nil {
		out.ServerIDs = []netip.Addr{a}
	}
	for name := range boots {
		out.Staged[name] = true
	}
	return out
}

// pointer is where machines are pointed at, with the first boot programs that are
// staged.
func (p Place) pointer(loader images.Manifest) bootscript.Site {
	s := bootscript.Site{TFTP: p.TFTP, HTTP: p.HTTP, Ask: p.Ask, Loaders: map[booter.Platform]bool{}}
	for platform := range loader.Boots {
		if b, ok := loader.Boot(platform); ok && b.Loader != "" {
			s.Loaders[platform] = true
		}
	}
	return s
}

// words are the kernel arguments that say who this site is and what the machine's
// address is: beside another DHCP server that which it gave. Mode rescue has the site's
// alone (BOOT-5).
func (p Place) words(mac booter.MAC, b booter.Boot, s served, network netip.Prefix, gateway netip.Addr) ([]string, error) {
	pairs := [][2]string{{"ingot.booter", p.Session}, {"ingot.booter_pin", p.SessionPin}, {"ingot.server", p.Server}, {"ingot.pin", p.ServerPin}, {"ingot.mac", mac.String()}}
	var out []string
	switch {
	case b.Networking && p.Proxy:
		out = append(out, bootscript.Leased("ingot.lease"))
	case b.Networking && network.IsValid() && s.rec.Address.IsValid():
		pairs = append(pairs, [2]string{"ingot.address", netip.PrefixFrom(s.rec.Address, network.Bits()).String()})
		if gateway.IsValid() {
			pairs = append(pairs, [2]string{"ingot.gateway", gateway.String()})
		}
	}
	for _, pair := range pairs {
		if pair[1] == "" {
			continue
		}
		w, err := bootscript.Arg(pair[0], pair[1])
		if err != nil {
			return nil, err
		}
		out = append(out, w)
	}
	slices.Sort(out)
	return out, nil
}
