package redfish_test

import (
	"testing"

	"github.com/ingotmetal/ingot/bmc"
	"github.com/ingotmetal/ingot/bmc/bmcsim"
	"github.com/ingotmetal/ingot/bmc/redfish"
)

// pxe is once, by the network.
func pxe() bmc.BootSpec { return bmc.BootSpec{Target: bmc.BootPXE, Life: bmc.Once} }

// setBoot wants an override to stand.
func setBoot(t *testing.T, s *redfish.Session, spec bmc.BootSpec) bmc.BootState {
	t.Helper()
	b, err := s.SetBoot(t.Context(), spec)
	must(t, err)
	if !spec.Stands(b) {
		t.Errorf("%+v does not stand: %+v", spec, b)
	}
	return b
}

// startedBy restarts a machine and returns what it booted from.
func startedBy(t *testing.T, r *rig, s *redfish.Session) bmcsim.Start {
	t.Helper()
	_, err := s.SendPower(t.Context(), bmc.SendReset)
	must(t, err)
	p, err := s.Probe(t.Context())
	must(t, err)
	list := r.Backend(p.System).(*bmcsim.Memory).Starts()
	if len(list) == 0 {
		t.Fatal("it did not start")
	}
	return list[len(list)-1]
}

func TestReportsOfBoot(t *testing.T) {
	bySettings := func(t *testing.T, r *rig) {
		s := r.open()
		if b := setBoot(t, s, pxe()); !b.Pending || b.Source == "/redfish/v1/Systems/System.Embedded.1" {
			t.Errorf("%+v does not wait in a settings object", b)
		}
		if st := startedBy(t, r, s); st.Target != "Pxe" {
			t.Errorf("booted %+v", st)
		}
		setBoot(t, s, pxe())
		b, err := s.ClearBoot(t.Context())
		if err != nil || b.Target != bmc.BootNone {
			t.Errorf("%+v, %v", b, err)
		}
	}
	run(t, []report{
		{"DMTF/Redfishtool#106", "mode-dropped", supermicro, func(t *testing.T, r *rig) {
			if b := setBoot(t, r.open(), pxe()); b.Mode != bmc.UEFI {
				t.Errorf("the mode was dropped: %+v", b)
			}
		}},
		{"ironcore-dev/metal-operator#982", "mode-refused", supermicro, func(t *testing.T, r *rig) {
			s := r.open()
			setBoot(t, s, pxe())
			spec := pxe()
			spec.Mode = bmc.UEFI
			_, err := s.SetBoot(t.Context(), spec)
			wantKind(t, err, bmc.Unsupports)
		}},
		{"ansible-collections/community.general#11297", "boot-by-settings", "", bySettings},
		{"DMTF/Redfish-Tacklebox#144", "boot-by-sd", "", bySettings},
		{"ironcore-dev/metal-operator#998", "none-refused", ilo, func(t *testing.T, r *rig) {
			s := r.open()
			setBoot(t, s, pxe())
			b, err := s.ClearBoot(t.Context())
			if err != nil || b.Target != bmc.BootNone {
				t.Errorf("%+v, %v", b, err)
			}
			if _, err := s.ClearBoot(t.Context()); err != nil {
				t.Errorf("without an override: %v", err)
			}
		}},
		{"redhat-performance/jetlag#18", "once-ignored", "", func(t *testing.T, r *rig) {
			s := r.open()
			setBoot(t, s, pxe())
			if st := startedBy(t, r, s); st.Target != "" {
				t.Fatalf("booted %+v", st)
			}
			if b, err := s.ReadBoot(t.Context()); err != nil || b.Target != bmc.BootNone {
				t.Errorf("it is said to stand still: %+v, %v", b, err)
			}
		}},
		{"storyboard 2007733 (ironic)", "continuous-refused", "", func(t *testing.T, r *rig) {
			s := r.open()
			_, err := s.SetBoot(t.Context(), bmc.BootSpec{Target: bmc.BootPXE, Life: bmc.Persistent})
			wantKind(t, err, bmc.Unsupports)
			if b, err := s.ReadBoot(t.Context()); err != nil || b.Target != bmc.BootNone {
				t.Errorf("faked: %+v, %v", b, err)
			}
		}},
	})
}
