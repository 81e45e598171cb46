package images

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/ingotmetal/ingot/booter"
)

// Boots is how a platform boots an image. Each name is a file's; "" is none.
type Boots struct {
	Kernel  string   `json:"kernel,omitempty"`
	Initrds []string `json:"initrds,omitempty"` // in the order in which they are loaded
	Args    string   `json:"args,omitempty"`    // passes CheckArgs
	EFI     string   `json:"efi,omitempty"`     // a program that UEFI firmware starts by itself, such as a unified kernel image
	Loader  string   `json:"loader,omitempty"`  // the first program, such as iPXE's snponly.efi or undionly.kpxe
	Local   bool     `json:"local,omitempty"`   // starts the machine's own disk; under Any alone, and nothing else with it
}

// Boot is how p boots the image: what stands under p, and for each field that is
// empty there what stands under [Any]. ok is false where that starts nothing.
func (m Manifest) Boot(p booter.Platform) (b Boots, ok bool) {
	own, all := m.Boots[p], m.Boots[Any]
	b = Boots{
		Kernel: cmp.Or(own.Kernel, all.Kernel), Args: cmp.Or(own.Args, all.Args),
		EFI: cmp.Or(own.EFI, all.EFI), Loader: own.Loader, Initrds: slices.Clone(own.Initrds), Local: all.Local,
	}
	if len(b.Initrds) == 0 {
		b.Initrds = slices.Clone(all.Initrds)
	}
	if p != Any && !efi(p) {
		b.EFI = ""
	}
	return b, b.Kernel != "" || b.EFI != "" || b.Loader != "" || b.Local
}

func (b Boots) empty() bool {
	return b.Kernel == "" && b.EFI == "" && b.Loader == "" && b.Args == "" && len(b.Initrds) == 0 && !b.Local
}

// Platforms are those on which a machine boots the image, by a kernel, a program of
// UEFI's or its own disk; a loader alone boots something else.
func (m Manifest) Platforms() map[booter.Platform]bool {
	out := map[booter.Platform]bool{}
	for _, p := range platforms {
		if b, _ := m.Boot(p); p != Any && (b.Kernel != "" || b.EFI != "" || b.Local) {
			out[p] = true
		}
	}
	return out
}

func efi(p booter.Platform) bool { return strings.HasPrefix(string(p), "efi-") }

// CheckArgs is the gate of kernel arguments: at most [MaxArgs] bytes of printable
// ASCII and spaces, which an iPXE script may have as the end of a line. Such a line
// takes "${" for a setting, a word that begins with # for a comment, the words ||,
// && and ; for the end of the command, and a backslash at its end for going on in
// the next line: these are refused, and backslashes everywhere, since words may be
// put in another order. Other loaders read other marks; whoever writes
// their configuration quotes for them. The error is an *[Invalid].
func CheckArgs(args string) error {
	if len(args) > MaxArgs {
		return invalid("args", fmt.Sprintf("%d bytes long", len(args)), fmt.Sprintf("at most %d, which with the words of a site make a command line that Linux takes", MaxArgs))
	}
	if i := strings.IndexFunc(args, func(r rune) bool { return r < ' ' || r > '~' }); i >= 0 {
		return invalid("args", fmt.Sprintf("with %q in them", args[i]), "printable ASCII")
	}
	if strings.Contains(args, "${") || strings.Contains(args, `\`) {
		return invalid("args", short(args), `no "${" and no backslash`)
	}
	for word := range strings.FieldsSeq(args) {
		if word == "||" || word == "&&" || word == ";" || word[0] == '#' {
			return invalid("args", "with the word "+short(word), "no word that is ||, && or ; or begins with #")
		}
	}
	return nil
}
