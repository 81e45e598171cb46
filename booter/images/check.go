package images

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ingotmetal/ingot/booter"
)

// platforms are those that an image may be for.
var platforms = []booter.Platform{
	Any, booter.BIOS, booter.IA32, booter.X64, booter.ARM32, booter.ARM64, booter.UBootARM32, booter.UBootARM64,
}

// Check reports the first thing that keeps m from being an image: a name that does
// not pass booter.Gate, a file that is named twice, out of order, or has no digest,
// a name that is no file's, a boot that starts nothing. The error is an *[Invalid].
func (m Manifest) Check() error { return m.check(false) }

// CheckDraft is Check for a manifest that need not state digests and sizes.
func (m Manifest) CheckDraft() error { return m.check(true) }

func (m Manifest) check(draft bool) error {
	if err := gate("name", m.Name); err != nil {
		return err
	}
	if n := len(m.Files); n == 0 && !m.Boots[Any].Local || n > MaxFiles {
		return invalid("files", fmt.Sprintf("%d of them", n), fmt.Sprintf("1 to %d", MaxFiles))
	}
	for i, f := range m.Files {
		if err := f.check(draft); err != nil {
			return err
		}
		if i > 0 && f.Name <= m.Files[i-1].Name {
			return invalid("files", f.Name+" after "+m.Files[i-1].Name, "each name once, in their order")
		}
	}
	return m.checkBoots()
}

func (f File) check(draft bool) error {
	if err := gate("file name", f.Name); err != nil {
		return err
	}
	if !(draft && f.SHA256 == "") && !booter.IsDigest(f.SHA256) {
		return invalid(f.Name+" sha256", short(f.SHA256), "64 digits of 0-9 and a-f")
	}
	if !(draft && f.Size == 0) && (f.Size < 1 || f.Size > MaxSize) {
		return invalid(f.Name+" size", fmt.Sprint(f.Size), fmt.Sprintf("1 to %d bytes", int64(MaxSize)))
	}
	return nil
}

func (m Manifest) checkBoots() error {
	if len(m.Boots) == 0 && m.Disk == "" && m.ESP == "" {
		return invalid("boots", "empty, and there is no disk image", "something to boot or to install")
	}
	for _, p := range slices.Sorted(maps.Keys(m.Boots)) {
		if !slices.Contains(platforms, p) {
			return invalid("boots", short(string(p)), "one of the platforms "+joined(platforms))
		}
		if err := m.checkBoot(p, m.Boots[p]); err != nil {
			return err
		}
	}
	if err := m.names("esp", m.ESP); err != nil {
		return err
	}
	return m.names("disk", m.Disk)
}

// checkBoot judges what stands under p, and what p boots by it.
func (m Manifest) checkBoot(p booter.Platform, b Boots) error {
	what := "boots " + string(p)
	if err := m.names(what, append([]string{b.Kernel, b.EFI, b.Loader}, b.Initrds...)...); err != nil {
		return err
	}
	if err := CheckArgs(b.Args); err != nil {
		return err
	}
	whole, ok := m.Boot(p)
	switch {
	case m.Boots[Any].Local && (p != Any || b.Kernel+b.EFI+b.Loader+b.Args != "" || len(b.Initrds) > 0), b.Local && p != Any:
		return invalid(what, "the machine's own disk and more", "local alone, under "+string(Any)+": what the disk holds decides the rest")
	case len(b.Initrds) > MaxInitrds:
		return invalid(what, fmt.Sprintf("%d initrds", len(b.Initrds)), fmt.Sprintf("at most %d", MaxInitrds))
	case slices.Contains(b.Initrds, ""):
		return invalid(what, "an initrd without a name", "names of files")
	case b.EFI != "" && p != Any && !efi(p):
		return invalid(what, "an efi program", "one under a platform of UEFI alone")
	case b.Loader != "" && p == Any:
		return invalid(what, "a loader", "a loader under the platform that it is built for")
	case p == Any && len(m.Boots) > 1 && !b.empty():
		return nil // what it lacks, the others may have
	case !ok:
		return invalid(what, "nothing that starts", "a kernel, an efi program or a loader")
	case whole.Kernel == "" && whole.EFI == "" && (whole.Args != "" || len(whole.Initrds) > 0):
		return invalid(what, "args or initrds alone", "a kernel or an efi program that takes them")
	}
	return nil
}

// names refuses a name that is no file's. "" names nothing.
func (m Manifest) names(what string, names ...string) error {
	for _, name := range names {
		if _, ok := m.File(name); name != "" && !ok {
			return invalid(what, short(name), "the name of a file of the image")
		}
	}
	return nil
}

func gate(what, name string) error {
	if booter.Gate(name) != nil {
		return invalid(what, short(name), `1 to 64 letters, digits or . _ -, first alphanumeric, without ".."`)
	}
	return nil
}

// short quotes a text for an error.
func short(s string) string { return fmt.Sprintf("%.*q", booter.MaxImage, s) }

func joined[S ~string](all []S) string {
	parts := make([]string, len(all))
	for i, s := range all {
		parts[i] = cmp.Or(string(s), "none")
	}
	return strings.Join(parts, ", ")
}
