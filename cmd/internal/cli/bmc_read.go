package cli

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/ingotmetal/ingot/bmc"
)

// slow is how long reads may take: a BMC takes a minute for its inventory.
const slow = 5 * time.Minute

// bmcRead is a command that changes nothing.
func (a *app) bmcRead(name, short string, ask func(context.Context, *reach) error) *cobra.Command {
	var b bmcFlags
	c := a.leaf(name, short, "ingot bmc "+name+bmcExample, func(c *cobra.Command, _ []string) error {
		return a.onBMC(c.Context(), &b, false, slow, ask)
	})
	c.Args = exactly(0)
	a.accessFlags(c, &b)
	return c
}

type bmcSupport struct {
	Feature bmc.Feature `json:"feature"`
	Level   bmc.Level   `json:"level"`
	Why     string      `json:"why,omitempty"`
}

type bmcProbed struct {
	System   string       `json:"system"`
	Systems  []string     `json:"systems"`
	Vendor   string       `json:"vendor,omitempty"`
	Model    string       `json:"model,omitempty"`
	Serial   string       `json:"serial,omitempty"`
	Firmware string       `json:"firmware,omitempty"`
	UUID     string       `json:"uuid,omitempty"`
	Fault    string       `json:"uuid_fault,omitempty"`
	Power    bmc.State    `json:"power,omitempty"`
	Pin      string       `json:"pin,omitempty"`
	Quirks   []string     `json:"quirks,omitempty"`
	Supports []bmcSupport `json:"supports"`
}

func (a *app) bmcProbe() *cobra.Command {
	return a.bmcRead("probe", "Say which machine is there, and what can be done with it", func(ctx context.Context, r *reach) error {
		p, err := r.Probe(ctx)
		if err != nil {
			return err
		}
		out := bmcProbed{System: p.System, Systems: p.Systems, Vendor: p.Vendor, Model: p.Model, Serial: p.Serial, Firmware: p.Firmware,
			UUID: p.UUID.Raw, Fault: string(p.UUID.Fault), Power: p.Power.State, Pin: p.Peer, Quirks: p.Quirks}
		for _, f := range bmc.Features() {
			s := p.Of(f)
			out.Supports = append(out.Supports, bmcSupport{f, s.Level, s.Why})
		}
		return r.show(ctx, "bmc.probe", out)
	})
}

type bmcNIC struct {
	ID    string `json:"id"`
	MAC   string `json:"mac,omitempty"`
	Raw   string `json:"raw,omitempty"`
	Fault string `json:"fault,omitempty"`
	Link  string `json:"link,omitempty"`
	Speed int    `json:"mbit,omitempty"`
}

type bmcDrive struct {
	ID     string `json:"id"`
	Model  string `json:"model,omitempty"`
	Serial string `json:"serial,omitempty"`
	Bytes  int64  `json:"bytes,omitempty"`
	Media  string `json:"media,omitempty"`
}

type bmcSerial struct {
	Value  string `json:"value"`
	Source string `json:"source"`
}

type bmcInspected struct {
	Vendor  string      `json:"vendor,omitempty"`
	Model   string      `json:"model,omitempty"`
	UUID    string      `json:"uuid,omitempty"`
	Fault   string      `json:"uuid_fault,omitempty"`
	Serials []bmcSerial `json:"serials"`
	CPUs    int         `json:"cpus,omitempty"`
	Memory  int64       `json:"memory_mib,omitempty"`
	NICs    []bmcNIC    `json:"nics"`
	Drives  []bmcDrive  `json:"drives"`
	Missing []string    `json:"missing,omitempty"`
}

func (a *app) bmcInventory() *cobra.Command {
	return a.bmcRead("inventory", "What the BMC knows of the machine: serials, MACs, memory, disks", func(ctx context.Context, r *reach) error {
		in, err := r.Inspect(ctx)
		if err != nil {
			return err
		}
		out := bmcInspected{Vendor: in.Vendor, Model: in.Model, UUID: in.UUID.Raw, Fault: string(in.UUID.Fault), CPUs: in.CPUs, Memory: in.Memory, Missing: in.Missing,
			Serials: []bmcSerial{}, NICs: []bmcNIC{}, Drives: []bmcDrive{}}
		for _, s := range in.Serials {
			out.Serials = append(out.Serials, bmcSerial{s.Value, s.Source})
		}
		for _, n := range in.NICs {
			one := bmcNIC{ID: n.ID, Raw: n.Raw, Fault: string(n.Fault), Link: n.Link, Speed: n.Speed}
			if n.Fault == bmc.NoFault {
				one.MAC, one.Raw = n.MAC.String(), ""
			}
			out.NICs = append(out.NICs, one)
		}
		for _, d := range in.Drives {
			out.Drives = append(out.Drives, bmcDrive{d.ID, d.Model, d.Serial, d.Bytes, d.Media})
		}
		return r.show(ctx, "bmc.inventory", out)
	})
}

type bmcPart struct {
	ID     string `json:"id"`
	Health string `json:"health,omitempty"`
	State  string `json:"state,omitempty"`
	Source string `json:"source,omitempty"`
}

type bmcHealthy struct {
	Overall string    `json:"overall"`
	Parts   []bmcPart `json:"parts"` // that are not well
	At      time.Time `json:"at,omitzero"`
}

func (a *app) bmcHealth() *cobra.Command {
	return a.bmcRead("health", "The BMC's own judgement of the machine, and the parts that are not well", func(ctx context.Context, r *reach) error {
		h, err := r.Health(ctx)
		if err != nil {
			return err
		}
		out := bmcHealthy{Overall: h.Overall, At: h.At, Parts: []bmcPart{}}
		for _, p := range h.Parts {
			out.Parts = append(out.Parts, bmcPart{p.ID, p.Health, p.State, p.Source})
		}
		return r.show(ctx, "bmc.health", out)
	})
}

type bmcComponent struct {
	ID         string `json:"id"`
	Name       string `json:"name,omitempty"`
	Version    string `json:"version,omitempty"`
	Updateable bool   `json:"updateable,omitempty"`
}

func (a *app) bmcFirmware() *cobra.Command {
	return a.bmcRead("firmware", "The firmware of the machine, with its versions", func(ctx context.Context, r *reach) error {
		list, err := r.Firmware(ctx)
		if err != nil {
			return err
		}
		out := struct {
			Firmware []bmcComponent `json:"firmware"`
		}{[]bmcComponent{}}
		for _, c := range list {
			out.Firmware = append(out.Firmware, bmcComponent{c.ID, c.Name, c.Version, c.Updateable})
		}
		return r.show(ctx, "bmc.firmware", out)
	})
}

type bmcEvent struct {
	ID       string    `json:"id"`
	At       time.Time `json:"at,omitzero"`
	Severity string    `json:"severity,omitempty"`
	Message  string    `json:"message"`
}

type bmcLogged struct {
	Events []bmcEvent `json:"events"`
	Next   string     `json:"next"` // where to go on
}

func (a *app) bmcEvents() *cobra.Command {
	var after string
	c := a.bmcRead("events", "The BMC's log after a place, and the place to go on from", func(ctx context.Context, r *reach) error {
		list, next, err := r.Events(ctx, after)
		if err != nil {
			return err
		}
		out := bmcLogged{Next: next, Events: []bmcEvent{}}
		for _, e := range list {
			out.Events = append(out.Events, bmcEvent{e.ID, e.At, e.Severity, e.Message})
		}
		return r.show(ctx, "bmc.events", out)
	})
	c.Flags().StringVar(&after, "after", "", "the `PLACE` that \"next\" named before, or 0 for the whole log; left out: the end, with no entries")
	return c
}
