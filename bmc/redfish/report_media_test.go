package redfish_test

import (
	"testing"

	"github.com/ingotmetal/ingot/bmc"
	"github.com/ingotmetal/ingot/bmc/redfish"
)

const (
	iso   = "http://images.test/a.iso"
	other = "http://images.test/b.iso"
)

// inserted wants an image to be in a slot.
func inserted(t *testing.T, s *redfish.Session, spec bmc.MediaSpec) bmc.MediaSlot {
	t.Helper()
	m, err := s.InsertMedia(t.Context(), spec)
	if err != nil || !m.Inserted || m.Image != spec.Image {
		t.Fatalf("%+v, %v", m, err)
	}
	return m
}

func TestReportsOfMedia(t *testing.T) {
	run(t, []report{
		{"stmcginnis/gofish#529", "media-by-patch", xcc, func(t *testing.T, r *rig) {
			s := r.open()
			m := inserted(t, s, bmc.MediaSpec{Image: iso})
			must(t, s.EjectMedia(t.Context(), m.ID, true))
			if r.count("POST", "InsertMedia") != 0 || r.count("PATCH", m.ID) != 2 {
				t.Error("not by PATCH")
			}
		}},
		{"lenovo/python-redfish-lenovo#21", "media-without-url", "", func(t *testing.T, r *rig) {
			s := r.open()
			if m := inserted(t, s, bmc.MediaSpec{Image: iso}); m.ID != "EXT1" {
				t.Errorf("in %s", m.ID)
			}
			_, err := s.InsertMedia(t.Context(), bmc.MediaSpec{Image: iso, Slot: "RDOC1"})
			wantKind(t, err, bmc.Unsupports)
		}},
		{"stmcginnis/gofish#276", "media-read-only", "", func(t *testing.T, r *rig) {
			inserted(t, r.open(), bmc.MediaSpec{Image: iso}) // WriteProtected false is never sent
		}},
		{"ansible-collections/community.general#6969", "media-keeps-image", "", func(t *testing.T, r *rig) {
			inserted(t, r.open(), bmc.MediaSpec{Image: iso}) // what is stale is ejected first
		}},
		{"storyboard 2008504 (ironic)", "media-busy-after-eject", "", func(t *testing.T, r *rig) {
			s := r.open()
			inserted(t, s, bmc.MediaSpec{Image: iso, Slot: "CD"})
			inserted(t, s, bmc.MediaSpec{Image: other, Slot: "CD", Running: true})
		}},
		{"metal3-io/ironic-image#688", "media-needs-licence", "", func(t *testing.T, r *rig) {
			_, err := r.open().InsertMedia(t.Context(), bmc.MediaSpec{Image: iso})
			wantKind(t, err, bmc.Licence)
			if n := r.count("POST", "InsertMedia"); n != 1 {
				t.Errorf("sent %d times", n)
			}
		}},
		{"Launchpad 2160374 (ironic)", "media-keeps-image", "", func(t *testing.T, r *rig) {
			s := r.open()
			inserted(t, s, bmc.MediaSpec{Image: iso, Slot: "CD"})
			_, err := s.InsertMedia(t.Context(), bmc.MediaSpec{Image: other, Slot: "CD"})
			if e := wantKind(t, err, bmc.Conflict); e.State != bmc.On {
				t.Errorf("%v", e)
			}
			wantKind(t, s.EjectMedia(t.Context(), "CD", false), bmc.Conflict)
			if n := r.Stats().EjectsWhileOn; n != 0 {
				t.Errorf("%d ejects from a running machine", n)
			}
			_, err = s.SendPower(t.Context(), bmc.SendOff)
			must(t, err)
			must(t, s.EjectMedia(t.Context(), "CD", false))
			must(t, s.EjectMedia(t.Context(), "CD", false))
		}},
	})
}
