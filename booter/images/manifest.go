package images

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/ingotmetal/ingot/booter"
	"github.com/ingotmetal/ingot/booter/bootscript"
)

// Bounds of a manifest.
const (
	MaxFiles    = 64
	MaxInitrds  = 16
	MaxSize     = 1 << 50   // of a file, in bytes
	MaxManifest = 128 << 10 // bytes of JSON

	// MaxArgs bounds kernel arguments, in bytes: with longer ones and the words that a
	// site adds no script would be made, and nothing booted.
	MaxArgs = bootscript.ImageArgs
)

// Any is the platform of what all platforms boot alike.
const Any booter.Platform = "*"

// A Manifest says what an image is made of and how machines boot it.
type Manifest struct {
	Name  string                    `json:"name"`  // passes booter.Gate
	Files []File                    `json:"files"` // by name
	Boots map[booter.Platform]Boots `json:"boots,omitempty"`
	Disk  string                    `json:"disk,omitempty"` // the file to install on a disk; "" if there is none
	// ESP is the program that UEFI firmware starts from an installed disk, such as a
	// unified kernel image: it is put onto the disk's EFI system partition. "" is none.
	ESP string `json:"esp,omitempty"`
}

// A File is a part of an image. In a draft the digest may be "" and the size 0:
// not stated.
type File struct {
	Name   string `json:"name"`             // passes booter.Gate
	SHA256 string `json:"sha256,omitempty"` // 64 lower-case hexadecimal digits
	Size   int64  `json:"size,omitempty"`   // in bytes, 1 to MaxSize
}

// Parse reads a manifest. It refuses unknown fields, and whatever [Manifest.Check]
// does. The error is an *[Invalid].
func Parse(raw []byte) (Manifest, error) {
	m, err := decode(raw)
	if err != nil {
		return Manifest{}, err
	}
	return m, m.Check()
}

// ParseDraft is Parse for a manifest that need not state digests and sizes, nor be
// named.
func ParseDraft(raw []byte) (Manifest, error) {
	m, err := decode(raw)
	if err != nil {
		return Manifest{}, err
	}
	named := m
	named.Name = cmp.Or(m.Name, "draft")
	return m, named.check(true)
}

func decode(raw []byte) (m Manifest, err error) {
	if len(raw) > MaxManifest {
		return m, invalid("manifest", fmt.Sprintf("%d bytes long", len(raw)), fmt.Sprintf("at most %d", MaxManifest))
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(&m); err != nil {
		return Manifest{}, invalid("manifest", "no manifest: "+err.Error(), "one JSON object of name, files, boots and disk")
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return Manifest{}, invalid("manifest", "followed by something else", "one JSON object")
	}
	slices.SortStableFunc(m.Files, func(a, b File) int { return cmp.Compare(a.Name, b.Name) })
	return m, nil
}

// Encode writes the canonical form: JSON in one line with an end, files and
// platforms in the order of their names, nothing escaped that need not be. The
// digest is of it. The error is that of [Manifest.Check].
func (m Manifest) Encode() ([]byte, error) {
	if err := m.Check(); err != nil {
		return nil, err
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(m); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// Digest is the image's: the SHA-256 of the canonical form, in hexadecimal digits,
// as `sha256sum images/NAME.json` prints it.
func (m Manifest) Digest() (string, error) {
	raw, err := m.Encode()
	if err != nil {
		return "", err
	}
	return digest(raw), nil
}

func digest(raw []byte) string {
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:])
}

// File returns the file of a name.
func (m Manifest) File(name string) (File, bool) {
	i, ok := slices.BinarySearchFunc(m.Files, name, func(f File, name string) int { return cmp.Compare(f.Name, name) })
	if !ok {
		return File{}, false
	}
	return m.Files[i], true
}

// Size is the sum of the sizes of the files, in bytes.
func (m Manifest) Size() (sum int64) {
	for _, f := range m.Files {
		sum += f.Size
	}
	return sum
}
