package apply

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"strings"
)

// imageChunk is how much of an image is read and written at once.
const imageChunk = 1 << 20

// imageRead is what was read of an image.
type imageRead struct {
	size uint64
	sum  []byte
}

// imageSum reads the name of an image: the SHA-256 of its bytes.
func imageSum(name string) ([]byte, bool) {
	b, err := hex.DecodeString(strings.TrimPrefix(name, "sha256:"))
	return b, err == nil && len(b) == sha256.Size
}

// checkImage judges the image that an order names, as far as it is known.
func (o *Order) checkImage() error {
	if o.Plan.Image == "" {
		return nil
	}
	if _, ok := imageSum(o.Plan.Image); !ok {
		return refuse(ImageUnsupported, "", "the plan names the image "+o.Plan.Image, nil)
	}
	root, err := part(o.Plan.Table, "root")
	if err != nil {
		return err
	}
	if o.ImageSize > root.Size {
		return refuse(ImageTooLarge, "", fmt.Sprintf("the image of %d bytes is larger than the root partition of %d", o.ImageSize, root.Size), nil)
	}
	return nil
}

// copyImage writes the image into the root partition's place while hashing it,
// and believes it only once the medium returns it.
func (i *install) copyImage() error {
	if i.order.Plan.Image == "" {
		return nil
	}
	i.at(Image, 0, i.order.ImageSize)
	h := sha256.New()
	if err := i.stream(h); err != nil {
		return err
	}
	i.image.sum = h.Sum(nil)
	want, _ := imageSum(i.order.Plan.Image)
	if string(want) != string(i.image.sum) {
		return i.failed(ImageMismatch, fmt.Sprintf("its %d bytes have SHA-256 %x, the plan names %x", i.image.size, i.image.sum, want), nil)
	}
	if err := i.sync(); err != nil {
		return err
	}
	if err := i.forget(); err != nil {
		return err
	}
	return i.rehash()
}

// stream copies the image, its last sector filled with zeros.
func (i *install) stream(h hash.Hash) error {
	root, sector := i.layout.root, int(i.layout.sector)
	buf := i.buffer()
	for {
		n, err := io.ReadFull(i.order.Image, buf)
		last := errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
		if err != nil && !last {
			return i.failed(ImageUnread, fmt.Sprintf("it ended after %d bytes", i.image.size), err)
		}
		if uint64(n) > root.Size-i.image.size {
			return i.failed(ImageTooLarge, fmt.Sprintf("it does not fit the %d bytes of the root partition", root.Size), nil)
		}
		h.Write(buf[:n])
		padded := (n + sector - 1) / sector * sector
		clear(buf[n:padded])
		if n > 0 {
			if err := i.put(piece{root.Start + i.image.size, buf[:padded]}); err != nil {
				return err
			}
		}
		i.image.size += uint64(n)
		i.progress(Progress{Image, i.image.size, i.order.ImageSize})
		if last {
			return nil
		}
	}
}

// rehash reads the image back from the medium.
func (i *install) rehash() error {
	h := sha256.New()
	r := io.NewSectionReader(i.dev, int64(i.layout.root.Start), int64(i.image.size))
	if _, err := io.CopyBuffer(struct{ io.Writer }{h}, r, i.buffer()); err != nil {
		return i.failed(DeviceFailed, "reading the image back failed", err)
	}
	if string(h.Sum(nil)) != string(i.image.sum) {
		return i.failed(ReadBack, "the medium returns another image than was written", nil)
	}
	return nil
}
