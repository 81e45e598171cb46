package redfish_test

import (
	"strings"
	"testing"

	"github.com/ingotmetal/ingot/bmc"
	"github.com/ingotmetal/ingot/bmc/bmcsim"
)

func TestSelectors(t *testing.T) {
	for _, c := range []struct{ tree, selector, want string }{
		{dell, "", "System.Embedded.1"},
		{dell, "System.Embedded.1", "System.Embedded.1"},
		{dell, "/redfish/v1/Systems/System.Embedded.1/", "System.Embedded.1"},
		{dell, "/redfish/v1/systems/system.embedded.1", "System.Embedded.1"},
		{dell, "4C4C4544-0035-3410-8050-C6C04F314733", "System.Embedded.1"},
		{dell, "44454c4c-3500-1034-8050-c6c04f314733", "System.Embedded.1"},
		{dell, "44454c4c350010348050c6c04f314733", "System.Embedded.1"},
		{dell, "CNIVC0014M0388", "System.Embedded.1"},
		{dell, "F54P1G3", "System.Embedded.1"}, // the service tag
		{dell, "another", ""},
		{cray, "", ""},
		{cray, "Node1", "Node1"},
		{cray, "EW21460041", ""}, // both nodes have this serial number
		{gb200, "", "System_0"},
		{dgx, "", "DGX"},
		{gb200, "HGX_Baseboard_0", "HGX_Baseboard_0"},
		{supermicro, "00000000-0000-0000-0000-7CC25550A8FF", ""}, // names a card
	} {
		for _, shuffle := range []bool{false, true} {
			o := bmcsim.Options{}
			if shuffle {
				o = rule("GET", "/redfish/v1/Systems", bmcsim.Effect{Shuffle: true})
			}
			r := newRig(t, c.tree, o)
			r.end.System = c.selector
			s, err := r.tryOpen()
			if c.want == "" {
				e := wantKind(t, err, bmc.InvalidOption)
				if !strings.Contains(e.Do, "/redfish/v1/Systems/") {
					t.Errorf("%+v: %v names no candidates", c, e)
				}
				if n := r.Stats().Sessions; n != 0 {
					t.Errorf("%+v: %d sessions are left", c, n)
				}
				continue
			}
			must(t, err)
			p, err := s.Probe(t.Context())
			if err != nil || p.System != "/redfish/v1/Systems/"+c.want {
				t.Errorf("%+v: %s, %v", c, p.System, err)
			}
			must(t, s.Close(t.Context()))
		}
	}
}

// TestDanglingMember: a member that is a 404 may be the machine that is meant, so
// that what is left is chosen only by a name that no two systems share.
func TestDanglingMember(t *testing.T) {
	const uuid = "aaaaaaaa-0000-4000-8000-00000000000f"
	for _, c := range []struct {
		selector string
		want     bmc.Kind // empty: Node1
	}{
		{"", bmc.InvalidOption},
		{"Node1", ""},
		{"/redfish/v1/Systems/Node1", ""},
		{uuid, ""},
		{"EW21460041", bmc.Busy}, // both nodes have this serial number
		{"Node0", bmc.Busy},
		{"/redfish/v1/Systems/Node0", bmc.Busy},
		{"another", bmc.Busy},
	} {
		o := rule("GET", "*/Systems/Node0", bmcsim.Effect{Status: 404})
		o.Rules = append(o.Rules, bmcsim.Rule{Method: "GET", Path: "*/Systems/Node1", Effect: bmcsim.Effect{Set: map[string]any{"UUID": uuid}}})
		r := newRig(t, cray, o)
		r.end.System = c.selector
		s, err := r.tryOpen()
		if c.want != "" {
			if e := wantKind(t, err, c.want); !strings.Contains(e.Why, "/redfish/v1/Systems/Node0") || !strings.Contains(e.Do, "(/redfish/v1/Systems/Node0)") {
				t.Errorf("%q: %v does not name the system", c.selector, e)
			}
			continue
		}
		must(t, err)
		p, err := s.Probe(t.Context())
		if err != nil || p.System != "/redfish/v1/Systems/Node1" || len(p.Systems) != 2 {
			t.Errorf("%q: %+v, %v", c.selector, p, err)
		}
		must(t, s.Close(t.Context()))
	}
}

// TestDanglingMembers: of a BMC that shows no system none is chosen.
func TestDanglingMembers(t *testing.T) {
	for _, selector := range []string{"", "Node0"} {
		r := newRig(t, cray, rule("GET", "*/Systems/Node*", bmcsim.Effect{Status: 404}))
		r.end.System = selector
		_, err := r.tryOpen()
		wantKind(t, err, bmc.NotFound)
	}
}

func TestOptions(t *testing.T) {
	r := newRig(t, dell, bmcsim.Options{})
	for raw, ok := range map[string]bool{
		``: true, `{}`: true, `{"concurrent":2,"interval":"100ms","legacyTLS":true,"scheme":"basic","ignoreChassis":true}`: true,
		`{"concurrent":5}`: false, `{"concurrent":-1}`: false, `{"interval":"1x"}`: false, `{"interval":"11s"}`: false, `{"interval":"-1s"}`: false,
		`{"scheme":"digest"}`: false, `{"unknown":1}`: false, `{"password":"x"}`: false, `[]`: false, `{"concurrent":"2"}`: false, `{"scheme":"basic"}x`: false,
	} {
		err := r.driver().ValidateOptions([]byte(raw))
		if (err == nil) != ok {
			t.Errorf("%s: %v", raw, err)
		}
		if !ok {
			wantKind(t, err, bmc.InvalidOption)
			r.end.Options = []byte(raw)
			_, err = r.tryOpen()
			wantKind(t, err, bmc.InvalidOption)
		}
	}
	if n := r.Stats().Total; n != 0 {
		t.Errorf("%d requests for options", n)
	}
}
