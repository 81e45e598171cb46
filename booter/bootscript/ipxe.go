package bootscript

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ingotmetal/ingot/booter"
)

// A Program is what an image boots on one platform: a kernel with its initial
// ramdisks, a program of UEFI's such as a unified kernel image, or what is on the
// machine's own disk. Names are those of files of the image.
type Program struct {
	Kernel  string
	Initrds []string
	EFI     string
	Local   bool
}

// The bounds of the kernel arguments of one boot, in bytes, the blanks between words
// included.
const (
	// MaxArgs bounds all of them: Linux on x86 and arm64 takes 2,048 with their end. The
	// name of the program and the words that name its ramdisks count.
	MaxArgs = 2047
	// SiteArgs is what a site's own words take at most: two times host:port with the
	// longest host name and the pin of its key, the machine's MAC, address and gateway.
	SiteArgs = 768
	// ImageArgs bounds those that an image brings. It boots with them, with 16 ramdisks
	// and the longest words of a site; a boot entry has what is left.
	ImageArgs = 1024
)

// An Invalid reports a value that is no part of a script.
type Invalid struct{ What, Value, Why string }

// Error names the value and what is wrong with it.
func (e *Invalid) Error() string {
	return fmt.Sprintf("bootscript: %s %.80q %s", e.What, e.Value, e.Why)
}

// Code is the error's wire name (API-3).
func (*Invalid) Code() string { return "INVALID_INPUT" }

// Args splits kernel arguments into words that a script can hold. The error is
// *Invalid.
func Args(s string) ([]string, error) {
	words := strings.Fields(s)
	for _, w := range words {
		if err := checkWord(w); err != nil {
			return nil, err
		}
	}
	return words, nil
}

// Arg is a kernel argument name=value. The error is *Invalid.
func Arg(name, value string) (string, error) {
	w := name + "=" + value
	if strings.ContainsAny(w, " \t") {
		return "", &Invalid{"kernel argument", w, "holds a blank"}
	}
	return w, checkWord(w)
}

// lease is what iPXE knows of the address that it got, and longestLease what that may
// become.
const (
	lease        = "${netX/ip}/${netX/netmask}/${netX/gateway}"
	longestLease = "255.255.255.255/255.255.255.255/255.255.255.255"
)

// Leased is a kernel argument, for [IPXE] alone, that tells a machine the address that
// iPXE got by DHCP: name=IPV4/NETMASK/ROUTER, without a router where DHCP named none.
func Leased(name string) string { return name + "=" + lease }

// unleased is a word with the longest that may become of a lease.
func unleased(w string) string {
	if name, found := strings.CutSuffix(w, "="+lease); found {
		return name + "=" + longestLease
	}
	return w
}

// checkWord refuses what iPXE reads as its own: a variable, an operator, the end of
// a line, its continuation.
func checkWord(w string) error {
	bad := func(why string) error { return &Invalid{"kernel argument", w, why} }
	switch {
	case strings.ContainsFunc(w, func(r rune) bool { return r <= ' ' || r > '~' }):
		return bad("holds something else than printable ASCII")
	case strings.Contains(w, "${"):
		return bad("would be read as a variable of iPXE")
	case w == "||" || w == "&&" || w == ";":
		return bad("would be read as an operator of iPXE")
	case strings.HasPrefix(w, "#"):
		return bad("would be read as a comment of iPXE")
	case strings.Contains(w, `\`):
		return bad("holds a backslash")
	}
	return nil
}

// Tries is how often a script tries to load, with a pause that grows by a second,
// before it restarts the machine.
const Tries = 10

// IPXE is the script that boots program of image with args. base is the URL of the
// machine's own files, which end in a slash. It uses commands that iPXE has had for
// ten years, since the one in a card's ROM may be as old. The error is *Invalid.
func IPXE(base, image string, program Program, args []string) ([]byte, error) {
	if err := check(base, image, program, args); err != nil {
		return nil, err
	}
	if program.Local {
		return []byte("#!ipxe\n# image " + image + "\n" + local), nil
	}
	var b strings.Builder
	fmt.Fprintf(&b, "#!ipxe\n# image %s\nset try:int32 0\n:load\nimgfree\n", image)
	file := func(name string) string { return base + Path{Leaf: File, Image: image, Name: name}.String() }
	line := func(words ...string) { b.WriteString(strings.Join(words, " ") + " || goto again\n") }
	if program.EFI != "" {
		line(append([]string{"chain", file(program.EFI)}, args...)...)
	} else {
		kernel := append([]string{"kernel", "--name", kernelName, file(program.Kernel)}, ramdiskWords(program)...)
		line(append(kernel, args...)...)
		for i, name := range program.Initrds {
			line("initrd", "--name", ramdisk(i), file(name))
		}
		line("boot")
	}
	fmt.Fprintf(&b, ":again\ninc try\niseq ${try} %d && goto end ||\necho Image %s did not load, try ${try} of %d\nsleep ${try}\ngoto load\n", Tries, image, Tries)
	fmt.Fprintf(&b, ":end\necho Image %s did not load; restarting\nsleep 30\nreboot\n", image)
	return []byte(b.String()), nil
}

// local starts the machine's own disk. BIOS boots its first disk. UEFI goes on with
// what its boot order names next, which is for it to know: after a program that ends
// with success it would show its menu instead (UEFI specification, section 3.1.1).
const local = "iseq ${platform} efi && exit 1 ||\nsanboot --no-describe --drive 0x80 ||\nexit 1\n"

// kernelName is the name of the kernel in iPXE.
const kernelName = "kernel"

func ramdisk(i int) string { return "initrd" + strconv.Itoa(i) }

func check(base, image string, p Program, args []string) error {
	if err := checkWord(base); err != nil || !strings.HasSuffix(base, "/") {
		return &Invalid{"base URL", base, "is not one that a script can hold"}
	}
	if err := booter.Gate(image); err != nil {
		return &Invalid{"image", image, "is refused: " + err.Error()}
	}
	if p.Local && (p.EFI != "" || p.Kernel != "" || len(p.Initrds) > 0) || !p.Local && (p.EFI == "") == (p.Kernel == "") {
		return &Invalid{"program", image, "wants a kernel, a program of UEFI or the machine's own disk, and one alone"}
	}
	for _, name := range append([]string{p.Kernel, p.EFI}, p.Initrds...) {
		if name != "" && !isName(name) {
			return &Invalid{"file", name, "is not one plain name"}
		}
	}
	args = slices.Clone(args)
	for i, w := range args {
		w = unleased(w)
		args[i] = w
		if err := checkWord(w); err != nil {
			return err
		}
		if w == "" {
			return &Invalid{"kernel argument", w, "is empty"}
		}
	}
	if n := len(strings.Join(commandLine(p, args), " ")); n > MaxArgs {
		return &Invalid{"kernel arguments", strings.Join(args, " "), fmt.Sprintf("make a command line of %d bytes, at most %d", n, MaxArgs)}
	}
	return nil
}

// commandLine is what the program is started with: iPXE puts its name before the
// arguments where it starts it as a program of UEFI's.
func commandLine(p Program, args []string) []string {
	words := []string{cmp.Or(p.EFI, kernelName)}
	if p.EFI == "" {
		words = append(words, ramdiskWords(p)...)
	}
	return append(words, args...)
}

// ramdiskWords name the ramdisks, which UEFI's stub of Linux asks for.
func ramdiskWords(p Program) []string {
	words := make([]string, len(p.Initrds))
	for i := range words {
		words[i] = "initrd=" + ramdisk(i)
	}
	return words
}
