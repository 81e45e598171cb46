package redfish_test

import (
	"strings"
	"testing"

	"github.com/ingotmetal/ingot/bmc"
	"github.com/ingotmetal/ingot/bmc/bmcsim"
)

// TestManagers: of a service with several managers, the drives and the log of one
// that neither names the system nor is named by it are not taken for the system's.
func TestManagers(t *testing.T) {
	const own = "/redfish/v1/Managers/iDRAC.Embedded.1"
	link := func(path string) map[string]any { return map[string]any{"@odata.id": path} }
	for _, c := range []struct {
		name     string
		managers []any
		serves   []any
		takes    bool
	}{
		{"the only one", []any{link(own)}, nil, true},
		{"one of two", []any{link(own), link("/redfish/v1/Managers/z")}, nil, false},
		{"one of two, of another machine", []any{link(own), link("/redfish/v1/Managers/z")}, []any{link("/redfish/v1/Systems/another")}, false},
		{"one of two, that names the system", []any{link("/redfish/v1/Managers/a"), link(own)}, []any{link(r750)}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			get := func(path string, set map[string]any) bmcsim.Rule {
				return bmcsim.Rule{Method: "GET", Path: path, Effect: bmcsim.Effect{Set: set}}
			}
			r := newRig(t, dell, bmcsim.Options{Rules: []bmcsim.Rule{
				get("*"+r750, map[string]any{"Links": map[string]any{"ManagedBy": nil}, "VirtualMedia": nil, "LogServices": nil}),
				get("/redfish/v1/Managers", map[string]any{"Members": c.managers}),
				get(own, map[string]any{"Links": map[string]any{"ManagerForServers": c.serves}}),
			}})
			s := r.open()
			p, err := s.Probe(t.Context())
			if err != nil || p.Firmware == "" {
				t.Errorf("%+v, %v", p, err)
			}
			list, err := s.MediaSlots(t.Context())
			if err != nil || len(list) > 0 != c.takes || p.Of(bmc.MediaInsert).Level == bmc.Unsupported == c.takes {
				t.Errorf("%+v, %v", list, err)
			}
			if _, _, err = s.Events(t.Context(), ""); !c.takes {
				wantKind(t, err, bmc.Unsupports)
			}
			if _, err = s.Health(t.Context()); err != nil {
				t.Error(err)
			}
			if !c.takes {
				for _, q := range r.Log() {
					if q.Method != "GET" && !strings.HasSuffix(q.Path, "Sessions") || strings.HasPrefix(q.Path, own+"/") {
						t.Errorf("%s %s", q.Method, q.Path)
					}
				}
			}
		})
	}
}
