package images

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
)

// A Result is what Verify found of a file.
type Result struct {
	Image, File string
	SHA256      string // as stated
	Size        int64
	Flaw        string // "" where the content is what was staged
}

// Verify hashes the files of the image name again, or of all images if name is "".
// An image whose manifest cannot be read has one result, without a file. What it
// finds harmed this store serves no longer, until it is staged again; other
// processes learn of it only by verifying. progress may be nil.
//
// The error is an *[Unknown] where there is no such image, or ctx's.
func (s *Store) Verify(ctx context.Context, name string, progress func(Progress)) ([]Result, error) {
	if err := s.Refresh(); err != nil {
		return nil, err
	}
	t := s.now.Load()
	all := t.images
	if name != "" {
		i, ok := t.find(name)
		if !ok {
			return nil, &Unknown{What: "image " + short(name)}
		}
		all = []Image{i}
	}
	v := &verifying{s, ctx, progress, Progress{}}
	for _, i := range all {
		v.p.Total += i.Size()
	}
	var out []Result
	for _, i := range all {
		got, err := v.image(i)
		if err != nil {
			return nil, err
		}
		out = append(out, got...)
	}
	return out, s.Refresh()
}

// A verifying is one call of Verify.
type verifying struct {
	*Store
	ctx      context.Context
	progress func(Progress)
	p        Progress
}

// image verifies the files of an image. They are opened first, so that they are
// read to their end even if somebody removes the image meanwhile.
func (v *verifying) image(i Image) ([]Result, error) {
	if i.Digest == "" {
		return []Result{{Image: i.Name, Flaw: i.Flaw.(*Harmed).Why}}, nil
	}
	blobs := make([]*Blob, len(i.Files))
	flaws := make([]string, len(i.Files))
	defer func() {
		for _, b := range blobs {
			if b != nil {
				_ = b.Close()
			}
		}
	}()
	for n, f := range i.Files {
		b, err := v.blob(f.SHA256, f.Size)
		if err == nil {
			blobs[n] = b
			continue
		}
		if v.gone(i) {
			return nil, nil
		}
		flaws[n] = why(err)
	}
	var out []Result
	for n, f := range i.Files {
		if blobs[n] != nil {
			flaw, err := v.hash(i.Name, f, blobs[n])
			if err != nil {
				return nil, err
			}
			flaws[n] = flaw
		}
		out = append(out, Result{i.Name, f.Name, f.SHA256, f.Size, flaws[n]})
	}
	return out, nil
}

// gone reports whether another process changed or removed the image meanwhile.
func (v *verifying) gone(i Image) bool {
	_ = v.Refresh()
	now, ok := v.now.Load().find(i.Name)
	return !ok || now.Digest != i.Digest
}

func why(err error) string {
	if h, ok := errors.AsType[*Harmed](err); ok {
		return h.Why
	}
	if errors.Is(err, fs.ErrNotExist) {
		return "it is missing"
	}
	return err.Error()
}

// hash reads a file and compares its digest.
func (v *verifying) hash(image string, f File, b *Blob) (flaw string, err error) {
	sum, buf := sha256.New(), make([]byte, chunk)
	for {
		n, err := read(v.ctx, b, buf)
		if v.ctx.Err() != nil {
			return "", context.Cause(v.ctx)
		}
		sum.Write(buf[:n])
		v.p.Image, v.p.File, v.p.Done = image, f.Name, v.p.Done+int64(n)
		if v.progress != nil {
			v.progress(v.p)
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return "it cannot be read: " + err.Error(), nil
		}
	}
	if got := hex.EncodeToString(sum.Sum(nil)); got != f.SHA256 {
		v.distrust(f.SHA256, b)
		return "its content has the sha256 " + got, nil
	}
	return "", nil
}

// distrust remembers a file that is not what its name says.
func (v *verifying) distrust(sum string, b *Blob) {
	fi, err := v.root.Lstat(blobsDir + "/" + sum)
	now, bad := b.Stat()
	if err != nil || bad != nil || !os.SameFile(now, fi) {
		return // it was staged again meanwhile
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.bad[sum] = fi
}
