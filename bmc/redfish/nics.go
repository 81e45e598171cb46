package redfish

import (
	"context"
	"slices"
	"strings"

	"github.com/stmcginnis/gofish/schemas"

	"github.com/ingotmetal/ingot/bmc"
	"github.com/ingotmetal/ingot/bmc/wire"
)

// hostToBMC are the Ids of interfaces that lead to the BMC, where no link says
// so: recorded of Lenovo, Supermicro and the DMTF's sample. That a HostInterface
// names a collection of host interfaces proves nothing: Dell's names all of them.
func hostToBMC() []string { return []string{"ToManager"} }

// interfaces reads the system's EthernetInterfaces. One for a VLAN is no card.
func (v *survey) interfaces(ctx context.Context, system doc) error {
	return v.each(ctx, system.link("EthernetInterfaces"), func(path string, d doc, a *wire.Response) error {
		e, err := decode[schemas.EthernetInterface](a)
		if err != nil {
			return err
		}
		if e.EthernetInterfaceType == schemas.VirtualEthernetDeviceType {
			return nil
		}
		n := nic(path, e.ID, e.PermanentMACAddress, e.MACAddress)
		n.Link, n.Speed = short(string(e.LinkStatus)), speed(d.num("SpeedMbps"))
		if is, shown := d.truth("InterfaceEnabled"); shown {
			n.Enabled = is
		}
		if n.Fault == bmc.NoFault && (d.link("Links", "HostInterface") != "" || slices.Contains(hostToBMC(), e.ID)) {
			n.Fault = bmc.ToController
		}
		v.keep(n)
		return nil
	})
}

// maxParts bounds how many cards, drives and parts that are not well are kept of
// a machine, each.
const maxParts = 4096

// keep adds a card, and notes where it was the last that is kept.
func (v *survey) keep(n bmc.NIC) {
	if v.full() {
		return
	}
	if v.known == nil {
		v.known = map[bmc.MAC]bool{}
		v.odd = map[string]bool{}
	}
	if v.in.NICs = append(v.in.NICs, n); v.full() {
		v.in.Missing = append(v.in.Missing, n.Source+": "+tooMany)
	}
	if n.Fault == bmc.NoFault || n.Fault == bmc.ToController {
		v.known[n.MAC] = true
	}
	v.odd[strings.ToLower(n.Raw)] = true
}

// tooMany is why what is behind the bound is missing.
const tooMany = "there is more than is kept of a machine"

// short cuts what a BMC says to a length that is kept for each of many parts. An
// address that is cut is none before and after.
func short(s string) string {
	const most = 256
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(strings.Clone(s[:most]), "")
}

// full reports whether no more cards are kept.
func (v *survey) full() bool { return len(v.in.NICs) >= maxParts }

// nic makes a card of what is reported of it. The permanent address is the
// card's; the other may be a team's.
func nic(path, id, permanent, current string) bmc.NIC {
	permanent, current = short(permanent), short(current)
	n := bmc.NIC{ID: short(id), Raw: permanent, Source: bare(path), Enabled: true}
	if n.MAC, n.Fault = bmc.ReadMAC(permanent); n.Fault == bmc.NoFault {
		return n
	}
	if m, fault := bmc.ReadMAC(current); fault == bmc.NoFault || n.Fault == bmc.Absent {
		n.Raw, n.MAC, n.Fault = current, m, fault
	}
	return n
}

func speed(mbps float64) int { return int(min(max(mbps, 0), 1<<30)) }

// adapters reads the network adapters of the system's chassis. A port that the
// system's interfaces have named already is left out.
func (v *survey) adapters(ctx context.Context, system doc) error {
	places := system.at("Links").links("Chassis")
	if len(places) > maxChassis {
		v.in.Missing = append(v.in.Missing, bare(places[maxChassis])+": "+tooMany)
		places = places[:maxChassis]
	}
	for _, path := range places {
		d, _, err := v.get(ctx, path)
		if err != nil {
			if err := v.lacks(path, err); err != nil {
				return err
			}
			continue
		}
		if holds := d.at("Links").links("ComputerSystems"); len(holds) > 1 {
			continue // whose they are is not said
		}
		err = v.each(ctx, d.link("NetworkAdapters"), func(_ string, d doc, _ *wire.Response) error { return v.adapter(ctx, d) })
		if err != nil {
			return err
		}
	}
	return nil
}

// adapter reads an adapter's functions and its ports, which have addresses of
// their own on some. An address that is none, such as the GUID of a port of
// InfiniBand, is kept where the adapter has no other.
func (v *survey) adapter(ctx context.Context, d doc) error {
	found, odd := false, []bmc.NIC(nil)
	add := func(n bmc.NIC) {
		if v.full() || len(odd) >= maxParts {
			return
		}
		if n.Fault != bmc.NoFault && n.Fault != bmc.Absent {
			odd = append(odd, n)
		}
		if n.Fault != bmc.NoFault {
			return
		}
		if found = true; !v.has(n) {
			v.keep(n)
		}
	}
	if err := v.functions(ctx, d, add); err != nil {
		return err
	}
	if err := v.ports(ctx, d, add); err != nil {
		return err
	}
	for _, n := range odd {
		if !found && !v.has(n) {
			v.keep(n)
		}
	}
	return nil
}

func (v *survey) functions(ctx context.Context, adapter doc, add func(bmc.NIC)) error {
	return v.each(ctx, adapter.link("NetworkDeviceFunctions"), func(path string, d doc, _ *wire.Response) error {
		e := d.sub("Ethernet")
		n := nic(path, d.str("Id"), e.str("PermanentMACAddress"), e.str("MACAddress"))
		if is, shown := d.truth("DeviceEnabled"); shown {
			n.Enabled = is
		}
		add(n)
		return nil
	})
}

func (v *survey) ports(ctx context.Context, adapter doc, add func(bmc.NIC)) error {
	place := adapter.link("Ports")
	if place == "" {
		place = adapter.link("NetworkPorts")
	}
	return v.each(ctx, place, func(path string, d doc, _ *wire.Response) error {
		for _, raw := range append(d.sub("Ethernet").strs("AssociatedMACAddresses"), d.strs("AssociatedNetworkAddresses")...) {
			n := nic(path, d.str("Id"), raw, "")
			n.Link, n.Speed = short(d.str("LinkStatus")), speed(d.num("CurrentSpeedGbps")*1000)
			add(n)
			if v.full() {
				break
			}
		}
		return nil
	})
}

// has reports whether a card of the same address is known. Two resources that
// describe one port are no duplicate.
func (v *survey) has(n bmc.NIC) bool {
	return n.Fault == bmc.NoFault && v.known[n.MAC] || n.Fault != bmc.NoFault && v.odd[strings.ToLower(n.Raw)]
}
