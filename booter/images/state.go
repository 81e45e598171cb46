package images

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
)

// maxImages bounds what is read of a folder.
const maxImages = 4096

// A state is what a folder held when it was last read. It never changes.
type state struct {
	images []Image          // by name
	sizes  map[string]int64 // of the files of images that are whole, by digest
	marks  []fs.FileInfo    // of what was in images/, by name
}

func (t *state) list() []Image { return slices.Clone(t.images) }

func (t *state) find(name string) (Image, bool) {
	i, ok := slices.BinarySearchFunc(t.images, name, func(i Image, name string) int { return cmp.Compare(i.Name, name) })
	if !ok {
		return Image{}, false
	}
	return t.images[i], true
}

// Reload takes in what other processes changed, and reports whether they did. Where
// it fails, what was known stays. It does not see a file of an image change behind
// the back of the store; Verify does.
func (s *Store) Reload() (changed bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	marks, err := s.marks()
	if err != nil {
		return false, err
	}
	if old := s.now.Load(); old != nil && slices.EqualFunc(old.marks, marks, same) {
		return false, nil
	}
	return true, s.read(marks)
}

// Refresh reads the folder again, whether it changed or not: an image of which a file
// is gone or of another size is flawed from then on. What is in the files it does not
// read; Verify does.
func (s *Store) Refresh() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	marks, err := s.marks()
	if err != nil {
		return err
	}
	return s.read(marks)
}

// rereads is how often a folder is read that changes while it is read.
const rereads = 5

// read makes the state of what marks names. An image that another process stages
// meanwhile may look harmed; then the folder is read again.
func (s *Store) read(marks []fs.FileInfo) error {
	for range rereads {
		t, err := s.load(marks)
		if err != nil {
			return err
		}
		flawed := slices.ContainsFunc(t.images, func(i Image) bool { return i.Flaw != nil })
		if !flawed {
			s.now.Store(t)
			return nil
		}
		now, err := s.marks()
		if err != nil {
			return err
		}
		if slices.EqualFunc(marks, now, same) {
			s.now.Store(t)
			return nil
		}
		marks = now
	}
	return &Busy{s.dir, errors.New("it changed whenever it was read")}
}

// same reports whether a name has the same file as before, untouched.
func same(a, b fs.FileInfo) bool {
	return a.Name() == b.Name() && os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
}

// marks lists images/. A folder without it holds no images.
func (s *Store) marks() ([]fs.FileInfo, error) {
	dir, err := s.folder(imagesDir)
	if dir == nil || err != nil {
		return nil, err
	}
	defer dir.Close()
	f, err := dir.Open(".")
	if err != nil {
		return nil, &Failed{s.dir, err}
	}
	defer f.Close()
	entries, err := f.ReadDir(maxImages + 1)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, &Failed{s.dir, err}
	}
	if len(entries) > maxImages {
		return nil, &Harmed{imagesDir, fmt.Sprintf("more than %d files", maxImages)}
	}
	var out []fs.FileInfo
	for _, e := range entries {
		if fi, err := dir.Lstat(e.Name()); err == nil { // else it went just now
			out = append(out, fi)
		}
	}
	slices.SortFunc(out, func(a, b fs.FileInfo) int { return cmp.Compare(a.Name(), b.Name()) })
	return out, nil
}

// folder opens a folder within the store, nil where it is not there.
func (s *Store) folder(name string) (*os.Root, error) {
	parts := strings.Split(name, "/")
	for i := range parts {
		part := strings.Join(parts[:i+1], "/")
		switch fi, err := s.root.Lstat(part); {
		case errors.Is(err, fs.ErrNotExist):
			return nil, nil
		case err != nil:
			return nil, &Failed{s.dir, err}
		case !fi.IsDir():
			return nil, &Harmed{part, "no folder but " + kind(fi)}
		}
	}
	dir, err := s.root.OpenRoot(name)
	if err != nil {
		return nil, &Failed{s.dir, err}
	}
	return dir, nil
}

func kind(fi fs.FileInfo) string {
	switch {
	case fi.Mode()&fs.ModeSymlink != 0:
		return "a symbolic link"
	case fi.IsDir():
		return "a folder"
	case fi.Mode().IsRegular():
		return "a file"
	}
	return "a special file"
}
