package redfish_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ingotmetal/ingot/bmc"
	"github.com/ingotmetal/ingot/bmc/bmcsim"
)

// everything asks for all that a session can read.
func everything(t *testing.T, r *rig) (errs []error) {
	t.Helper()
	s, err := r.tryOpen()
	if err != nil {
		return []error{err}
	}
	defer s.Close(t.Context())
	note := func(err error) { errs = append(errs, err) }
	ctx := t.Context()
	_, err = s.Probe(ctx)
	note(err)
	for _, ask := range []func() error{
		func() error { p, _ := bmc.As[bmc.Power](s); _, err := p.ReadPower(ctx); return err },
		func() error { b, _ := bmc.As[bmc.Boot](s); _, err := b.ReadBoot(ctx); return err },
		func() error { b, _ := bmc.As[bmc.Boot](s); _, err := b.BootTargets(ctx); return err },
		func() error { m, _ := bmc.As[bmc.Media](s); _, err := m.MediaSlots(ctx); return err },
		func() error { i, _ := bmc.As[bmc.Inventory](s); _, err := i.Inventory(ctx); return err },
		func() error { h, _ := bmc.As[bmc.Health](s); _, err := h.Health(ctx); return err },
		func() error { f, _ := bmc.As[bmc.Firmware](s); _, err := f.Firmware(ctx); return err },
		func() error { e, _ := bmc.As[bmc.Events](s); _, _, err := e.Events(ctx, "1@x"); return err },
	} {
		note(ask())
	}
	return errs
}

// TestLinksElsewhere: a link that leads away is not followed. The connection of
// the rig would show any other host; none is dialled.
func TestLinksElsewhere(t *testing.T) {
	for _, link := range []string{"@evil:1/x", "https://evil.test/x", "//evil.test/x", "/redfish/v1/../../x", `/redfish\v1`, "x"} {
		r := newRig(t, dell, rule("GET", "/redfish/v1/*", bmcsim.Effect{Links: link}))
		for _, err := range everything(t, r) {
			if err == nil {
				t.Errorf("%s was good for something", link)
			}
		}
		for _, q := range r.Log() {
			if strings.Contains(q.Path, "x") && !strings.Contains(q.Path, "redfish") {
				t.Errorf("%s was followed to %s", link, q.Path)
			}
		}
		if to := r.lines.dialled(); len(to) != 1 || to[0] != "bmc.test:80" {
			t.Errorf("dialled %v", to)
		}
	}
}

func TestRedirects(t *testing.T) {
	for to, ok := range map[string]bool{"http://evil.test{path}": false, "//evil.test{path}": false, "https://bmc.test{path}": false, "{path}/": true, "http://bmc.test{path}/": true} {
		o := rule("GET", "*/Systems/System.Embedded.1", bmcsim.Effect{Redirect: to, Status: 307})
		r := newRig(t, dell, o)
		_, err := r.tryOpen()
		if (err == nil) != ok {
			t.Errorf("%s: %v", to, err)
		}
		if !ok {
			wantKind(t, err, bmc.Untrusted)
		}
		if to := r.lines.dialled(); len(to) != 1 || to[0] != "bmc.test:80" {
			t.Errorf("dialled %v", to)
		}
	}
}

// TestPagesWithoutEnd: a nextLink that leads to itself, and one that leads on for
// ever.
func TestPagesWithoutEnd(t *testing.T) {
	for _, next := range []string{"{path}", "{path}?skip=1"} {
		for _, path := range []string{"/redfish/v1/Systems", "*EthernetInterfaces"} {
			r := newRig(t, dell, rule("GET", path, bmcsim.Effect{NextLink: next}))
			everything(t, r)
			if n := r.Stats().Total; n > 1500 {
				t.Errorf("%s: %d requests", next, n)
			}
		}
	}
	r := newRig(t, dell, rule("GET", "/redfish/v1/Systems", bmcsim.Effect{NextLink: "{path}"}))
	_, err := r.tryOpen()
	wantKind(t, err, bmc.Protocol)
}

// TestBudget: a BMC with more resources than an operation reads ends it; the
// inspection says what is missing.
func TestBudget(t *testing.T) {
	var many []any
	for i := range 1500 {
		many = append(many, map[string]any{"@odata.id": r750 + "/EthernetInterfaces/NIC.Slot.5-1?" + strings.Repeat("x", i%7) + string(rune('a'+i%26)) + strings.Repeat("y", i/100)})
	}
	r := newRig(t, dell, rule("GET", "*/EthernetInterfaces", bmcsim.Effect{Set: map[string]any{"Members": many}}))
	s := r.open()
	before := r.Stats().Total
	in, err := s.Inventory(t.Context())
	must(t, err)
	if n := r.Stats().Total - before; n > 600 {
		t.Errorf("%d requests", n)
	}
	if !strings.Contains(strings.Join(in.Missing, "\n"), "budget") {
		t.Errorf("missing: %v", in.Missing)
	}
	many = nil
	for range 3000 {
		many = append(many, map[string]any{"@odata.id": r750})
	}
	r = newRig(t, dell, rule("GET", "/redfish/v1/Systems", bmcsim.Effect{Set: map[string]any{"Members": many}}))
	_, err = r.tryOpen()
	wantKind(t, err, bmc.Protocol)
}

// TestManyParts: more cards and ailing parts than a machine has are not kept, and
// the inspection says so.
func TestManyParts(t *testing.T) {
	const most = 4096
	var macs, temps, chassis []any
	for i := range 6000 {
		macs = append(macs, fmt.Sprintf("02:00:00:00:%02x:%02x", i/256, i%256))
		temps = append(temps, map[string]any{"MemberId": fmt.Sprint(i), "Status": map[string]any{"Health": "Critical"}})
		chassis = append(chassis, map[string]any{"@odata.id": fmt.Sprintf("/redfish/v1/Chassis/x%d", i)})
	}
	get := func(path string, set map[string]any) bmcsim.Rule {
		return bmcsim.Rule{Method: "GET", Path: path, Effect: bmcsim.Effect{Set: set}}
	}
	r := newRig(t, dell, bmcsim.Options{Rules: []bmcsim.Rule{
		get("*/NetworkPorts/*", map[string]any{"AssociatedNetworkAddresses": macs}),
		get("*/Thermal", map[string]any{"Temperatures": temps}),
	}})
	s := r.open()
	in, err := s.Inventory(t.Context())
	must(t, err)
	if n := len(in.NICs); n != most || !strings.Contains(strings.Join(in.Missing, "\n"), "more than is kept") {
		t.Errorf("%d cards, missing %v", n, in.Missing)
	}
	h, err := s.Health(t.Context())
	if err != nil || len(h.Parts) != most {
		t.Errorf("%d parts, %v", len(h.Parts), err)
	}
	r = newRig(t, dell, bmcsim.Options{Rules: []bmcsim.Rule{get("*"+r750, map[string]any{"Links": map[string]any{"Chassis": chassis}})}})
	in, err = r.open().Inventory(t.Context())
	if err != nil || len(in.Missing) > 200 || !strings.Contains(strings.Join(in.Missing, "\n"), "more than is kept") {
		t.Errorf("%d missing, %v", len(in.Missing), err)
	}
}

// TestLongNames: what is kept of each of many parts is not longer than a name.
func TestLongNames(t *testing.T) {
	long := strings.Repeat("x", 100<<10)
	o := rule("GET", "*/EthernetInterfaces/*", bmcsim.Effect{Set: map[string]any{"Id": long, "PermanentMACAddress": long, "MACAddress": long}})
	in, err := newRig(t, dell, o).open().Inventory(t.Context())
	must(t, err)
	for _, n := range in.NICs {
		if len(n.ID) > 256 || len(n.Raw) > 256 {
			t.Errorf("%d bytes of Id, %d of the address", len(n.ID), len(n.Raw))
		}
	}
}

// TestSpoiledBodies: whatever the bodies are, each call ends in time, with an
// error of ours or without one, and no session is left.
func TestSpoiledBodies(t *testing.T) {
	for _, spoil := range []bmcsim.Spoil{bmcsim.SpoilTruncated, bmcsim.SpoilEndless, bmcsim.SpoilDrip, bmcsim.SpoilGarbage, bmcsim.SpoilTwice, bmcsim.SpoilTypes} {
		for _, path := range []string{"/redfish/v1/", "/redfish/v1/Systems*", "*EthernetInterfaces*", "*/Managers*", "*/Chassis*"} {
			t.Run(string(spoil)+" "+strings.Trim(path, "/"), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					r := newRig(t, dell, rule("GET", path, bmcsim.Effect{Body: spoil}))
					began := time.Now()
					for _, err := range everything(t, r) {
						if _, ok := err.(*bmc.Error); err != nil && !ok {
							t.Errorf("no error of ours: %v", err)
						}
					}
					if took := time.Since(began); took > 10*time.Minute {
						t.Errorf("it took %s", took)
					}
					if n := r.Stats().Sessions; n != 0 {
						t.Errorf("%d sessions are left", n)
					}
				})
			})
		}
	}
}

// TestSlash: a BMC that knows its systems only with a trailing slash.
func TestSlash(t *testing.T) {
	r := newRig(t, dell, rule("GET", "/redfish/v1/Systems", bmcsim.Effect{Status: 404}))
	readPower(t, r.open())
}
