package images

import (
	"context"
	"errors"
	"io/fs"

	"github.com/ingotmetal/ingot/booter"
)

// Remove removes an image, whole or not, and the files that no other has. It
// returns how many bytes those had. It waits while another process stages. An image
// that is not here is an *[Unknown].
//
// While the manifest of another image cannot be read, no file is removed; the next
// Stage or Remove after that was mended does it.
func (s *Store) Remove(ctx context.Context, name string) (freed int64, err error) {
	if booter.Gate(name) != nil {
		return 0, &Unknown{What: "image " + short(name)}
	}
	unlock, err := s.lock(ctx)
	if err != nil {
		return 0, err
	}
	defer unlock()
	dir, err := s.folder(imagesDir)
	if err != nil {
		return 0, err
	}
	if dir == nil {
		return 0, &Unknown{What: "image " + name}
	}
	defer dir.Close()
	switch err := dir.Remove(name + suffix); {
	case errors.Is(err, fs.ErrNotExist):
		return 0, &Unknown{What: "image " + name}
	case err != nil:
		return 0, &Failed{s.dir, err}
	}
	if err := s.sync(imagesDir); err != nil {
		return 0, &Failed{s.dir, err}
	}
	freed, err = s.sweep()
	return freed, errors.Join(err, s.Refresh())
}
