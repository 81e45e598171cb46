package images

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strconv"
)

// A Source is where a file comes from: a path, or a reader that is read to its end.
type Source struct {
	Path   string
	Reader io.Reader // goes before Path
}

// A Progress is how far staging or verifying has come.
type Progress struct {
	Image, File string
	Done, Total int64 // bytes of all files; Total is 0 where the size of one is not known
}

// Stage makes an image of draft, with a source for each of its files, in place of
// one of the same name. What draft states of a file must be so: else the error is a
// *[Mismatch]. progress may be nil; it is called from Stage, every MiB or so.
//
// Where it returns an error, nothing is staged and an image of that name is as it
// was, unless the error says that a crash may lose what is staged. A full disk is a
// *[Full]; if ctx ends first, the error is its cause. It waits while another process
// stages; if ctx ends in that time, the error is a *[Busy].
func (s *Store) Stage(ctx context.Context, draft Manifest, sources map[string]Source, progress func(Progress)) (Image, error) {
	draft.Files = slices.Clone(draft.Files)
	if err := draft.check(true); err != nil {
		return Image{}, err
	}
	if err := draft.sourced(sources); err != nil {
		return Image{}, err
	}
	unlock, err := s.lock(ctx)
	if err != nil {
		return Image{}, err
	}
	defer unlock()
	if err := s.makeDirs(); err != nil {
		return Image{}, err
	}
	if _, err := s.sweep(); err != nil {
		return Image{}, err
	}
	w := &staging{Store: s, ctx: ctx, m: draft, sources: sources, progress: progress}
	err = w.run()
	if err != nil {
		_, _ = s.sweep() // nothing of it stays; else the next one removes it
		return Image{}, s.roomless(w, err)
	}
	if err := s.Refresh(); err != nil {
		return Image{}, err
	}
	return s.Image(draft.Name)
}

// sourced refuses a file without a source, and a source without a file.
func (m Manifest) sourced(sources map[string]Source) error {
	for _, f := range m.Files {
		if sources[f.Name] == (Source{}) {
			return &Unreadable{f.Name, errors.New("none is given")}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(sources)) {
		if _, ok := m.File(name); !ok {
			return invalid("sources", short(name), "the name of a file of the image")
		}
	}
	return nil
}

// A staging is one call of Stage. The lock is held.
type staging struct {
	*Store
	ctx      context.Context
	m        Manifest
	sources  map[string]Source
	progress func(Progress)

	done, total int64
}

// run copies all files, then names them, then the manifest.
func (w *staging) run() error {
	w.total = w.measure()
	for i := range w.m.Files {
		if err := w.step("copy", func() error { return w.copy(i) }); err != nil {
			return err
		}
	}
	if err := context.Cause(w.ctx); err != nil {
		return err
	}
	raw, err := w.m.Encode()
	if err != nil {
		return err
	}
	if err := w.write(raw); err != nil {
		return err
	}
	for i, f := range w.m.Files {
		if err := w.step("name", func() error { return w.root.Rename(temporary(i), blobsDir+"/"+f.SHA256) }); err != nil {
			return w.failed(err)
		}
	}
	if err := w.step("sync", func() error { return w.sync(blobsDir) }); err != nil {
		return w.failed(err)
	}
	return w.publish()
}

// publish makes the image the one of its name.
func (w *staging) publish() error {
	if err := w.step("manifest", func() error { return w.root.Rename(temporary(-1), imagesDir+"/"+w.m.Name+suffix) }); err != nil {
		return w.failed(err)
	}
	if err := w.step("named", func() error { return w.sync(imagesDir) }); err != nil {
		_ = w.Refresh()
		return w.failed(fmt.Errorf("%s is staged, but a crash may lose it: %w", w.m.Name, err))
	}
	_, _ = w.sweep() // of the image before; the next one removes what this leaves
	return nil
}

// step does something, unless a test has it fail or die before.
func (w *staging) step(name string, do func() error) error {
	if err := w.at(name); err != nil {
		return err
	}
	return do()
}

// temporary is the name of a file until all are whole; -1 is the manifest.
func temporary(i int) string { return tmpDir + "/" + strconv.Itoa(i+1) }

func (s *Store) failed(err error) error { return &Failed{s.dir, err} }

// write writes the manifest.
func (w *staging) write(raw []byte) error {
	f, err := w.create(-1)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, bytes.NewReader(raw))
	return w.end(f, err)
}

func (s *Store) create(i int) (*os.File, error) {
	f, err := s.root.OpenFile(temporary(i), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, s.failed(err)
	}
	return f, nil
}

// end makes a file durable and closes it.
func (s *Store) end(f *os.File, err error) error {
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return s.failed(err)
	}
	return nil
}

// roomless is err, or what a full disk says of the images that could go.
func (s *Store) roomless(w *staging, err error) error {
	if !noRoom(err) {
		return err
	}
	full := &Full{Dir: s.dir, Need: max(w.total-w.done, 1), Err: cause(err)}
	for _, i := range s.now.Load().images {
		if n := i.Size(); n > full.Frees {
			full.Largest, full.Frees = i.Name, n
		}
	}
	return full
}

// cause is what the system said, without the folder around it.
func cause(err error) error {
	if f, ok := errors.AsType[*Failed](err); ok {
		return f.Err
	}
	return fmt.Errorf("%w", err)
}
