package cli

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"time"
)

// digested is a file that was built.
func digested(name string, body []byte) built {
	sum := sha256.Sum256(body)
	return built{Name: name, Size: int64(len(body)), SHA256: hex.EncodeToString(sum[:]), body: body}
}

// A builtView is what was built, as it is printed.
type builtView struct {
	Kernel  string     `json:"kernel,omitempty"`
	Modules *[]string  `json:"modules,omitempty"`
	Files   []built    `json:"files"`
	Image   *imageView `json:"image,omitempty"`
}

// tellFiles says what files were built, and how fast.
func (b *build) tellFiles(ctx context.Context, what string, view builtView, took time.Duration) error {
	if b.structured() {
		return b.value(ctx, what, must(view))
	}
	var size int64
	for _, f := range view.Files {
		size += f.Size
		line, args := "%s: %s, sha256 %s\n", []any{f.Name, bytesOf(f.Size), f.SHA256}
		if b.given.output == "name" {
			line, args = "%s\n", args[:1]
		}
		if err := b.printf(line, args...); err != nil {
			return err
		}
	}
	if b.given.output == "name" {
		return nil
	}
	if view.Image != nil {
		if err := b.printf("staged %s, digest %s\n", view.Image.Name, view.Image.Digest); err != nil {
			return err
		}
	}
	return b.printf("built in %.1f s, %s\n", took.Seconds(), rate(size, took))
}
