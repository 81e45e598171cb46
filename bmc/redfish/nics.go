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
		n.Link, n.Speed = string(e.LinkStatus), speed(d.num("SpeedMbps"))
		if is, shown := d.truth("InterfaceEnabled"); shown {
			n.Enabled = is
		}
		if n.Fault == bmc.NoFault && (d.link("Links", "HostInterface") != "" || slices.Contains(hostToBMC(), e.ID)) {
			n.Fault = bmc.ToController
		}
		v.in.NICs = append(v.in.NICs, n)
		return nil
	})
}

// nic makes a card of what is reported of it. The permanent address is the
// card's; the other may be a team's.
func nic(path, id, permanent, current string) bmc.NIC {
	n := bmc.NIC{ID: id, Raw: permanent, Source: bare(path), Enabled: true}
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
	for _, path := range system.at("Links").links("Chassis") {
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
		if n.Fault != bmc.NoFault && n.Fault != bmc.Absent {
			odd = append(odd, n)
		}
		if n.Fault != bmc.NoFault {
			return
		}
		if found = true; !v.has(n) {
			v.in.NICs = append(v.in.NICs, n)
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
			v.in.NICs = append(v.in.NICs, n)
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
			n.Link, n.Speed = d.str("LinkStatus"), speed(d.num("CurrentSpeedGbps")*1000)
			add(n)
		}
		return nil
	})
}

// has reports whether a card of the same address is known. Two resources that
// describe one port are no duplicate.
func (v *survey) has(n bmc.NIC) bool {
	return slices.ContainsFunc(v.in.NICs, func(o bmc.NIC) bool {
		return n.Fault == bmc.NoFault && o.MAC == n.MAC && (o.Fault == bmc.NoFault || o.Fault == bmc.ToController) || n.Fault != bmc.NoFault && strings.EqualFold(o.Raw, n.Raw)
	})
}
