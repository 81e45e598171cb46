package agent

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/ingotmetal/ingot/cmd/internal/whole"
)

// A Folder keeps a file of mode 0600, whole or not at all.
type Folder struct{ Dir string }

func (f Folder) path(name string) string { return filepath.Join(f.Dir, name) }

// Load reads the file.
func (f Folder) Load() ([]byte, error) { return f.read("key") }

// Save writes the file. The folder is made with mode 0700 where it is missing.
func (f Folder) Save(raw []byte) error { return f.write("key", raw) }

func (f Folder) read(name string) ([]byte, error) {
	file, err := os.Open(f.path(name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	s, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if s.Mode().Perm()&0o077 != 0 {
		return nil, &Unkept{file.Name() + " may be read by others; it was perhaps copied: register again, or chmod 600 it", nil}
	}
	raw, err := io.ReadAll(io.LimitReader(file, MaxKept+1))
	if err == nil && len(raw) > MaxKept {
		return nil, &Unkept{file.Name() + " is too long", nil}
	}
	return raw, err
}

func (f Folder) write(name string, raw []byte) error {
	if err := os.MkdirAll(f.Dir, 0o700); err != nil {
		return err
	}
	return whole.Replace(f.path(name), whole.Bytes(raw))
}

// drop removes a file, and makes that durable.
func (f Folder) drop(name string) error {
	err := os.Remove(f.path(name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return errors.Join(err, whole.SyncName(f.path(name)))
}
