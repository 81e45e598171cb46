package redfish_test

import (
	"testing"

	"github.com/ingotmetal/ingot/bmc/bmcsim"
)

// BenchmarkReadPower is one poll of a machine: its system and its chassis, on a
// kept connection in memory. The simulator's part is in it.
func BenchmarkReadPower(b *testing.B) {
	r := newRig(b, dell, bmcsim.Options{LogSize: 1})
	s := r.open()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.ReadPower(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}
