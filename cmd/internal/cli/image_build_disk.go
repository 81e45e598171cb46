package cli

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/ingotmetal/ingot/booter"
	"github.com/ingotmetal/ingot/booter/images"
	"github.com/ingotmetal/ingot/cmd/internal/imagebuild"
	"github.com/ingotmetal/ingot/disklayout"
)

// A diskBuild is an image that is installed on disks, as flags name it.
type diskBuild struct {
	build
	uki, size, title string
}

// rootName is the file that is written into the root partition.
const rootName = "root.img"

func (a *app) imageBuildDisk() *cobra.Command {
	b := &diskBuild{build: build{app: a}}
	c := a.buildLeaf("disk", "Make an image that is installed on disks and boots from them by UEFI",
		"ingot image build disk --uki uki.efi --root-size 256MiB --name server-1 --dir images",
		b.run)
	f := c.Flags()
	f.StringVar(&b.uki, "uki", "", "the program that firmware starts from the disk, a `FILE`, such as a unified kernel image")
	f.StringVar(&b.size, "root-size", "64MiB", "of the root's filesystem, at most that of the root partition")
	f.StringVar(&b.title, "title", "ingot", "what the image is, a `TEXT` for its os-release")
	b.places(c)
	return c
}

// run builds it.
func (b *diskBuild) run(ctx context.Context) error {
	if b.uki == "" {
		return usage("nothing says what firmware starts from the disk").then("give --uki FILE")
	}
	if err := b.checkPlaces(); err != nil {
		return err
	}
	rootSize, ok := size(b.size)
	if !ok || rootSize > disklayout.MaxSize {
		return usage("--root-size %s is no size", quote(b.size)).then("want one such as 256MiB")
	}
	began := b.Now()
	program, err := b.file(b.uki, maxProgram)
	if err != nil {
		return err
	}
	i := imagebuild.Installed{Name: b.title, RootSize: int64(rootSize), Boot: program}
	dir, err := os.MkdirTemp("", "ingot-root-*") // it may be larger than memory, and is mostly holes
	if err != nil {
		return unwritten(err)
	}
	defer os.RemoveAll(dir)
	return b.made(ctx, i, filepath.Join(dir, rootName), began)
}

// made makes the root at a path, and delivers both files.
func (b *diskBuild) made(ctx context.Context, i imagebuild.Installed, path string, began time.Time) error {
	root, err := madeRoot(i, path)
	if err != nil {
		return err
	}
	files := []built{root, digested(ukiName, i.Boot)}
	if ctx.Err() != nil {
		return gaveUp(ctx)
	}
	v, err := b.deliver(ctx, files, images.Manifest{Boots: map[booter.Platform]images.Boots{}, Disk: rootName, ESP: ukiName})
	if err != nil {
		return err
	}
	return b.tellFiles(ctx, "image.build.disk", builtView{Files: files, Image: v}, b.Now().Sub(began))
}

// madeRoot makes the root's filesystem and hashes it.
func madeRoot(i imagebuild.Installed, path string) (out built, err error) {
	f, err := os.Create(path)
	if err != nil {
		return out, unwritten(err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if err := i.Root(f); err != nil {
		return out, err
	}
	h := sha256.New()
	n, err := io.Copy(h, io.NewSectionReader(f, 0, i.RootSize))
	if err != nil {
		return out, unwritten(err)
	}
	return built{Name: rootName, Size: n, SHA256: hex.EncodeToString(h.Sum(nil)), path: path}, nil
}
