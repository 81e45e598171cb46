package control_test

import (
	"net/netip"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ingotmetal/ingot/cmd/internal/control"
	"github.com/ingotmetal/ingot/cmd/internal/store"
	"github.com/ingotmetal/ingot/cmd/internal/store/storetest"
	"github.com/ingotmetal/ingot/statemachine/lifecycle"
	"github.com/ingotmetal/ingot/statemachine/netboot"
)

// BenchmarkAdmission is the door's work for a first sighting that is admitted:
// load, Step, the difference and the row of the log. The store is in memory, so
// that the work is seen without the disk's.
func BenchmarkAdmission(b *testing.B) {
	admissions(b, storetest.Memory("bench"), 128)
}

// admissions admits b.N new MACs at a store by clients at once.
func admissions(b *testing.B, st store.Store, clients int) {
	b.Helper()
	defer st.Close()
	d := control.New(control.Config{Store: st, Now: time.Now})
	policy := lifecycle.SetPolicy{Call: ada, Policy: lifecycle.Policy{Network: netip.MustParsePrefix("10.0.0.0/8"), Enrollment: "enrol", MaxDiscovered: 1 << 30}}
	if _, err := d.Do(b.Context(), control.Call{Actor: "ada"}, control.Target{}, control.Just(policy)); err != nil {
		b.Fatal(err)
	}
	var n atomic.Uint32
	b.SetParallelism(clients)
	b.ReportAllocs()
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			i := n.Add(1)
			in := lifecycle.Sighted{MAC: netboot.MAC{2, 0, byte(i >> 24), byte(i >> 16), byte(i >> 8), byte(i)}}
			if _, err := d.Do(b.Context(), control.Call{Actor: "booter"}, control.Target{MAC: in.MAC}, control.Just(in)); err != nil {
				b.Fatal(err)
			}
		}
	})
}
