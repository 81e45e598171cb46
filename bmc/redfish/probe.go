package redfish

import (
	"context"
	"slices"

	"github.com/ingotmetal/ingot/bmc"
)

// findQuirks reads the manager of the selected system and judges by vendor, model
// and firmware which quirks apply. A manager that cannot be found is no error.
func (s *Session) findQuirks(ctx context.Context, c *call) error {
	err := s.findManager(ctx, c)
	s.quirks = quirksOf(s.vendor(), s.host.doc.str("Model"), s.firmware)
	return err
}

// maxManagers bounds how many managers are read.
const maxManagers = 16

// findManager finds the manager that the system names, else the one that names the
// system, else the only one that there is. Of others, which may be another
// machine's, the firmware alone is taken.
func (s *Session) findManager(ctx context.Context, c *call) error {
	places, named := s.host.doc.at("Links").links("ManagedBy"), true
	if len(places) == 0 {
		if all := s.root.link("Managers"); all != "" {
			found, err := c.members(ctx, all)
			if err != nil && !isKind(err, bmc.NotFound) && !isKind(err, bmc.Forbidden) {
				return err
			}
			places, named = found, len(found) == 1
		}
	}
	slices.Sort(places)
	for _, p := range places[:min(len(places), maxManagers)] {
		d, _, err := c.get(ctx, p)
		if isKind(err, bmc.NotFound) || isKind(err, bmc.Forbidden) {
			continue
		}
		if err != nil {
			return err
		}
		mine := named || slices.ContainsFunc(d.at("Links").links("ManagerForServers"), func(l string) bool { return same(l, s.host.path) })
		if s.firmware == "" || mine {
			s.firmware = d.str("FirmwareVersion")
		}
		if mine {
			s.bmc = host{path: p, doc: d}
			break
		}
	}
	return nil
}

// vendor is who made the machine, else who made the service.
func (s *Session) vendor() string {
	if v := s.host.doc.str("Manufacturer"); v != "" {
		return v
	}
	return s.root.str("Vendor")
}

// probeBudget bounds the requests of a Probe.
const probeBudget = 128

// Probe reads the machine anew and says what it can do. It reads only.
func (s *Session) Probe(ctx context.Context) (bmc.Probed, error) {
	c := s.call("probe", probeBudget)
	d, _, err := c.get(ctx, s.host.path)
	if err != nil {
		return bmc.Probed{}, err
	}
	power, err := s.ReadPower(ctx)
	if err != nil {
		return bmc.Probed{}, err
	}
	p := bmc.Probed{
		System: bare(s.host.path), Systems: slices.Clone(s.all),
		Vendor: s.vendor(), Model: d.str("Model"), Serial: s.bestSerial(d), Firmware: s.firmware,
		UUID: bmc.ClaimUUID(d.str("UUID")), Power: power, Peer: s.wire.Peer(),
		Supports: map[bmc.Feature]bmc.Support{},
	}
	for _, q := range s.quirks {
		p.Quirks = append(p.Quirks, q.Name)
	}
	slices.Sort(p.Quirks)
	return p, s.findSupport(ctx, c, d, p.Supports)
}

// findSupport says of each feature how far it is there.
func (s *Session) findSupport(ctx context.Context, c *call, d doc, out map[bmc.Feature]bmc.Support) error {
	has := func(f bmc.Feature, is bool, why string) {
		out[f] = bmc.Support{Level: bmc.Native}
		if !is {
			out[f] = bmc.Support{Level: bmc.Unsupported, Why: why}
		}
	}
	has(bmc.PowerState, d.str("PowerState") != "", "not reported")
	for _, a := range bmc.Actions() {
		support, err := s.powerSupport(ctx, c, a)
		if err != nil {
			return err
		}
		out[a.Feature()] = support
	}
	o, err := c.readOverride(ctx)
	if err != nil {
		return err
	}
	s.bootSupport(o, out)
	list, err := c.slots(ctx)
	if err != nil {
		return err
	}
	has(bmc.MediaInsert, slices.ContainsFunc(list, func(one slot) bool { return one.TakesURL }), "no virtual drive takes a URL")
	has(bmc.ReadInventory, true, "")
	has(bmc.ReadHealth, d.sub("Status") != nil, "not reported")
	has(bmc.ReadMACs, d.link("EthernetInterfaces") != "" || s.host.doc.at("Links").docs("Chassis") != nil, "no network interfaces are listed")
	has(bmc.ReadFirmware, s.root.link("UpdateService") != "", "no update service")
	has(bmc.RotateAccount, s.root.link("AccountService") != "", "no account service")
	has(bmc.ReadEvents, d.link("LogServices") != "" || s.bmc.doc.link("LogServices") != "", "no log service")
	return nil
}

// powerSupport says how an action is had.
func (s *Session) powerSupport(ctx context.Context, c *call, a bmc.Action) (bmc.Support, error) {
	r, err := s.resetFor(ctx, c, a)
	switch {
	case isKind(err, bmc.Unsupports):
		return bmc.Support{Level: bmc.Unsupported, Why: "not listed"}, nil
	case err != nil:
		return bmc.Support{}, err
	case r.why != "":
		return bmc.Support{Level: bmc.Emulated, Why: r.as + ": " + r.why}, nil
	}
	return bmc.Support{Level: bmc.Native}, nil
}

// bestSerial is the first of the candidates.
func (s *Session) bestSerial(d doc) string {
	if list := s.serials(d); len(list) > 0 {
		return list[0].Value
	}
	return ""
}
