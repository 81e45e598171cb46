package bmcsim

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
)

// fact is what a script of its own, which is no driver, worked out about a tree.
type fact struct {
	Systems []struct {
		URI, PowerState, SettingsURI string
		ResetTypes, BootTargets      []string
	}
	VirtualMedia []struct{ URI, Insert string }
}

func facts(t *testing.T) map[string]fact {
	t.Helper()
	raw, err := os.ReadFile("trees/testdata/EXPECTED.json")
	must(t, err)
	var out map[string]fact
	must(t, json.Unmarshal(raw, &out))
	return out
}

// Every tree lives as the facts about it say: its systems turn off and on, boot once by
// PXE where they take an override, and have images inserted where slots take a URL.
func TestEveryTreeLives(t *testing.T) {
	for name, f := range facts(t) {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := simulate(t, name, Options{})
				if len(s.tree.Systems()) != len(f.Systems) {
					t.Errorf("systems %q", s.tree.Systems())
				}
				for _, sys := range f.Systems {
					if p := s.power(sys.URI); p != sys.PowerState {
						t.Errorf("%s reads %s", sys.URI, p)
					}
					s.lives(sys.URI, sys.SettingsURI, sys.ResetTypes, sys.BootTargets)
				}
				for _, m := range f.VirtualMedia {
					s.takes(m.URI, m.Insert)
				}
			})
		})
	}
}

func (s *simulated) lives(uri, settings string, types, targets []string) {
	s.t.Helper()
	if len(types) == 0 {
		s.want(404, "POST", uri+reset, map[string]any{"ResetType": "On"})
		return
	}
	for _, kind := range []string{"On", "ForceOff", "ForceRestart", "Nmi", "PowerCycle", "Banana"} {
		if !slices.Contains(types, kind) {
			s.reset(400, uri, kind)
		}
	}
	s.reset(204, uri, "ForceOff")
	if p := s.power(uri); p != "Off" {
		s.t.Errorf("%s reads %s", uri, p)
	}
	at := uri
	if s.settingsOnly(key(uri)) {
		at = settings
	}
	status, want := 204, "Pxe"
	if at == uri && !slices.Contains(targets, "Pxe") { // the facts are about the system alone
		status, want = 400, ""
	}
	s.want(status, "PATCH", at, oncePXE)
	s.want(400, "PATCH", at, boot(bootTarget, "Banana"))
	s.reset(204, uri, "On")
	if p := s.power(uri); p != "On" {
		s.t.Errorf("%s reads %s", uri, p)
	}
	if st := s.Backend(uri).(*Memory).Starts(); len(st) != 1 || st[0].Target != want {
		s.t.Errorf("%s was started with %+v", uri, st)
	}
	if status == 204 {
		if g := s.want(200, "GET", at, nil); g.at("Boot", bootEnabled) != "Disabled" {
			s.t.Errorf("%s is not spent: %v", at, g.at("Boot"))
		}
	}
}

func (s *simulated) takes(uri, how string) {
	s.t.Helper()
	put, out := func(status int) { s.want(status, "POST", uri+insert, iso) }, func() { s.want(204, "POST", uri+eject, map[string]any{}) }
	switch name := uri[strings.LastIndex(uri, "/")+1:]; {
	case strings.HasPrefix(name, "RDOC"), strings.HasPrefix(name, "Remote"):
		s.want(400, "PATCH", uri, iso)
		return
	case how != "action":
		put = func(status int) { s.want(status, "PATCH", uri, iso) }
		out = func() { s.want(204, "PATCH", uri, map[string]any{"Image": nil}) }
	}
	if s.want(200, "GET", uri, nil).at("Inserted") == true {
		out() // it was recorded with a medium
	}
	put(204)
	if g := s.want(200, "GET", uri, nil); g.at("Inserted") != true || g.at("Image") != iso["Image"] || g.at("ConnectedVia") != "URI" {
		s.t.Errorf("%s: %s", uri, g.Body)
	}
	put(409)
	out()
	if g := s.want(200, "GET", uri, nil); g.at("Inserted") != false || g.at("Image") != nil {
		s.t.Errorf("%s: %s", uri, g.Body)
	}
}

// One BMC changes nothing for another over the same tree, and keeps little.
func TestBMCsShareATree(t *testing.T) {
	tree := load(t, r750)
	var all [2]*simulated
	for i := range all {
		b, err := New(tree, Options{})
		must(t, err)
		t.Cleanup(func() { must(t, b.Close()) })
		all[i] = &simulated{b, t, ""}
	}
	before := all[1].want(200, "GET", dell, nil).Body.String()
	all[0].want(204, "PATCH", dell, oncePXE)
	all[0].want(204, "PATCH", dell, map[string]any{"AssetTag": "mine"})
	all[0].want(204, "POST", cd+insert, iso)
	if got := all[0].want(200, "GET", dell, nil); got.at("AssetTag") != "mine" || got.at("Boot", bootTarget) != "Pxe" {
		t.Errorf("%.300s", got.Body)
	}
	if got := all[1].want(200, "GET", dell, nil).Body.String(); got != before {
		t.Errorf("%.300s", got)
	}
	if g := all[1].want(200, "GET", cd, nil); g.at("Inserted") != false {
		t.Errorf("%s", g.Body)
	}
	if n := len(all[0].nodes); n > 4 {
		t.Errorf("%d resources are kept of their own", n)
	}
}

func TestParseTreeRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"":                                 "unexpected end",
		"[]":                               "cannot unmarshal",
		"{}":                               "no /redfish/v1",
		`{"/redfish/v1":[]}`:               "/redfish/v1",
		`{"/redfish/v1":null}`:             "no object",
		`{"/redfish/v1":{},"/etc":{}}`:     "not below",
		`{"/redfish/v1":{},"/redfish":{}}`: "not below",
		`{"/redfish/v1":{}`:                "",
	} {
		_, err := ParseTree("x", strings.NewReader(text))
		if err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "bmcsim: tree x: ") {
			t.Errorf("%s: %v", text, err)
		}
	}
	var many strings.Builder
	many.WriteString(`{"/redfish/v1":{}`)
	for i := range MaxResources {
		fmt.Fprintf(&many, `,"/redfish/v1/%d":{}`, i)
	}
	if _, err := ParseTree("x", strings.NewReader(many.String()+"}")); err == nil || !strings.Contains(err.Error(), "20001 resources") {
		t.Errorf("%v", err)
	}
	if _, err := ParseTree("x", strings.NewReader(`{"/redfish/v1":{},"x":"`+strings.Repeat("y", MaxTree)+`"}`)); err == nil || !strings.Contains(err.Error(), "larger") {
		t.Errorf("%v", err)
	}
}
