package redfish_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ingotmetal/ingot/bmc"
	"github.com/ingotmetal/ingot/bmc/bmcsim"
	"github.com/ingotmetal/ingot/bmc/redfish"
)

// TestQuirksAreWhole: each has a name of its own, a match that is not everything,
// a source, and a test that is there.
func TestQuirksAreWhole(t *testing.T) {
	names, tests := map[string]bool{}, testNames(t)
	for _, q := range redfish.Quirks() {
		if q.Name == "" || names[q.Name] || q.Match == (redfish.Match{}) || q.Effect == "" || q.Source == "" {
			t.Errorf("%+v", q)
		}
		if !strings.HasPrefix(q.Test, "TestQuirk") || !tests[q.Test] {
			t.Errorf("%s: there is no %s", q.Name, q.Test)
		}
		names[q.Name] = true
	}
}

// applies tells whether a session has a quirk.
func applies(t *testing.T, s bmc.Session, name string) bool {
	t.Helper()
	p, err := s.Probe(t.Context())
	must(t, err)
	return strings.Contains(" "+strings.Join(p.Quirks, " ")+" ", " "+name+" ")
}

func TestQuirkSerialIsSKU(t *testing.T) {
	p, err := newRig(t, dell, bmcsim.Options{}).open().Probe(t.Context())
	if err != nil || p.Serial != "F54P1G3" {
		t.Errorf("%+v, %v", p, err)
	}
	p, err = newRig(t, ilo, bmcsim.Options{}).open().Probe(t.Context())
	if err != nil || p.Serial != "2M2D2J00L4" { // not the SKU, which names a product
		t.Errorf("%+v, %v", p, err)
	}
}

func TestQuirkSendMode(t *testing.T) {
	o := bmcsim.Options{Boot: bmcsim.Boot{DropsMode: true}}
	if b := setBoot(t, newRig(t, supermicro, o).open(), pxe()); b.Mode != bmc.UEFI {
		t.Errorf("%+v", b)
	}
	s := newRig(t, dell, o).open()
	if b := setBoot(t, s, pxe()); b.Mode != bmc.Legacy || applies(t, s, "supermicro-boot-mode") {
		t.Errorf("the mode is sent to all: %+v", b)
	}
}

func TestQuirkBusyAfterOff(t *testing.T) {
	refuses := func(tree string) *redfish.Session {
		return newRig(t, tree, rule("POST", "*ComputerSystem.Reset", bmcsim.Effect{Status: 409})).open()
	}
	s := refuses(dell)
	_, err := s.SendPower(t.Context(), bmc.SendOn)
	wantKind(t, err, bmc.Busy)
	_, err = s.SendPower(t.Context(), bmc.SendOff)
	wantKind(t, err, bmc.Conflict)
	_, err = refuses(ilo).SendPower(t.Context(), bmc.SendOn)
	wantKind(t, err, bmc.Conflict)
}

func TestQuirkOldBootNames(t *testing.T) {
	r := newRig(t, "supermicro-x10sdv-redfish1.0.1", bmcsim.Options{})
	s := r.open()
	for mode, raw := range map[bmc.BootMode]string{bmc.UEFI: "UefiCd", bmc.Legacy: "CD/DVD", "": "CD/DVD"} {
		if b := setBoot(t, s, bmc.BootSpec{Target: bmc.BootCD, Mode: mode}); !strings.HasPrefix(b.Raw, raw+" ") {
			t.Errorf("%s: %+v", mode, b)
		}
	}
}

func TestQuirkSlotsByName(t *testing.T) {
	slots, err := newRig(t, xcc, bmcsim.Options{}).open().MediaSlots(t.Context())
	must(t, err)
	for _, s := range slots {
		if s.TakesURL != strings.HasPrefix(s.ID, "EXT") {
			t.Errorf("%+v", s)
		}
	}
	if len(slots) == 0 {
		t.Error("no slots")
	}
}

func TestQuirkOffIsGraceful(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, cray, bmcsim.Options{Power: bmcsim.Power{ShutdownTakes: time.Minute}})
		s := r.system("Node0")
		receipt, err := s.SendPower(t.Context(), bmc.SendGraceful)
		if err != nil || receipt.As != "Off" || receipt.Why == "" {
			t.Errorf("%+v, %v", receipt, err)
		}
		if o := readPower(t, s); o.State == bmc.Off {
			t.Errorf("the power was cut: %+v", o)
		}
		verb(t, r, bmc.GracefulOff, "Off", bmc.Off) // asked once more, since it still runs
		if receipt, err = s.SendPower(t.Context(), bmc.SendOff); err != nil || receipt.As != "ForceOff" {
			t.Errorf("%+v, %v", receipt, err)
		}
	})
}
