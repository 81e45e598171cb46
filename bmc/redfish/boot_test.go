package redfish_test

import (
	"slices"
	"testing"
	"testing/synctest"

	"github.com/ingotmetal/ingot/bmc"
	"github.com/ingotmetal/ingot/bmc/bmcsim"
)

// TestOnceOnEveryTree sets PXE for once, sees it stand, restarts, and sees that
// it was used and spent.
func TestOnceOnEveryTree(t *testing.T) {
	for name, tree := range oracle(t) {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, name, bmcsim.Options{})
				s := r.system(tree.Systems[0].URI)
				if _, err := s.SendPower(t.Context(), bmc.SendOn); err != nil {
					t.Fatal(err)
				}
				targets, err := s.BootTargets(t.Context())
				must(t, err)
				p, err := s.Probe(t.Context())
				must(t, err)
				if !slices.Contains(targets, bmc.BootPXE) {
					_, err := s.SetBoot(t.Context(), pxe())
					wantKind(t, err, bmc.Unsupports)
					return
				}
				if p.Of(bmc.BootOnce).Level != bmc.Native {
					t.Errorf("%+v", p.Of(bmc.BootOnce))
				}
				setBoot(t, s, pxe())
				if st := startedBy(t, r, s); st.Target != "Pxe" || !st.Once {
					t.Errorf("booted %+v", st)
				}
				if b, err := s.ReadBoot(t.Context()); err != nil || b.Target != bmc.BootNone {
					t.Errorf("not spent: %+v, %v", b, err)
				}
			})
		})
	}
}

func TestPersistent(t *testing.T) {
	spec := bmc.BootSpec{Target: bmc.BootDisk, Life: bmc.Persistent}
	setBoot(t, newRig(t, dell, bmcsim.Options{}).open(), spec)
	r := newRig(t, xcc, bmcsim.Options{}) // lists Once and Disabled
	s := r.open()
	_, err := s.SetBoot(t.Context(), spec)
	wantKind(t, err, bmc.Unsupports)
	p, err := s.Probe(t.Context())
	if err != nil || p.Of(bmc.BootPersistent).Level != bmc.Unsupported || r.count("PATCH", "") != 0 {
		t.Errorf("%+v, %v", p.Of(bmc.BootPersistent), err)
	}
}

func TestBootIsRefusedUnsent(t *testing.T) {
	for _, c := range []struct {
		spec bmc.BootSpec
		want bmc.Kind
	}{
		{bmc.BootSpec{}, bmc.InvalidOption},
		{bmc.BootSpec{Target: bmc.BootPXE, Life: "for ever"}, bmc.InvalidOption},
		{bmc.BootSpec{Target: bmc.BootPXE, Mode: "bios"}, bmc.InvalidOption},
		{bmc.BootSpec{Target: bmc.BootPXE, URI: "http://x.test/"}, bmc.InvalidOption},
		{bmc.BootSpec{Target: "RemoteDrive"}, bmc.Unsupports},
		{bmc.BootSpec{Target: bmc.BootURI, URI: "http://x.test/"}, bmc.Unsupports}, // HttpBootUri is not shown
	} {
		r := newRig(t, dell, bmcsim.Options{})
		_, err := r.open().SetBoot(t.Context(), c.spec)
		if e := wantKind(t, err, c.want); e.Sent != bmc.SentNo || r.count("PATCH", "") != 0 {
			t.Errorf("%+v: %+v", c.spec, e)
		}
	}
}

func TestBootByURI(t *testing.T) {
	r := newRig(t, "nvidia-bluefield3-openbmc", bmcsim.Options{})
	s := r.open()
	spec := bmc.BootSpec{Target: bmc.BootURI, URI: "http://images.test/boot.efi", Mode: bmc.UEFI}
	if b := setBoot(t, s, spec); b.URI != spec.URI || b.Mode != bmc.UEFI {
		t.Errorf("%+v", b)
	}
	if st := startedBy(t, r, s); st.URI != spec.URI {
		t.Errorf("booted %+v", st)
	}
}

// TestETags: every way in which BMCs tag, with and without the demand for a tag.
func TestETags(t *testing.T) {
	for _, mode := range []bmcsim.ETagMode{"", bmcsim.ETagStrong, bmcsim.ETagWeak, bmcsim.ETagTwice, bmcsim.ETagGzip, bmcsim.ETagEmpty, bmcsim.ETagNone} {
		for _, required := range []bool{false, true} {
			if required && (mode == bmcsim.ETagNone || mode == bmcsim.ETagEmpty) {
				continue // nobody could write there
			}
			r := newRig(t, dell, bmcsim.Options{ETags: bmcsim.ETags{Mode: mode, Required: required}})
			setBoot(t, r.open(), pxe())
		}
	}
	for name := range oracle(t) { // as each tree tags
		if slices.Contains([]string{ilo, xcc, supermicro, gigabyte, openbmc}, name) {
			setBoot(t, newRig(t, name, bmcsim.Options{ETags: bmcsim.ETags{Required: true}}).open(), pxe())
		}
	}
}

// TestOverrideThatDoesNotStand is said, whatever the BMC answered.
func TestOverrideThatDoesNotStand(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, dell, bmcsim.Options{Boot: bmcsim.Boot{DropsOnce: true}})
		b, err := r.open().SetBoot(t.Context(), pxe())
		if e := wantKind(t, err, bmc.NotReached); e.Sent != bmc.SentYes || b.Target != bmc.BootNone {
			t.Errorf("%+v, %+v", b, e)
		}
	})
}

// TestModeIsSent only where it is asked for or known to be dropped.
func TestModeIsSent(t *testing.T) {
	r := newRig(t, gigabyte, bmcsim.Options{}) // stands on Legacy
	s := r.open()
	if b := setBoot(t, s, pxe()); b.Mode != bmc.Legacy {
		t.Errorf("%+v", b)
	}
	spec := pxe()
	spec.Mode = bmc.UEFI
	if b := setBoot(t, s, spec); b.Mode != bmc.UEFI {
		t.Errorf("%+v", b)
	}
	r = newRig(t, dell, bmcsim.Options{Boot: bmcsim.Boot{NeedsMode: true}})
	spec.Mode = bmc.UEFI
	setBoot(t, r.open(), spec)
}

// TestBootAsTask: a PATCH that is a task is waited for.
func TestLostPatch(t *testing.T) {
	r := newRig(t, dell, rule("PATCH", "*", bmcsim.Effect{Drop: bmcsim.DropAfter}))
	_, err := r.open().SetBoot(t.Context(), pxe())
	wantKind(t, err, bmc.Indeterminate)
	if n := r.count("PATCH", ""); n > 1 {
		t.Errorf("%d patches", n)
	}
}

func TestClear(t *testing.T) {
	for _, tree := range []string{dell, dellDPU, ilo, xcc, supermicro, openbmc, gb200, gigabyte} {
		s := newRig(t, tree, bmcsim.Options{}).open()
		if b, err := s.ClearBoot(t.Context()); err != nil || b.Target != bmc.BootNone {
			t.Errorf("%s, nothing set: %+v, %v", tree, b, err)
		}
		setBoot(t, s, pxe())
		if b, err := s.SetBoot(t.Context(), bmc.BootSpec{Target: bmc.BootNone}); err != nil || b.Target != bmc.BootNone {
			t.Errorf("%s: %+v, %v", tree, b, err)
		}
	}
}

// TestPendingInANewSession: what waits in a settings object is seen and cleared
// also by a session that did not write it.
func TestPendingInANewSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, dell, bmcsim.Options{Boot: bmcsim.Boot{SettingsOnly: true}})
		setBoot(t, r.open(), pxe())
		s := r.open()
		if b, err := s.ReadBoot(t.Context()); err != nil || !b.Pending || b.Target != bmc.BootPXE {
			t.Errorf("%+v, %v", b, err)
		}
		if b, err := s.ClearBoot(t.Context()); err != nil || b.Target != bmc.BootNone {
			t.Errorf("%+v, %v", b, err)
		}
		if st := startedBy(t, r, s); st.Target != "" {
			t.Errorf("booted %+v", st)
		}
	})
}

// TestClearBySettings: a persistent override that the system does not let go of is
// cleared, or replaced, by the settings object.
func TestClearBySettings(t *testing.T) {
	for _, known := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, dell, bmcsim.Options{Boot: bmcsim.Boot{SettingsOnly: true}})
			s := r.open()
			setBoot(t, s, bmc.BootSpec{Target: bmc.BootPXE, Life: bmc.Persistent})
			startedBy(t, r, s)
			if !known {
				s = r.open()
			}
			if b, err := s.ReadBoot(t.Context()); err != nil || b.Pending || b.Life != bmc.Persistent {
				t.Fatalf("%+v, %v", b, err)
			}
			if b, err := s.ClearBoot(t.Context()); err != nil || b.Target != bmc.BootNone || !b.Pending {
				t.Errorf("%+v, %v", b, err)
			}
			startedBy(t, r, s)
			if b := setBoot(t, s, bmc.BootSpec{Target: bmc.BootDisk}); !b.Pending {
				t.Errorf("%+v", b)
			}
		})
	}
}

// TestClearOfAStaleSettingsObject: one that lists nothing and refuses to be written
// does not keep an override from being cleared.
func TestClearOfAStaleSettingsObject(t *testing.T) {
	r := newRig(t, "nvidia-gh200-openbmc", rule("PATCH", "*/Settings", bmcsim.Effect{Status: 400, MessageID: "Base.1.13.PropertyNotWritable"}))
	s := r.system("System_0")
	if b, err := s.ClearBoot(t.Context()); err != nil || b.Target != bmc.BootNone || b.Pending {
		t.Errorf("%+v, %v", b, err)
	}
}
