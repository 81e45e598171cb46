package images

import (
	"errors"
	"io"
	"io/fs"
)

// sweep removes what no image needs: temporary files, and files that no manifest
// names. It returns how many bytes those had. While one manifest cannot be read,
// nothing is removed but temporary files, since it may name any. The lock is held.
func (s *Store) sweep() (freed int64, err error) {
	if err := s.empty(tmpDir, func(string) bool { return false }, &freed); err != nil {
		return freed, err
	}
	freed = 0
	marks, err := s.marks()
	if err != nil {
		return 0, err
	}
	named := map[string]bool{}
	for _, fi := range marks {
		i, ok := s.image(fi)
		switch {
		case ok && i.Flaw != nil:
			return 0, nil
		case !ok:
			continue
		}
		for _, f := range i.Files {
			named[f.SHA256] = true
		}
	}
	return freed, s.empty(blobsDir, func(name string) bool { return named[name] }, &freed)
}

// empty removes the files of a folder that are not to be kept.
func (s *Store) empty(name string, keep func(string) bool, freed *int64) error {
	dir, err := s.folder(name)
	if dir == nil || err != nil {
		return err
	}
	defer dir.Close()
	f, err := dir.Open(".")
	if err != nil {
		return &Failed{s.dir, err}
	}
	defer f.Close()
	entries, err := f.ReadDir(-1)
	if err != nil && !errors.Is(err, io.EOF) {
		return &Failed{s.dir, err}
	}
	for _, e := range entries {
		if keep(e.Name()) || e.IsDir() {
			continue
		}
		fi, err := dir.Lstat(e.Name())
		if err == nil {
			err = dir.Remove(e.Name())
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return &Failed{s.dir, err}
		}
		if err == nil {
			*freed += fi.Size()
		}
	}
	return nil
}
