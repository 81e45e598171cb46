package redfish

import (
	"context"
	"slices"
	"strings"

	"github.com/ingotmetal/ingot/bmc"
)

// A chassis is what tells of a machine's power beside its system.
type chassis struct {
	path string // that holds it alone and reports power; empty: none does yet
	// open are those that may be it: they are linked, and were a 404 or silent of
	// their power when they were read last.
	open []string
}

// maxChassis bounds how many linked chassis are looked at, and maxOpen how many
// are looked at again.
const (
	maxChassis = 32
	maxOpen    = 8
)

// partTypes are the chassis that are a part of a machine, or hold more than it:
// their power says nothing of the machine's. The BMC's own board is one.
func partTypes() []string {
	return []string{"Component", "Module", "Card", "Zone", "Cartridge", "Row", "Pod", "Rack", "RackGroup", "Shelf", "Enclosure", "Expansion", "SideCar", "StorageEnclosure", "IPBasedDrive", "PowerStrip", "HeatExchanger"}
}

// linkedAlone are the chassis that system i links and no other does, sorted.
func linkedAlone(list []host, i int) []string {
	others := map[string]bool{}
	for j, h := range list {
		if j == i {
			continue
		}
		for _, l := range h.doc.at("Links").links("Chassis") {
			others[strings.ToLower(bare(l))] = true
		}
	}
	places := list[i].doc.at("Links").links("Chassis")
	slices.Sort(places)
	places = slices.CompactFunc(places, same)
	places = slices.DeleteFunc(places, func(p string) bool { return others[strings.ToLower(bare(p))] })
	return places[:min(len(places), maxChassis)]
}

// findChassis looks among places for the chassis that holds a system, and no
// other, and reports its power.
func (c *call) findChassis(ctx context.Context, system host, places []string) (chassis, error) {
	var out chassis
	for _, p := range places {
		d, _, err := c.get(ctx, p)
		gone := isKind(err, bmc.NotFound)
		if err != nil && !gone {
			return chassis{}, err
		}
		holds := d.at("Links").links("ComputerSystems")
		alone := len(holds) == 0 || len(holds) == 1 && same(holds[0], system.path)
		switch {
		case !alone || slices.Contains(partTypes(), d.str("ChassisType")):
		case d.str("PowerState") != "":
			return chassis{path: p}, nil
		case len(out.open) < maxOpen:
			out.open = append(out.open, p)
		}
	}
	return out, nil
}

// chassisState reads the power of the system's chassis; empty where none reports
// it. One that was not there, or silent, is looked at whenever the system does not say
// that it runs: BMCs that start show their systems first, and off needs both.
func (c *call) chassisState(ctx context.Context, system bmc.State) (bmc.State, error) {
	s := c.s
	s.mu.Lock()
	box := s.box
	s.mu.Unlock()
	if box.path == "" && len(box.open) > 0 && system != bmc.On {
		now, err := c.findChassis(ctx, s.host, box.open)
		if err != nil || now.path == "" {
			return "", err
		}
		s.mu.Lock()
		s.box, box = now, now
		s.mu.Unlock()
	}
	if box.path == "" {
		return "", nil
	}
	raw, err := c.powerOf(ctx, box.path)
	if err != nil && !isKind(err, bmc.NotFound) {
		return "", err
	}
	return stateOf(raw), nil
}
