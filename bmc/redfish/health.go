package redfish

import (
	"context"
	"slices"
	"time"

	"github.com/stmcginnis/gofish/schemas"

	"github.com/ingotmetal/ingot/bmc"
	"github.com/ingotmetal/ingot/bmc/wire"
)

var (
	_ bmc.Health   = (*Session)(nil)
	_ bmc.Firmware = (*Session)(nil)
)

// Health reads the statuses of the system, its summaries, its chassis with fans,
// temperatures and power supplies, its storage and its manager. Overall is the
// system's rollup, else its own health.
func (s *Session) Health(ctx context.Context) (bmc.HealthReport, error) {
	v := &survey{call: s.call("read health", healthBudget)}
	r := bmc.HealthReport{At: time.Now()}
	d, _, err := v.get(ctx, s.host.path)
	if err != nil {
		return r, err
	}
	status := d.sub("Status")
	if r.Overall = status.str("HealthRollup"); r.Overall == "" {
		r.Overall = status.str("Health")
	}
	add := func(path string, d doc) {
		if parts := unwell(path, d); len(r.Parts) < maxParts {
			r.Parts = append(r.Parts, parts...)
		}
	}
	add(s.host.path, d)
	for _, key := range []string{"ProcessorSummary", "MemorySummary"} {
		add(s.host.path+"#/"+key, d.sub(key))
	}
	note := func(path string, d doc, _ *wire.Response) error {
		add(path, d)
		return nil
	}
	if err := v.each(ctx, d.link("Storage"), note); err != nil {
		return r, err
	}
	places := d.at("Links").links("Chassis")
	for _, path := range places[:min(len(places), maxChassis)] {
		err := v.all(ctx, []string{path}, func(path string, d doc, a *wire.Response) error {
			if err := note(path, d, a); err != nil {
				return err
			}
			return v.all(ctx, present(d.link("Thermal"), d.link("Power")), func(path string, d doc, _ *wire.Response) error {
				for _, key := range []string{"Fans", "Temperatures", "PowerSupplies", "Voltages"} {
					for _, one := range d.docs(key) {
						add(path, one)
					}
				}
				return nil
			})
		})
		if err != nil {
			return r, err
		}
	}
	if s.bmc.path != "" {
		err = v.all(ctx, []string{s.bmc.path}, note)
	}
	return r, err
}

func present(paths ...string) []string {
	return slices.DeleteFunc(paths, func(p string) bool { return p == "" })
}

// unwell is the part that d describes, unless it is OK, absent or says nothing.
func unwell(path string, d doc) []bmc.Part {
	s := d.sub("Status")
	p := bmc.Part{Health: short(s.str("Health")), State: short(s.str("State")), Source: bare(path)}
	if p.Health == "" || p.Health == "OK" || p.State == "Absent" {
		return nil
	}
	for _, key := range []string{"Id", "MemberId", "Name"} {
		if p.ID = short(d.str(key)); p.ID != "" {
			break
		}
	}
	return []bmc.Part{p}
}

// Firmware lists the update service's inventory. A component that cannot be read
// is left out; where the list itself cannot be, that is the error.
func (s *Session) Firmware(ctx context.Context) ([]bmc.Component, error) {
	v := &survey{call: s.call("read firmware", healthBudget)}
	service := s.root.link("UpdateService")
	if service == "" {
		return nil, v.fail(bmc.Unsupports, bmc.SentNo, "the BMC has no update service", "")
	}
	d, _, err := v.get(ctx, service)
	if err != nil {
		return nil, err
	}
	place := d.link("FirmwareInventory")
	if place == "" {
		return nil, v.fail(bmc.Unsupports, bmc.SentYes, "the BMC lists no firmware", "")
	}
	paths, err := v.members(ctx, place)
	if err != nil {
		return nil, err
	}
	var out []bmc.Component
	err = v.all(ctx, paths, func(_ string, _ doc, a *wire.Response) error {
		f, err := decode[schemas.SoftwareInventory](a)
		if err != nil {
			return err
		}
		out = append(out, bmc.Component{ID: short(f.ID), Name: short(f.Name), Version: short(f.Version), Updateable: f.Updateable})
		return nil
	})
	return out, err
}
