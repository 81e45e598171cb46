package bmcsim

import "testing"

// An override is taken by starts as it says: once or always, with its mode and URI.
func TestOverrides(t *testing.T) {
	const bf = "/redfish/v1/Systems/Bluefield"
	s := simulate(t, "nvidia-bluefield3-openbmc", Options{})
	s.want(204, "PATCH", bf, boot(bootEnabled, "Continuous", bootTarget, "UefiHttp", bootMode, "UEFI", bootURI, "http://images.test/boot.efi"))
	for range 2 {
		s.reset(204, bf, "ForceRestart")
	}
	s.want(204, "PATCH", bf+"/Settings", boot(bootEnabled, "Once", bootTarget, "Pxe")) // of which the settings object has its own
	for range 2 {
		s.reset(204, bf, "ForceRestart")
	}
	s.want(204, "PATCH", bf, boot(bootEnabled, "Disabled"))
	s.reset(204, bf, "ForceRestart")
	starts := s.Backend(bf).(*Memory).Starts()
	want := []Start{
		{Target: "UefiHttp", Mode: "UEFI", URI: "http://images.test/boot.efi"}, {Target: "UefiHttp", Mode: "UEFI", URI: "http://images.test/boot.efi"},
		{Target: "Pxe", Once: true}, {Target: "UefiHttp", Mode: "UEFI", URI: "http://images.test/boot.efi"}, {},
	}
	if len(starts) != len(want) {
		t.Fatalf("%+v", starts)
	}
	for i, st := range starts {
		if w := want[i]; st.Target != w.Target || st.Once != w.Once || w.URI != "" && (st.URI != w.URI || st.Mode != w.Mode) {
			t.Errorf("start %d: %+v, want %+v", i, st, w)
		}
	}
}

func TestOverrideOptions(t *testing.T) {
	s := simulate(t, r750, Options{Boot: Boot{NeedsMode: true}})
	if g := s.want(400, "PATCH", dell, oncePXE); g.says() != "PropertyMissing" {
		t.Errorf("%s", g.Body)
	}
	s.want(204, "PATCH", dell, boot(bootEnabled, "Once", bootTarget, "Pxe", bootMode, "UEFI"))
	s.want(204, "PATCH", dell, boot(bootEnabled, "Disabled"))
	if g := s.want(200, "GET", dell, nil); g.at("Boot", bootTarget) != "None" {
		t.Errorf("%v", g.at("Boot"))
	}
	s = simulate(t, r750, Options{Boot: Boot{DropsOnce: true}})
	s.want(204, "PATCH", dell, oncePXE)
	if g := s.want(200, "GET", dell, nil); g.at("Boot", bootEnabled) != "Disabled" {
		t.Errorf("%v", g.at("Boot"))
	}
}

// What lists Once and Disabled alone refuses Continuous.
func TestListedValues(t *testing.T) {
	const xcc = "/redfish/v1/Systems/1"
	s := simulate(t, "lenovo-sr670v2-xcc-2.83", Options{})
	s.want(400, "PATCH", xcc, boot(bootEnabled, "Continuous", bootTarget, "Pxe"))
	s.want(400, "PATCH", xcc, boot(bootEnabled, "Once", bootTarget, "UefiHttp"))
	s.want(204, "PATCH", xcc, oncePXE)
}

// An override that holds until it is cleared is cleared by the settings object for good.
func TestClearedBySettings(t *testing.T) {
	const sys = "/redfish/v1/Systems/System.Embedded.1"
	s := simulate(t, r750, Options{Boot: Boot{SettingsOnly: true}})
	s.want(204, "PATCH", sys+"/Settings", boot(bootEnabled, "Continuous", bootTarget, "Pxe"))
	s.reset(204, sys, "ForceRestart")
	s.want(204, "PATCH", sys+"/Settings", boot(bootEnabled, "Disabled"))
	for range 3 {
		s.reset(204, sys, "ForceRestart")
	}
	starts := s.Backend(sys).(*Memory).Starts()
	if len(starts) != 4 || starts[0].Target != "Pxe" || starts[1].Target != "" || starts[2].Target != "" || starts[3].Target != "" {
		t.Errorf("%+v", starts)
	}
}
