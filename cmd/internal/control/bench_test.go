package control_test

import (
	"fmt"
	"net/netip"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ingotmetal/ingot/cmd/internal/control"
	"github.com/ingotmetal/ingot/cmd/internal/store"
	"github.com/ingotmetal/ingot/cmd/internal/store/bolt"
	"github.com/ingotmetal/ingot/cmd/internal/store/postgres"
	"github.com/ingotmetal/ingot/cmd/internal/store/postgres/postgrestest"
	"github.com/ingotmetal/ingot/statemachine/lifecycle"
	"github.com/ingotmetal/ingot/statemachine/netboot"
)

// BenchmarkAdmissionBolt is the door's work for a first sighting that is admitted,
// made durable: load, Step, the difference and the row of the log; for one client and
// for 128, whose calls share their commits. BenchmarkUpdate of package
// bolt has bbolt's own transactions beside the store's.
func BenchmarkAdmissionBolt(b *testing.B) {
	for _, clients := range []int{1, 128} {
		b.Run(fmt.Sprintf("clients=%d", clients), func(b *testing.B) {
			st, err := bolt.Open(filepath.Join(b.TempDir(), "site.db"), bolt.Options{Name: "bench"})
			if err != nil {
				b.Fatal(err)
			}
			admissions(b, st, clients)
		})
	}
}

// BenchmarkAdmissionPostgres is the same on PostgreSQL, on a socket of this machine.
func BenchmarkAdmissionPostgres(b *testing.B) {
	srv, err := postgrestest.Start()
	postgrestest.Need(b, err)
	defer func() {
		if err := srv.Stop(); err != nil {
			b.Error(err)
		}
	}()
	for _, clients := range []int{1, 128} {
		b.Run(fmt.Sprintf("clients=%d", clients), func(b *testing.B) {
			st, err := postgres.Open(b.Context(), postgres.Options{DSN: srv.Database(b), Log: "bench", Writer: "bench"})
			if err != nil {
				b.Fatal(err)
			}
			admissions(b, st, clients)
		})
	}
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
	var n atomic.Int64
	var wg sync.WaitGroup
	b.ReportAllocs()
	b.ResetTimer()
	for range clients {
		wg.Go(func() {
			for i := n.Add(1); i <= int64(b.N); i = n.Add(1) {
				in := lifecycle.Sighted{MAC: netboot.MAC{2, 0, byte(i >> 24), byte(i >> 16), byte(i >> 8), byte(i)}}
				if _, err := d.Do(b.Context(), control.Call{Actor: "booter"}, control.Target{MAC: in.MAC}, control.Just(in)); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "admissions/s")
}
