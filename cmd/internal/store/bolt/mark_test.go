package bolt

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.etcd.io/bbolt"

	"github.com/ingotmetal/ingot/cmd/internal/store"
	"github.com/ingotmetal/ingot/statemachine/journal"
)

// marked is a closed store of three rows, with its mark.
func marked(t *testing.T) (path string, heads [4]journal.Head) {
	path = filepath.Join(t.TempDir(), "db")
	s := open(t, path, Options{InitialMmapSize: tiny})
	for i := range 4 {
		if i > 0 {
			if _, err := s.Update(t.Context(), put("node/1", strings.Repeat("x", i))); err != nil {
				t.Fatal(err)
			}
		}
		_ = s.View(t.Context(), func(r store.Reader) error { heads[i] = r.Head(); return nil })
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return path, heads
}

func lost(t *testing.T, err error, want string) {
	t.Helper()
	var d *store.Damaged
	if !errors.As(err, &d) || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %q", err, want)
	}
}

func TestTheMarkNamesTheNewestHead(t *testing.T) {
	path, heads := marked(t)
	if h, _, found, err := readMark(path + ".mark"); h != heads[3] || found != MarkKept || err != nil {
		t.Error(h, found, err)
	}
}

func TestAMarkAheadIsALoss(t *testing.T) {
	path, heads := marked(t)
	ahead := journal.Head{Revision: 4, Hash: heads[3].Hash}
	other := journal.Head{Revision: 2, Hash: heads[3].Hash}
	for want, h := range map[string]journal.Head{"ends at revision 3, and 4": ahead, "revision 2 is not the one": other,
		"revision 0 is not the one": {Hash: heads[3].Hash}} {
		if err := newMark(path+".mark", h); err != nil {
			t.Fatal(err)
		}
		_, err := Open(path, Options{InitialMmapSize: tiny})
		lost(t, err, want)
	}
	s := open(t, path, Options{ResetMark: true})
	defer s.Close()
	if h, _, _, _ := readMark(path + ".mark"); h != heads[3] || s.Stats().Mark != MarkReset {
		t.Error(h, s.Stats().Mark)
	}
}

func TestAMarkBehindIsMovedOn(t *testing.T) {
	path, heads := marked(t)
	for _, h := range heads {
		if err := newMark(path+".mark", h); err != nil {
			t.Fatal(err)
		}
		s := open(t, path, Options{})
		if s.Stats().Mark != MarkKept || s.Close() != nil {
			t.Error(s.Stats().Mark)
		}
		if h, _, _, _ := readMark(path + ".mark"); h != heads[3] {
			t.Error(h)
		}
	}
}

func TestMissingAndTornMarks(t *testing.T) {
	path, heads := marked(t)
	tear := func(places ...int) func() error {
		return func() error {
			raw, err := os.ReadFile(path + ".mark")
			for _, p := range places {
				raw[p*markStep+20]++
			}
			return errors.Join(err, os.WriteFile(path+".mark", raw, 0o600))
		}
	}
	for _, c := range []struct {
		harm func() error
		want Found
	}{
		{func() error { return os.Remove(path + ".mark") }, MarkMissing},
		{tear(0, 1), MarkTorn},
		{tear(0), MarkKept},
		{tear(1), MarkKept},
		{func() error { return os.WriteFile(path+".mark", nil, 0o600) }, MarkTorn},
	} {
		if err := c.harm(); err != nil {
			t.Fatal(err)
		}
		s := open(t, path, Options{})
		if got := s.Stats().Mark; got != c.want || s.Close() != nil {
			t.Error(got, c.want)
		}
		if h, _, found, _ := readMark(path + ".mark"); h != heads[3] || found != MarkKept {
			t.Error(h, found)
		}
	}
}

func TestAFileThatIsGoneIsALoss(t *testing.T) {
	path, _ := marked(t)
	if err := os.Truncate(path, 0); err != nil {
		t.Fatal(err)
	}
	_, err := Open(path, Options{InitialMmapSize: tiny})
	lost(t, err, "is empty")
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	_, err = Open(path, Options{InitialMmapSize: tiny})
	lost(t, err, "is gone")
	if _, err := os.Stat(path); err == nil {
		t.Error("a refusal made a file")
	}
	s := open(t, path, Options{ResetMark: true})
	defer s.Close()
}

func TestALogWithoutItsEnd(t *testing.T) {
	for name, harm := range map[string]func(state, log *bbolt.Bucket) error{
		"last row gone":  func(_, log *bbolt.Bucket) error { return log.Delete([]byte(store.LogKey(3))) },
		"first row gone": func(_, log *bbolt.Bucket) error { return log.Delete([]byte(store.LogKey(1))) },
		"last row another": func(_, log *bbolt.Bucket) error {
			return log.Put([]byte(store.LogKey(3)), log.Get([]byte(store.LogKey(2))))
		},
		"a row too many":   func(_, log *bbolt.Bucket) error { return log.Put([]byte(store.LogKey(4)), []byte("x")) },
		"no head":          func(state, _ *bbolt.Bucket) error { return state.Delete([]byte("meta/head")) },
		"head is nonsense": func(state, _ *bbolt.Bucket) error { return state.Put([]byte("meta/head"), []byte("7")) },
		"no format":        func(state, _ *bbolt.Bucket) error { return state.Delete([]byte(store.MetaFormat)) },
	} {
		t.Run(name, func(t *testing.T) {
			path, _ := marked(t)
			s := open(t, path, Options{})
			err := s.db.Update(func(tx *bbolt.Tx) error {
				return harm(tx.Bucket([]byte(stateBucket)), tx.Bucket([]byte(logBucket)))
			})
			if err != nil || s.Close() != nil || os.Remove(path+".mark") != nil {
				t.Fatal(err)
			}
			var d *store.Damaged
			if _, err := Open(path, Options{InitialMmapSize: tiny}); !errors.As(err, &d) {
				t.Error(err)
			}
			if _, err := Verify(path); !errors.As(err, &d) {
				t.Error(err)
			}
		})
	}
}
