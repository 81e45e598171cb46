package crashtest

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/ingotmetal/ingot/cmd/internal/store"
	"github.com/ingotmetal/ingot/cmd/internal/store/bolt"
)

// tmpfs is a folder with room for so much.
func tmpfs(t *testing.T, options string) string {
	t.Helper()
	dir := t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", unix.MS_NODEV|unix.MS_NOSUID, options); err != nil {
		lacking(t, "a small file system cannot be mounted here ("+err.Error()+"): run this as root, with CAP_SYS_ADMIN")
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// TestAFullDisk fills a real file system under a store, frees space, and fills it
// again, with the store opened anew each time.
func TestAFullDisk(t *testing.T) {
	dir := tmpfs(t, "size=4m,mode=0700")
	ballast := filepath.Join(dir, "ballast")
	var acked []op
	for round := range 4 {
		if err := os.WriteFile(ballast, make([]byte, 1<<20), 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := bolt.Open(filepath.Join(dir, dbFile), bolt.Options{Name: site, InitialMmapSize: smallMap})
		if err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
		holdsAll(t, s, acked)
		more, end := fill(s, round)
		acked = append(acked, more...)
		var unknown *store.Unknown
		if !errors.As(end, &unknown) || !strings.Contains(end.Error(), "free space in "+dir) {
			t.Errorf("round %d: a full disk is told as %v", round, end)
		}
		<-s.Failed()
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		t.Logf("round %d: %d operations were acknowledged", round, len(more))
		stillFull(t, dir, acked)
		if err := os.Remove(ballast); err != nil {
			t.Fatal(err)
		}
		s, err = bolt.Open(filepath.Join(dir, dbFile), bolt.Options{Name: site, InitialMmapSize: smallMap})
		if err != nil {
			t.Fatalf("round %d: with space again: %v", round, err)
		}
		holdsAll(t, s, acked)
		if err := sweep(s, acked); err != nil {
			t.Errorf("round %d: with space again: %v", round, err)
		}
		acked = nil
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

// stillFull opens the store while the disk is full: it is served, or refused by an
// error that says what to do.
func stillFull(t *testing.T, dir string, acked []op) {
	t.Helper()
	s, err := bolt.Open(filepath.Join(dir, dbFile), bolt.Options{Name: site, InitialMmapSize: smallMap})
	if err != nil {
		t.Errorf("on a full disk it does not open, which would let it be read: %v", err)
		return
	}
	holdsAll(t, s, acked)
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// fill writes records, each with a key of its own, until a commit fails.
func fill(s *bolt.Store, round int) (acked []op, end error) {
	for n := 1; ; n++ {
		o := op{client: round, n: n}
		_, end = s.Update(context.Background(), func(tx store.Tx) error {
			tx.Put(o.record(), []byte(strings.Repeat(o.String(), 2000)))
			tx.Log(entry(o))
			return nil
		})
		if end != nil {
			return acked, end
		}
		acked = append(acked, o)
	}
}

// sweep takes all away again, so that the pages are free.
func sweep(s *bolt.Store, acked []op) error {
	_, err := s.Update(context.Background(), func(tx store.Tx) error {
		for _, o := range acked {
			tx.Delete(o.record())
		}
		tx.Log(entry(op{client: 9, n: 1}))
		return nil
	})
	return err
}

func holdsAll(t *testing.T, s *bolt.Store, acked []op) {
	t.Helper()
	err := s.View(t.Context(), func(r store.Reader) error {
		for _, o := range acked {
			if v, _ := r.Get(o.record()); string(v) != strings.Repeat(o.String(), 2000) {
				t.Errorf("%v was acknowledged and is gone", o)
			}
		}
		for row, err := range store.Rows(r, 0) {
			if err != nil {
				return err
			}
			_ = row
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// TestAStoreIsNotBornOnAFullDisk, and is born once there is space: whatever the room
// that there was, nothing is left in the way.
func TestAStoreIsNotBornOnAFullDisk(t *testing.T) {
	for room := range 12 {
		dir := tmpfs(t, "size=64k,mode=0700")
		ballast := filepath.Join(dir, "ballast")
		if err := os.WriteFile(ballast, make([]byte, 64<<10-room*4<<10), 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := openDir(dir)
		if err == nil {
			err = s.Close()
		}
		if err != nil && !strings.Contains(err.Error(), "; ") {
			t.Errorf("with room for %d pages: %v", room, err)
		}
		if err := os.Remove(ballast); err != nil {
			t.Fatal(err)
		}
		if s, err = openDir(dir); err != nil {
			t.Errorf("there had been room for %d pages, and now that there is more: %v", room, err)
			continue
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}
