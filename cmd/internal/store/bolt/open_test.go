package bolt

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"go.etcd.io/bbolt"

	"github.com/ingotmetal/ingot/cmd/internal/store"
)

func refused(t *testing.T, err error, code, next string) {
	t.Helper()
	var r *Refused
	if !errors.As(err, &r) || r.Code() != code || !strings.Contains(err.Error(), next) {
		t.Errorf("%v, want %s and %q", err, code, next)
	}
}

func TestFilesThatAreNotOurs(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "db")
	s := open(t, path, Options{Name: "site"})

	var err error
	synctest.Test(t, func(t *testing.T) { // it waits a second
		_, err = Open(path, Options{Name: "site"})
	})
	refused(t, err, "CONFLICT", "another process")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	_, err = Open(path, Options{Name: "other"})
	refused(t, err, "INVALID_CONFIG", `"site"`)
	_, err = Open(dir, Options{})
	refused(t, err, "INVALID_CONFIG", "another path")
	_, err = Open(filepath.Join(dir, "none", "db"), Options{})
	refused(t, err, "INVALID_CONFIG", "cannot be opened")

	if err := os.Chmod(path, 0o640); err != nil {
		t.Fatal(err)
	}
	_, err = Open(path, Options{Name: "site"})
	refused(t, err, "INVALID_CONFIG", "chmod 600")
	if err := os.Chmod(path, 0o600); err != nil {
		t.Fatal(err)
	}
	open(t, path, Options{Name: "site"}).Close() // none of it changed anything
}

func TestNewFilesAreTheOwnersAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "db")
	defer open(t, path, Options{}).Close()
	for _, p := range []string{path, path + ".mark"} {
		if info, err := os.Stat(p); err != nil || info.Mode().Perm() != 0o600 {
			t.Error(p, info.Mode(), err)
		}
	}
}

func TestAnotherProgramsFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "db")
	db, err := bbolt.Open(path, 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	err = db.Update(func(tx *bbolt.Tx) error { _, err := tx.CreateBucket([]byte("theirs")); return err })
	if err != nil || db.Close() != nil {
		t.Fatal(err)
	}
	_, err = Open(path, Options{InitialMmapSize: tiny})
	refused(t, err, "INVALID_CONFIG", "no store of ours")
}

func TestAnEmptyFileIsANewStore(t *testing.T) {
	s := open(t, place(t, nil), Options{})
	defer s.Close()
	if got := s.Stats().Mark; got != MarkNew {
		t.Error(got)
	}
}

func TestReadOnlyFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "db")
	open(t, path, Options{}).Close()
	if err := os.Chmod(path, 0o400); err != nil {
		t.Fatal(err)
	}
	s, err := Open(path, Options{InitialMmapSize: tiny})
	if err == nil { // root may
		s.Close()
		return
	}
	refused(t, err, "INVALID_CONFIG", "cannot be opened")
}

func TestAnotherFormat(t *testing.T) {
	path := filepath.Join(t.TempDir(), "db")
	s := open(t, path, Options{})
	err := s.db.Update(func(tx *bbolt.Tx) error {
		return tx.Bucket([]byte(stateBucket)).Put([]byte(store.MetaFormat), []byte("2"))
	})
	if err != nil || s.Close() != nil {
		t.Fatal(err)
	}
	_, err = Open(path, Options{InitialMmapSize: tiny})
	refused(t, err, "INVALID_CONFIG", `"2"`)
}
