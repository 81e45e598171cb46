package redfish_test

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/ingotmetal/ingot/bmc"
	"github.com/ingotmetal/ingot/bmc/bmcsim"
	"github.com/ingotmetal/ingot/bmc/bmcsim/trees"
)

// TestTreesAsExpected holds what the driver finds in every tree to what a script
// that is no driver found there.
func TestTreesAsExpected(t *testing.T) {
	all := oracle(t)
	if names := trees.Names(); !slices.Equal(slices.Sorted(maps.Keys(all)), names) {
		t.Fatalf("the oracle knows %v, there are %v", slices.Sorted(maps.Keys(all)), names)
	}
	for name, want := range all {
		for i := range want.Systems {
			t.Run(name+"/"+path.Base(want.Systems[i].URI), func(t *testing.T) {
				t.Parallel()
				checkSystem(t, name, want, i)
			})
		}
	}
}

func checkSystem(t *testing.T, name string, tree expected, i int) {
	want := tree.Systems[i]
	r := newRig(t, name, bmcsim.Options{})
	s := r.system(want.URI)
	p, err := s.Probe(t.Context())
	must(t, err)
	var uris []string
	for _, one := range tree.Systems {
		uris = append(uris, one.URI)
	}
	slices.Sort(uris)
	if p.System != want.URI || !slices.Equal(p.Systems, uris) {
		t.Errorf("system %s of %v, want %s of %v", p.System, p.Systems, want.URI, uris)
	}
	if p.Power.Raw != want.PowerState || string(p.Power.State) != strings.ToLower(want.PowerState) {
		t.Errorf("power %+v, want %s", p.Power, want.PowerState)
	}
	if p.UUID.Raw != want.UUID {
		t.Errorf("UUID %q, want %q", p.UUID.Raw, want.UUID)
	}
	if zeros := strings.HasPrefix(want.UUID, "00000000-0000"); (zeros || want.UUID == "") != (p.UUID.Fault != "") {
		t.Errorf("UUID %+v", p.UUID)
	}
	checkActions(t, p, want.ResetTypes)
	targets, err := s.BootTargets(t.Context())
	must(t, err)
	if (len(targets) == 0) != (len(want.BootTargets) == 0) && name != dgx {
		t.Errorf("boot targets %v, want %v", targets, want.BootTargets)
	}
	if pxe := slices.Contains(targets, bmc.BootPXE); pxe != slices.Contains(want.BootTargets, "Pxe") && name != dgx {
		t.Errorf("boot targets %v, want %v", targets, want.BootTargets)
	}
	in, err := s.Inventory(t.Context())
	must(t, err)
	checkSerials(t, in, want.SerialNumber, want.SKU, p.Vendor)
	checkMACs(t, in, want.DistinctMACs, want.AdapterMACs, want.InvalidMACs, want.URI)
	for _, act := range []func() error{
		func() error { _, err := s.Health(t.Context()); return err },
		func() error { _, err := s.ReadBoot(t.Context()); return err },
		func() error { _, err := s.MediaSlots(t.Context()); return err },
	} {
		must(t, act())
	}
}

// checkActions compares what can be sent with the recorded reset types.
func checkActions(t *testing.T, p bmc.Probed, types []string) {
	t.Helper()
	for a, as := range map[bmc.Action][]string{bmc.SendOn: {"On", "ForceOn"}, bmc.SendOff: {"ForceOff"}, bmc.SendGraceful: {"GracefulShutdown"}, bmc.SendReset: {"ForceRestart"}, bmc.SendNMI: {"Nmi"}} {
		if a == bmc.SendGraceful && strings.HasPrefix(p.Model, "HPE Cray") {
			as = append(as, "Off")
		}
		want := slices.ContainsFunc(as, func(one string) bool { return slices.Contains(types, one) })
		if got := p.Of(a.Feature()); (got.Level != bmc.Unsupported) != want {
			t.Errorf("%s is %+v, listed are %v", a, got, types)
		}
	}
}

func checkSerials(t *testing.T, in bmc.Inspection, serial, sku, vendor string) {
	t.Helper()
	var values []string
	for _, s := range in.Serials {
		values = append(values, s.Value)
	}
	var want []string
	if strings.HasPrefix(vendor, "Dell") {
		want = append(want, sku)
	}
	if strings.TrimSpace(serial) != "" {
		want = append(want, serial)
	}
	if !slices.Equal(values, want) {
		t.Errorf("serials %v, want %v", values, want)
	}
}

// checkMACs compares the addresses of the system's interfaces, and those of its
// adapters.
func checkMACs(t *testing.T, in bmc.Inspection, distinct, adapters []string, invalid int, uri string) {
	t.Helper()
	own, all, bad := map[string]bool{}, map[string]bool{}, 0
	for _, n := range in.NICs {
		mine := strings.HasPrefix(n.Source, uri+"/EthernetInterfaces/")
		switch n.Fault {
		case bmc.NoFault, bmc.ToController:
			all[n.MAC.String()] = true
			own[n.MAC.String()] = own[n.MAC.String()] || mine
		case bmc.Duplicate:
		default:
			if mine {
				bad++
			}
		}
	}
	maps.DeleteFunc(own, func(_ string, mine bool) bool { return !mine })
	if got := slices.Sorted(maps.Keys(own)); !slices.Equal(got, slices.Sorted(slices.Values(distinct))) {
		t.Errorf("MACs of the system %v, want %v", got, distinct)
	}
	if bad != invalid {
		t.Errorf("%d invalid MACs, want %d: %+v", bad, invalid, in.NICs)
	}
	for _, m := range adapters {
		if !all[m] {
			t.Errorf("the adapter's MAC %s is not there", m)
		}
	}
}

// TestMediaAsExpected holds the slots of every tree, and how they take an image.
func TestMediaAsExpected(t *testing.T) {
	for name, want := range oracle(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, name, bmcsim.Options{})
			if name == gb200 {
				want.VirtualMedia = nil // the manager that links to them was cut from the tree
			}
			r.end.System = want.Systems[0].URI
			slots, err := r.open().MediaSlots(t.Context())
			must(t, err)
			for _, w := range want.VirtualMedia {
				i := slices.IndexFunc(slots, func(s bmc.MediaSlot) bool { return s.ID == path.Base(w.URI) || s.ID == w.URI })
				if i < 0 {
					t.Errorf("%s is not among %+v", w.URI, slots)
					continue
				}
				if got := slots[i]; !slices.Equal(got.Types, w.MediaTypes) || w.Insert == "action" && !got.TakesURL {
					t.Errorf("%+v, want %+v", got, w)
				}
			}
		})
	}
}

// TestDanglingLinks: every link of every tree but those that select the machine
// may lead to a 404 without a panic, and what is missing is named.
func TestDanglingLinks(t *testing.T) {
	r := newRig(t, dell, bmcsim.Options{Rules: []bmcsim.Rule{{Method: "GET", Path: "*EthernetInterfaces*", Effect: bmcsim.Effect{Status: 404}}}})
	in, err := r.open().Inventory(t.Context())
	must(t, err)
	if !strings.Contains(fmt.Sprint(in.Missing), "EthernetInterfaces: not-found") || len(in.MACs()) == 0 {
		t.Errorf("missing %v, found %v", in.Missing, in.MACs())
	}
}
