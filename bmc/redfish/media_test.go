package redfish_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ingotmetal/ingot/bmc"
	"github.com/ingotmetal/ingot/bmc/bmcsim"
)

// TestInsertLadder: BMCs that demand fields get them, and no other.
func TestInsertLadder(t *testing.T) {
	for _, demands := range []string{"", "TransferProtocolType", "TransferMethod", "TransferProtocolType TransferMethod", "Inserted", "WriteProtected", "TransferProtocolType UserName Password"} {
		r := newRig(t, dell, bmcsim.Options{Media: bmcsim.Media{Demands: strings.Fields(demands)}})
		inserted(t, r.open(), bmc.MediaSpec{Image: iso})
		want := 1
		if demands != "" {
			want += len(strings.Fields(demands)) // the simulator names one at a time
		}
		if n := r.count("POST", "InsertMedia"); n > want {
			t.Errorf("%s: %d posts, want at most %d", demands, n, want)
		}
	}
}

// TestInsertLadderEnds where nothing helps.
func TestInsertLadderEnds(t *testing.T) {
	for _, e := range []bmcsim.Effect{{Status: 400}, {Status: 400, Answer: "no"}, {Status: 400, MessageID: "Base.1.5.ActionParameterMissing", Message: "requires the parameter Oem"}} {
		r := newRig(t, dell, rule("POST", "*InsertMedia", e))
		if _, err := r.open().InsertMedia(t.Context(), bmc.MediaSpec{Image: iso}); err == nil {
			t.Error("it is said to be in")
		}
		if n := r.count("POST", "InsertMedia"); n > 7 {
			t.Errorf("%d posts", n)
		}
	}
}

func TestInsertEverywhere(t *testing.T) {
	for name, tree := range oracle(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, name, bmcsim.Options{})
			s := r.system(tree.Systems[0].URI)
			p, err := s.Probe(t.Context())
			must(t, err)
			if p.Of(bmc.MediaInsert).Level == bmc.Unsupported {
				_, err := s.InsertMedia(t.Context(), bmc.MediaSpec{Image: iso})
				wantKind(t, err, bmc.Unsupports)
				return
			}
			m := inserted(t, s, bmc.MediaSpec{Image: iso})
			posts := r.count("POST", "InsertMedia") + r.count("PATCH", m.ID)
			inserted(t, s, bmc.MediaSpec{Image: iso, Slot: m.ID})
			if n := r.count("POST", "InsertMedia") + r.count("PATCH", m.ID); n != posts {
				t.Error("the same image was inserted again")
			}
			must(t, s.EjectMedia(t.Context(), m.ID, true))
			must(t, s.EjectMedia(t.Context(), m.ID, false))
			inserted(t, s, bmc.MediaSpec{Image: other, Slot: m.ID})
		})
	}
}

func TestMediaIsRefusedUnsent(t *testing.T) {
	r := newRig(t, dell, bmcsim.Options{})
	s := r.open()
	for spec, want := range map[bmc.MediaSpec]bmc.Kind{
		{Image: "ftp://images.test/a.iso"}:            bmc.InvalidOption,
		{Image: "http://user:word@images.test/a.iso"}: bmc.InvalidOption,
		{Image: "a.iso"}:                              bmc.InvalidOption,
		{Image: iso, Slot: "no such"}:                 bmc.NotFound,
	} {
		_, err := s.InsertMedia(t.Context(), spec)
		if e := wantKind(t, err, want); strings.Contains(e.Error(), "word") || e.Sent != bmc.SentNo {
			t.Errorf("%+v", e)
		}
	}
	wantKind(t, s.EjectMedia(t.Context(), "no such", true), bmc.NotFound)
	if n := r.count("POST", "Media"); n != 0 {
		t.Errorf("%d posts", n)
	}
}

// TestStaleInserted: the drive reads as full for a while after an eject, and the
// insert waits for it.
func TestStaleInserted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, dell, bmcsim.Options{Media: bmcsim.Media{Stale: 10 * time.Second, RefusesEmpty: true}})
		s := r.open()
		m := inserted(t, s, bmc.MediaSpec{Image: iso})
		began := time.Now()
		inserted(t, s, bmc.MediaSpec{Image: other, Slot: m.ID, Running: true})
		if time.Since(began) < 10*time.Second {
			t.Error("it did not wait")
		}
	})
}

// TestInsertedIsNotShown: a drive that names an image and does not say whether it
// is in is not emptied under a running machine.
func TestInsertedIsNotShown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := rule("GET", "*/VirtualMedia/*", bmcsim.Effect{Set: map[string]any{"Inserted": nil}})
		o.Media.Stale = 10 * time.Second
		r := newRig(t, dell, o)
		s := r.open()
		m := inserted(t, s, bmc.MediaSpec{Image: iso})
		_, err := s.InsertMedia(t.Context(), bmc.MediaSpec{Image: other, Slot: m.ID})
		wantKind(t, err, bmc.Conflict)
		wantKind(t, s.EjectMedia(t.Context(), m.ID, false), bmc.Conflict)
		if n := r.count("POST", "EjectMedia"); n != 0 {
			t.Errorf("%d ejects", n)
		}
		inserted(t, s, bmc.MediaSpec{Image: iso, Slot: m.ID})
		if n := r.count("POST", "InsertMedia"); n != 1 {
			t.Errorf("%d inserts of one image", n)
		}
		inserted(t, s, bmc.MediaSpec{Image: other, Slot: m.ID, Running: true})
		must(t, s.EjectMedia(t.Context(), m.ID, true))
		list, err := s.MediaSlots(t.Context())
		must(t, err)
		for _, one := range list {
			if one.ID == m.ID && (one.Inserted || one.Image != "") {
				t.Errorf("the eject did not wait: %+v", one)
			}
		}
	})
}

// TestMediumUnderAChassis: a medium stays while the chassis does not agree that the
// machine is off.
func TestMediumUnderAChassis(t *testing.T) {
	r := newRig(t, dell, bmcsim.Options{Power: bmcsim.Power{ChassisReads: "On"}})
	s := r.open()
	m := inserted(t, s, bmc.MediaSpec{Image: iso})
	_, err := s.SendPower(t.Context(), bmc.SendOff)
	must(t, err)
	wantKind(t, s.EjectMedia(t.Context(), m.ID, false), bmc.Conflict)
	_, err = s.InsertMedia(t.Context(), bmc.MediaSpec{Image: other, Slot: m.ID})
	wantKind(t, err, bmc.Conflict)
	must(t, s.EjectMedia(t.Context(), m.ID, true))
}

// TestInsertDoesNotStick: accepted, and not there.
func TestInsertDoesNotStick(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, dell, rule("POST", "*InsertMedia", bmcsim.Effect{Status: 204}))
		_, err := r.open().InsertMedia(t.Context(), bmc.MediaSpec{Image: iso})
		if e := wantKind(t, err, bmc.NotReached); e.Sent != bmc.SentYes {
			t.Errorf("%+v", e)
		}
	})
}

func TestMediaTasks(t *testing.T) {
	for ends, want := range map[string]bmc.Kind{"": "", bmcsim.TaskVanishes: "", bmcsim.TaskFails: bmc.Protocol, bmcsim.TaskStaysNew: bmc.NotReached} {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, dell, bmcsim.Options{Tasks: bmcsim.Tasks{For: []string{"*InsertMedia"}, Takes: 20 * time.Second, Ends: ends}})
			_, err := r.open().InsertMedia(t.Context(), bmc.MediaSpec{Image: iso})
			if want != "" {
				wantKind(t, err, want)
			} else if err != nil {
				t.Errorf("%s: %v", ends, err)
			}
		})
	}
}

func TestLostInsert(t *testing.T) {
	r := newRig(t, dell, rule("POST", "*InsertMedia", bmcsim.Effect{Drop: bmcsim.DropAfter}))
	_, err := r.open().InsertMedia(t.Context(), bmc.MediaSpec{Image: iso})
	wantKind(t, err, bmc.Indeterminate)
	if n := r.count("POST", "InsertMedia"); n != 1 {
		t.Errorf("%d posts", n)
	}
}
