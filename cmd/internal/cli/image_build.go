package cli

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ingotmetal/ingot/booter"
	"github.com/ingotmetal/ingot/booter/images"
	"github.com/ingotmetal/ingot/cmd/internal/whole"
)

// imageBuild makes images of what a distribution brings.
func (a *app) imageBuild() *cobra.Command {
	c := &cobra.Command{Use: "build", Short: "Make images, without root, from what a distribution brings", RunE: a.bare, Args: a.noVerb}
	c.AddCommand(a.imageBuildDisk(), a.imageBuildEnroll())
	return c
}

// buildLeaf is a verb that builds something, in the time that --timeout gives.
func (a *app) buildLeaf(use, short, example string, run func(context.Context) error) *cobra.Command {
	c := a.leaf(use, short, example, func(c *cobra.Command, _ []string) error {
		ctx, done := a.bounded(c)
		defer done()
		return run(ctx)
	})
	c.Args = exactly(0)
	return c
}

// A build is where what was built goes: a folder, or an image that is staged.
type build struct {
	*app
	out, dir, name string
}

// places declares the flags of where it goes.
func (b *build) places(c *cobra.Command) {
	f := c.Flags()
	f.StringVar(&b.out, "out", "", "write the files into this `DIR`, which is made where it is not there")
	f.StringVar(&b.name, "name", "", "stage the files as the image `NAME`")
	f.StringVar(&b.dir, "dir", defaultImages, "the `DIR` with the images, with --name")
}

// checkPlaces wants one place, or both.
func (b *build) checkPlaces() error {
	if b.out == "" && b.name == "" {
		return usage("nothing says where the image goes").then("give --out DIR for files, or --name NAME to stage an image")
	}
	if b.name != "" && booter.Gate(b.name) != nil {
		return usage("%s cannot be the name of an image", quote(b.name)).then("want 1 to 64 letters, digits or . _ -, first alphanumeric")
	}
	return nil
}

// A built is a file that was built.
type built struct {
	Name   string `json:"name"`
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"`

	body []byte
	path string // of one that is in a file instead
}

// fill copies it into a new file that all may read.
func (f built) fill(to *os.File) error {
	if f.path == "" {
		_, err := to.Write(f.body)
		return errors.Join(err, to.Chmod(0o644))
	}
	from, err := os.Open(f.path)
	if err != nil {
		return err
	}
	_, err = io.Copy(to, from)
	return errors.Join(err, from.Close(), to.Chmod(0o644))
}

// source is where staging reads it.
func (f built) source() images.Source {
	if f.path != "" {
		return images.Source{Path: f.path}
	}
	return images.Source{Reader: bytes.NewReader(f.body)}
}

// deliver writes the files, and stages them.
func (b *build) deliver(ctx context.Context, files []built, boots images.Manifest) (*imageView, error) {
	slices.SortFunc(files, func(x, y built) int { return strings.Compare(x.Name, y.Name) })
	if b.out != "" {
		if err := writeAll(b.path(b.out), files); err != nil {
			return nil, err
		}
	}
	if b.name == "" {
		return nil, nil
	}
	boots.Name = b.name
	sources := map[string]images.Source{}
	for _, f := range files {
		boots.Files = append(boots.Files, images.File{Name: f.Name, SHA256: f.SHA256, Size: f.Size})
		sources[f.Name] = f.source()
	}
	return b.stage(ctx, boots, sources)
}

// stage stages an image.
func (b *build) stage(ctx context.Context, m images.Manifest, sources map[string]images.Source) (*imageView, error) {
	if err := m.CheckDraft(); err != nil {
		return nil, badDraft(err)
	}
	s, err := images.Create(b.path(b.dir))
	if err != nil {
		return nil, err
	}
	defer s.Close()
	bar := b.bar("staging")
	defer bar.end()
	i, err := s.Stage(ctx, m, sources, bar.show)
	if err != nil {
		return nil, err
	}
	v := viewOf(i)
	return &v, nil
}

// writeAll writes the files into a folder, each whole or not at all.
func writeAll(dir string, files []built) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return unwritten(err)
	}
	for _, f := range files {
		if err := whole.Replace(filepath.Join(dir, f.Name), f.fill); err != nil {
			return unwritten(err)
		}
	}
	return nil
}

func unwritten(err error) error {
	return &Refusal{"the files are not all written: " + err.Error(), "", "UNAVAILABLE"}
}

// source reads a file that a person named, to most bytes, and shows how far it has come.
func (b *build) source(name string, most int64, read func(io.Reader) error) error {
	f, err := os.Open(b.path(name))
	if err != nil {
		return &images.Unreadable{File: name, Err: err}
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return &images.Unreadable{File: name, Err: err}
	case !info.Mode().IsRegular():
		return usage("%s is no file", quote(name))
	case info.Size() > most:
		return usage("%s has %s, and %s are read at most", quote(name), bytesOf(info.Size()), bytesOf(most))
	}
	bar := b.bar("reading")
	defer bar.end()
	return read(&seen{f, bar, images.Progress{File: filepath.Base(name), Total: info.Size()}})
}

// unreadable names the file with what the system said of it; other errors stay.
func unreadable(name string, err error) error {
	if _, coded := errors.AsType[interface {
		error
		Code() string
	}](err); err == nil || coded {
		return err
	}
	return &images.Unreadable{File: name, Err: err}
}

// file reads one whole.
func (b *build) file(name string, most int64) (out []byte, err error) {
	err = b.source(name, most, func(r io.Reader) error {
		out, err = io.ReadAll(r)
		return unreadable(name, err)
	})
	return out, err
}

// seen draws what was read.
type seen struct {
	io.Reader
	bar *bar
	at  images.Progress
}

func (s *seen) Read(p []byte) (int, error) {
	n, err := s.Reader.Read(p)
	s.at.Done += int64(n)
	s.bar.show(s.at)
	return n, err
}

// bounded is a command's context, bounded by --timeout alone.
func (a *app) bounded(c *cobra.Command) (context.Context, context.CancelFunc) {
	if a.given.timeout > 0 {
		return context.WithTimeout(c.Context(), a.given.timeout)
	}
	return context.WithCancel(c.Context())
}

// rate is a speed as people read it.
func rate(size int64, took time.Duration) string {
	return bytesOf(int64(float64(size)/max(took.Seconds(), 0.001))) + "/s"
}
