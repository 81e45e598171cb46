package bolt

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	"github.com/ingotmetal/ingot/cmd/internal/store"
	"github.com/ingotmetal/ingot/statemachine/journal"
)

// counts are how many clients the benchmarks have.
var counts = []int{1, 16, 128}

const nodes = 10_000

// change is a typical update of one node: a record of 600 bytes, an entry of an
// index, and what it tells.
func change(id, version uint64) func(store.Tx) error {
	key := fmt.Sprintf("node/%06d", id)
	return func(tx store.Tx) error {
		old, _ := tx.Get(key)
		rec := make([]byte, 600)
		copy(rec, old)
		rec[0]++
		tx.Put(key, rec)
		tx.Delete(fmt.Sprintf("due/%08d/%06d", version-1, id))
		tx.Put(fmt.Sprintf("due/%08d/%06d", version, id), nil)
		tx.Log(store.Entry{Time: time.Unix(int64(version), 0), Actor: "operator:somebody", Facts: []journal.Fact{
			{Type: "node.power-off-confirmed", Subject: key[5:], Body: `{"by":"two reads, 3 s apart","epoch":17}`}}})
		return nil
	}
}

// plain is the same by bbolt alone, in a transaction of its own, with no chain.
func plain(id, version uint64) func(*bbolt.Tx) error {
	return func(tx *bbolt.Tx) error {
		b, key := tx.Bucket([]byte("b")), fmt.Appendf(nil, "node/%06d", id)
		rec := make([]byte, 600)
		copy(rec, b.Get(key))
		rec[0]++
		_ = b.Put(key, rec)
		_ = b.Delete(fmt.Appendf(nil, "due/%08d/%06d", version-1, id))
		_ = b.Put(fmt.Appendf(nil, "due/%08d/%06d", version, id), []byte{})
		return b.Put(fmt.Appendf(nil, "log/%016x", version), make([]byte, 220))
	}
}

// each runs a benchmark for each count of clients.
func each(b *testing.B, run func(b *testing.B, clients int)) {
	for _, n := range counts {
		b.Run(fmt.Sprintf("clients=%d", n), func(b *testing.B) { run(b, n) })
	}
}

// drive runs one as often as the benchmark asks for, in n clients.
func drive(b *testing.B, n int, one func(id, version uint64) error) {
	var version atomic.Uint64
	next := func() {
		v := version.Add(1)
		if err := one(v*7919%nodes, v); err != nil {
			b.Error(err)
		}
	}
	b.ResetTimer()
	if n == 1 {
		for range b.N {
			next()
		}
	} else {
		b.SetParallelism(n / runtime.GOMAXPROCS(0))
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				next()
			}
		})
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "/s")
}

func BenchmarkUpdate(b *testing.B) {
	each(b, func(b *testing.B, n int) {
		s := open(b, filepath.Join(b.TempDir(), "db"), Options{InitialMmapSize: 1 << 30})
		defer s.Close()
		drive(b, n, func(id, version uint64) error {
			_, err := s.Update(context.Background(), change(id, version))
			return err
		})
		b.ReportMetric(float64(s.Stats().Closures)/float64(s.Stats().Commits), "closures/commit")
	})
}

func BenchmarkPlainBbolt(b *testing.B) {
	each(b, func(b *testing.B, n int) {
		db, err := bbolt.Open(filepath.Join(b.TempDir(), "db"), 0o600,
			&bbolt.Options{NoFreelistSync: true, FreelistType: bbolt.FreelistMapType, InitialMmapSize: 1 << 30})
		if err != nil {
			b.Fatal(err)
		}
		defer db.Close()
		if err := db.Update(func(tx *bbolt.Tx) error { _, err := tx.CreateBucket([]byte("b")); return err }); err != nil {
			b.Fatal(err)
		}
		drive(b, n, func(id, version uint64) error { return db.Update(plain(id, version)) })
	})
}

// BenchmarkSyncPair is the floor of one commit: bbolt writes and syncs twice.
func BenchmarkSyncPair(b *testing.B) {
	f, err := os.Create(filepath.Join(b.TempDir(), "f"))
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	block := make([]byte, 8<<10)
	if _, err := f.Write(make([]byte, 16<<20)); err != nil {
		b.Fatal(err)
	}
	at := int64(0)
	for b.Loop() {
		for range 2 {
			at = (at + int64(len(block))) % (16 << 20)
			if _, err := f.WriteAt(block, at); err != nil {
				b.Fatal(err)
			}
			if err := fdatasync(f); err != nil {
				b.Fatal(err)
			}
		}
	}
}
