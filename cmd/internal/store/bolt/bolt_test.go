package bolt

import (
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/ingotmetal/ingot/cmd/internal/store"
	"github.com/ingotmetal/ingot/statemachine/journal"
)

var _ store.Store = (*Store)(nil)

const smallMap = 1 << 20

func open(t testing.TB, path string, opt Options) *Store {
	t.Helper()
	if opt.InitialMmapSize == 0 {
		opt.InitialMmapSize = smallMap
	}
	s, err := Open(path, opt)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// put is a closure that writes one row and tells it.
func put(key, val string) func(store.Tx) error {
	return func(tx store.Tx) error {
		tx.Put(key, []byte(val))
		tx.Log(store.Entry{Time: time.Unix(1, 0), Actor: "test", Facts: []journal.Fact{{Type: "test.put", Subject: key}}})
		return nil
	}
}

func TestWhatWasWrittenIsThereAfterwards(t *testing.T) {
	path := filepath.Join(t.TempDir(), "db")
	s := open(t, path, Options{Name: "site"})
	for i := range 10 {
		rev, err := s.Update(t.Context(), put(fmt.Sprintf("node/%d", i), "x"))
		if err != nil || rev != store.Rev(i+1) {
			t.Fatal(rev, err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = open(t, path, Options{Name: "site"})
	defer s.Close()
	err := s.View(t.Context(), func(r store.Reader) error {
		n := 0
		for range r.Range("node/", "node0") {
			n++
		}
		if v, ok := r.Get("node/3"); !ok || string(v) != "x" || n != 10 || r.Head().Revision != 10 {
			return fmt.Errorf("%q %v %d %v", v, ok, n, r.Head())
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	if err := s.View(t.Context(), func(store.Reader) error { return errors.ErrUnsupported }); err != errors.ErrUnsupported {
		t.Error(err)
	}
}
