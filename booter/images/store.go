package images

import (
	"errors"
	"io/fs"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// Names within a folder.
const (
	imagesDir = "images"
	blobsDir  = "blobs/sha256"
	tmpDir    = "tmp"
	lockFile  = "lock"
	suffix    = ".json"
)

// A Store is a folder of images. It is safe for concurrent use. Close it after use;
// files that were opened stay open.
type Store struct {
	dir  string
	root *os.Root

	mu  sync.Mutex             // held while state is made anew
	bad map[string]fs.FileInfo // files that Verify found harmed, by digest
	now atomic.Pointer[state]

	at func(step string) error // called between the steps of a change; a test's
}

// An Image is what a folder holds under a name.
type Image struct {
	Manifest        // the name alone where the manifest cannot be read
	Digest   string // of the manifest, in hexadecimal digits; "" where it cannot be read
	Staged   time.Time
	Flaw     error // why nothing of it is served, an *Harmed; nil where it is whole
}

// Open opens the folder dir, which may lack all that a store has in it. It removes
// what a crash left there if it may write and nobody stages at the moment. A folder
// that is not there is an *[Unknown]; one that cannot be read, a *[Failed].
func Open(dir string) (*Store, error) {
	root, err := os.OpenRoot(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, &Unknown{"folder " + dir, true}
	case err != nil:
		return nil, &Failed{dir, err}
	}
	s := &Store{dir: dir, root: root, bad: map[string]fs.FileInfo{}, at: func(string) error { return nil }}
	if unlock, err := s.tryLock(); err == nil {
		_, _ = s.sweep() // the next Stage tries again, and says what is wrong
		unlock()
	}
	if _, err := s.Reload(); err != nil {
		return nil, errors.Join(err, root.Close())
	}
	return s, nil
}

// Create is Open for a folder that is made, mode 0755, where it is not there.
func Create(dir string) (*Store, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, &Failed{dir, err}
	}
	return Open(dir)
}

// Close lets the folder go.
func (s *Store) Close() error { return s.root.Close() }

// List returns the images by name, those that are not whole included.
func (s *Store) List() []Image { return s.now.Load().list() }

// Staged returns the images that are whole, with their digests: those that a booter
// may offer.
func (s *Store) Staged() map[string]string {
	out := map[string]string{}
	for _, i := range s.now.Load().images {
		if i.Flaw == nil {
			out[i.Name] = i.Digest
		}
	}
	return out
}

// Image returns an image that is whole. The error is an *[Unknown], or the *[Harmed]
// that the image's flaw is.
func (s *Store) Image(name string) (Image, error) {
	i, ok := s.now.Load().find(name)
	switch {
	case !ok:
		return Image{}, &Unknown{What: "image " + short(name)}
	case i.Flaw != nil:
		return Image{}, i.Flaw
	}
	return i, nil
}
