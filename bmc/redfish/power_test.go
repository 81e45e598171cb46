package redfish_test

import (
	"testing"

	"github.com/ingotmetal/ingot/bmc"
	"github.com/ingotmetal/ingot/bmc/bmcsim"
)

func TestPowerOfADell(t *testing.T) {
	r := newRig(t, dell, bmcsim.Options{})
	s := r.open()
	o, err := s.ReadPower(t.Context())
	must(t, err)
	if o.State != bmc.On || o.Chassis != bmc.On || o.Raw != "On" || o.Ended.Before(o.Began) {
		t.Errorf("read %+v", o)
	}
	receipt, err := s.SendPower(t.Context(), bmc.SendOff)
	must(t, err)
	if receipt.As != "ForceOff" {
		t.Errorf("sent %+v", receipt)
	}
	if o, err = s.ReadPower(t.Context()); err != nil || !o.Idle() {
		t.Errorf("read %+v, %v", o, err)
	}
	p, err := s.Probe(t.Context())
	must(t, err)
	t.Logf("%+v", p)
}
