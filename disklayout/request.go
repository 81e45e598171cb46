package disklayout

import (
	"fmt"
	"slices"
	"strings"
)

// Bounds on what a plan is made of.
const (
	MaxDisks = 1024 // announced; SET-4 lets a plan write as many
	MaxText  = 128  // bytes of a serial, model, label or name
)

// A Layout is a kind of layout.
type Layout string

// The layouts.
const (
	GPT    Layout = "gpt"    // EFI system partition, root and data on one disk
	Single Layout = "single" // a pool of one disk, without redundancy
	Mirror Layout = "mirror" // a pool of mirrors
)

// A Request is what an operator asks for. The fields of another layout must be
// zero.
type Request struct {
	Layout Layout `json:"layout"`
	// Disks each select one disk: one for gpt and single, two or more for
	// mirror, where the order is that of the vdevs.
	Disks []Selector `json:"disks"`
	// Image is the digest of a disk image to write, or empty (SET-4). It is
	// carried into the plan and its digest; that it is staged is for others to
	// check.
	Image string `json:"image,omitempty"`
	// Boot is the digest of a program, sha256: and 64 hexadecimal digits, that firmware
	// of UEFI starts from the disk, or empty. Only a gpt layout has room for it: it is
	// the one file of its EFI system partition.
	Boot string `json:"boot,omitempty"`
	// Overrides let single foreign signatures die (DISK-4).
	Overrides []Override `json:"overrides,omitempty"`

	// For gpt, whole numbers of MiB. At most one is Rest.
	ESP  Size `json:"esp,omitempty"`  // default 512 MiB; at least 33 MiB, 260 MiB on sectors of 4096 bytes
	Root Size `json:"root,omitempty"` // default 32 GiB
	Data Size `json:"data,omitempty"` // default Rest

	// For single and mirror.
	Pool        string `json:"pool,omitempty"`        // default "zones"
	Width       int    `json:"width,omitempty"`       // disks in one mirror; default 2
	Ashift      int    `json:"ashift,omitempty"`      // 9 to 16; default 12, or more for larger physical sectors
	Compression string `json:"compression,omitempty"` // default "lz4"; see Compressions
	// ImageHasZstd says that the booted image knows zstd (DISK-6).
	ImageHasZstd bool `json:"image_has_zstd,omitempty"`
}

// A Selector finds one disk. All fields that are set must hold, and one beside
// Name must be set. Serials, models and transports are compared in their
// canonical forms.
type Selector struct {
	Serial     string `json:"serial,omitempty"`
	WWN        string `json:"wwn,omitempty"`
	Model      string `json:"model,omitempty"`      // a prefix, in any case
	MinSize    uint64 `json:"min_size,omitempty"`   // bytes
	MaxSize    uint64 `json:"max_size,omitempty"`   // bytes; 0: no bound
	Rotational *bool  `json:"rotational,omitempty"` // a disk that does not say matches neither
	Transport  string `json:"transport,omitempty"`
	// Name is a kernel name, a second witness: the disk that the other fields
	// find must have it, else nothing is written (RUN-4).
	Name string `json:"name,omitempty"`
}

// An Override lets one foreign signature of one disk die: the type and the UUID
// as announced, or the offset where it has no UUID. Copies of one signature,
// such as a GPT's backup, have one UUID and die together.
type Override struct {
	Serial string `json:"serial"`
	Type   string `json:"type"`
	UUID   string `json:"uuid,omitempty"`
	Offset uint64 `json:"offset,omitempty"` // bytes; counts only without a UUID
}

// withDefaults fills in what is zero.
func (r Request) withDefaults() Request {
	switch r.Layout {
	case GPT:
		r.ESP, r.Root, r.Data = or(r.ESP, 512*MiB), or(r.Root, 32*GiB), or(r.Data, Rest)
	case Mirror:
		r.Width = or(r.Width, 2)
		fallthrough
	case Single:
		r.Pool, r.Compression = or(r.Pool, "zones"), or(r.Compression, "lz4")
	}
	return r
}

func or[T comparable](v, otherwise T) T {
	var zero T
	if v == zero {
		return otherwise
	}
	return v
}

// check refuses what is wrong whatever the disks are, in a request with its
// defaults.
func (r *Request) check() error {
	if !printable(r.Image) {
		return refuse(ImageInvalid, nil, "the image's digest is over 128 bytes or has control characters")
	}
	if r.Boot != "" && !sha256Name(r.Boot) {
		return refuse(BootInvalid, nil, "the boot program is not named by sha256: and 64 hexadecimal digits")
	}
	for i := range r.Disks {
		if err := r.Disks[i].check(); err != nil {
			return err
		}
	}
	for _, o := range r.Overrides {
		if CanonicalSerial(o.Serial) == "" || o.Type == "" {
			return refuse(OverrideInvalid, nil, "an override names no disk or no signature")
		}
	}
	if r.Layout == GPT {
		return r.checkSizes()
	}
	return r.checkPool()
}

// sha256Name reports whether s names a file by its content.
func sha256Name(s string) bool {
	hex, ok := strings.CutPrefix(s, "sha256:")
	return ok && len(hex) == 64 && strings.Trim(hex, "0123456789abcdef") == ""
}

// outOfPlace refuses an unknown layout, fields of another, and another number
// of disks than the layout takes.
func (r *Request) outOfPlace() error {
	few, many := 1, 1
	switch r.Layout {
	case GPT:
		if r.Pool != "" || r.Width != 0 || r.Ashift != 0 || r.Compression != "" {
			return refuse(FieldOutOfPlace, nil, "gpt has no pool, width, ashift or compression")
		}
	case Single, Mirror:
		if r.ESP != 0 || r.Root != 0 || r.Data != 0 || r.Boot != "" {
			return refuse(FieldOutOfPlace, nil, string(r.Layout)+" has no esp, root or data, and boots nothing")
		}
		if r.Layout == Mirror {
			few, many = 2, MaxDisks
		} else if r.Width != 0 {
			return refuse(FieldOutOfPlace, nil, "single has no width")
		}
	default:
		return refuse(LayoutUnknown, nil, "layout "+plain(string(r.Layout))+" is none of gpt, single, mirror")
	}
	if n := len(r.Disks); n < few || n > many {
		return refuse(DisksWanted, nil, fmt.Sprintf("%s takes %d to %d disks, not %d", r.Layout, few, many, n))
	}
	return nil
}

// checkSizes is of a request with its defaults.
func (r *Request) checkSizes() error {
	for _, p := range []struct {
		what  string
		size  Size
		least uint64
	}{{"esp", r.ESP, MinESP}, {"root", r.Root, MiB}, {"data", r.Data, MiB}} {
		if err := p.size.fixed(p.what, p.least); err != nil {
			return err
		}
	}
	switch {
	case r.ESP == Rest || r.ESP > MaxESP:
		return refuse(SizeInvalid, nil, "esp is the rest, or over 2 TiB, the most that FAT32 counts")
	case r.Root == Rest && r.Data == Rest:
		return refuse(SizeInvalid, nil, "root and data are both the rest")
	}
	return nil
}

// check refuses a selector that could find a disk by accident (DISK-2).
func (s *Selector) check() error {
	bare := *s
	bare.Name = ""
	switch {
	case bare == Selector{}:
		return refuse(SelectorEmpty, nil, "a selector names nothing but perhaps a kernel name")
	case s.Name != "" && s.Serial == "" && s.WWN == "":
		return refuse(SelectorEmpty, nil, "a kernel name needs a serial or a WWN beside it")
	case s.Serial != "" && CanonicalSerial(s.Serial) == "":
		return refuse(SelectorInvalid, nil, "serial "+plain(s.Serial)+" is a placeholder")
	case s.WWN != "" && CanonicalWWN(s.WWN) == "":
		return refuse(SelectorInvalid, nil, "WWN "+plain(s.WWN)+" is a placeholder")
	case s.Model != "" && fold(s.Model) == "":
		return refuse(SelectorInvalid, nil, "a model of spaces is every model's prefix")
	case s.Transport != "" && trim(s.Transport) == "":
		return refuse(SelectorInvalid, nil, "a transport of spaces is none")
	case s.MaxSize != 0 && s.MinSize > s.MaxSize:
		return refuse(SelectorInvalid, nil, fmt.Sprintf("the sizes from %d to %d are none", s.MinSize, s.MaxSize))
	}
	return nil
}

// compressions is the list of DISK-6 but for zstd.
var compressions = []string{
	"off", "on", "lz4", "lzjb", "zle", "gzip",
	"gzip-1", "gzip-2", "gzip-3", "gzip-4", "gzip-5", "gzip-6", "gzip-7", "gzip-8", "gzip-9",
}

// Compressions is the list of DISK-6, which the install program shares: what a
// pool may ask for. zstd and its levels are on it only where the image has it.
func Compressions(imageHasZstd bool) []string {
	out := slices.Clone(compressions)
	if imageHasZstd {
		out = append(out, "zstd")
		for level := 1; level <= 19; level++ {
			out = append(out, fmt.Sprintf("zstd-%d", level))
		}
	}
	return out
}

func (r *Request) checkPool() error {
	switch {
	case !slices.Contains(compressions, r.Compression) && !slices.Contains(Compressions(r.ImageHasZstd), r.Compression):
		return refuse(CompressionInvalid, nil, "compression "+plain(r.Compression)+" is not on the list")
	case r.Ashift != 0 && (r.Ashift < minAshift || r.Ashift > maxAshift):
		return refuse(AshiftInvalid, nil, fmt.Sprintf("ashift %d is none of 9 to 16", r.Ashift))
	case !poolName(r.Pool):
		return refuse(PoolNameInvalid, nil, "pool name "+plain(r.Pool))
	case r.Layout == Mirror && (r.Width < 2 || len(r.Disks)%r.Width != 0):
		return refuse(WidthInvalid, nil, fmt.Sprintf("%d disks make no mirrors of %d", len(r.Disks), r.Width))
	}
	return nil
}

// poolName follows zpool(8): a letter, then letters, digits and _ . : -, and
// none of the words and beginnings that it reserves.
func poolName(s string) bool {
	if len(s) > 63 || s == "" || !letter(s[0]) || s == "log" {
		return false
	}
	for _, word := range []string{"mirror", "raidz", "draid", "spare"} {
		if strings.HasPrefix(s, word) {
			return false
		}
	}
	if s[0] == 'c' && len(s) > 1 && digit(s[1]) {
		return false
	}
	return !strings.ContainsFunc(s, func(r rune) bool {
		return r >= 0x80 || !letter(byte(r)) && !digit(byte(r)) && !strings.ContainsRune("_.:-", r)
	})
}

func letter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

func digit(c byte) bool { return '0' <= c && c <= '9' }
