package images

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/ingotmetal/ingot/booter"
)

// load makes the state of what marks names.
func (s *Store) load(marks []fs.FileInfo) (*state, error) {
	blobs, err := s.folder(blobsDir)
	if err != nil {
		return nil, err
	}
	if blobs != nil {
		defer blobs.Close()
	}
	t := &state{sizes: map[string]int64{}, marks: marks}
	for _, fi := range marks {
		i, ok := s.image(fi)
		if !ok {
			continue
		}
		if i.Flaw == nil {
			i.Flaw = s.whole(blobs, i.Manifest)
		}
		t.images = append(t.images, i)
		for _, f := range i.Files {
			if i.Flaw == nil {
				t.sizes[f.SHA256] = f.Size
			}
		}
	}
	slices.SortFunc(t.images, func(a, b Image) int { return cmp.Compare(a.Name, b.Name) })
	return t, nil
}

// image reads a manifest. ok is false for a file that is none by its name.
func (s *Store) image(fi fs.FileInfo) (i Image, ok bool) {
	name, ok := strings.CutSuffix(fi.Name(), suffix)
	if !ok || booter.Gate(name) != nil {
		return Image{}, false
	}
	m, sum, err := s.manifest(fi)
	if err == nil && m.Name != name {
		err = fmt.Errorf("it is the manifest of %s", short(m.Name))
	}
	if err != nil {
		return Image{Manifest: Manifest{Name: name}, Staged: staged(fi), Flaw: &Harmed{"image " + name, "its manifest: " + err.Error()}}, true
	}
	return Image{Manifest: m, Digest: sum, Staged: staged(fi)}, true
}

func staged(fi fs.FileInfo) time.Time { return fi.ModTime().UTC() }

// manifest reads a manifest, which must have the canonical form.
func (s *Store) manifest(fi fs.FileInfo) (Manifest, string, error) {
	f, err := open(s.root, imagesDir+"/"+fi.Name(), fi)
	if err != nil {
		return Manifest{}, "", err
	}
	defer f.Close()
	raw, err := io.ReadAll(io.LimitReader(f, MaxManifest+1))
	if err != nil {
		return Manifest{}, "", err
	}
	m, err := Parse(raw)
	if err != nil {
		return Manifest{}, "", err
	}
	if again, err := m.Encode(); err != nil || !bytes.Equal(again, raw) {
		return Manifest{}, "", errors.New("not in the canonical form")
	}
	return m, digest(raw), nil
}

// open opens the file that fi is of, and no other: no link, no pipe, nothing that
// took its place.
func open(dir *os.Root, name string, fi fs.FileInfo) (*os.File, error) {
	if !fi.Mode().IsRegular() {
		return nil, fmt.Errorf("no file but %s", kind(fi))
	}
	f, err := dir.Open(name)
	if err != nil {
		return nil, err
	}
	if got, err := f.Stat(); err != nil || !os.SameFile(fi, got) {
		_ = f.Close()
		return nil, errors.New("replaced while it was opened")
	}
	return f, nil
}

// whole compares the files of an image with what is there, by their sizes.
func (s *Store) whole(blobs *os.Root, m Manifest) error {
	for _, f := range m.Files {
		if why := s.lacks(blobs, f); why != "" {
			return &Harmed{"image " + m.Name, f.Name + " " + why}
		}
	}
	return nil
}

func (s *Store) lacks(blobs *os.Root, f File) string {
	if blobs == nil {
		return "is missing"
	}
	fi, err := blobs.Lstat(f.SHA256)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "is missing"
	case err != nil:
		return "cannot be read: " + err.Error()
	case !fi.Mode().IsRegular():
		return "is no file but " + kind(fi)
	case fi.Size() != f.Size:
		return fmt.Sprintf("has %d bytes, want %d", fi.Size(), f.Size)
	}
	if was := s.bad[f.SHA256]; was != nil && same(was, fi) {
		return "has other content than was staged"
	}
	return ""
}
