package imagebuild

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"strings"
)

// An Arch is a kind of processor, as Go names it.
type Arch string

// The architectures that images are built for.
const (
	AMD64 Arch = "amd64"
	ARM64 Arch = "arm64"
)

// inspect finds what a kernel is for and which it is, by the headers of
// Documentation/x86/boot.rst and Documentation/arm64/booting.rst of Linux.
func inspect(image []byte) (Arch, string, error) {
	switch {
	case len(image) > MaxKernel:
		return "", "", &Invalid{"kernel", "a file that is too large", "want a kernel"}
	case len(image) > 0x210 && string(image[0x202:0x206]) == "HdrS" && image[0x1fe] == 0x55 && image[0x1ff] == 0xaa:
		at := int(binary.LittleEndian.Uint16(image[0x20e:])) + 0x200
		return AMD64, word(image, at), nil
	case len(image) > 0x40 && string(image[0x38:0x3c]) == "ARM\x64":
		return ARM64, "", nil
	case bytes.HasPrefix(image, []byte("!<arch>\n")):
		return "", "", &Invalid{"kernel", "a Debian package", "want its name to end in .deb"}
	}
	return "", "", &Invalid{"kernel", "a file", "want a Linux kernel as a boot loader takes it (bzImage, or Image of arm64)"}
}

// word is the text at an offset, up to a blank.
func word(image []byte, at int) string {
	if at <= 0x200 || at >= len(image) {
		return ""
	}
	text := image[at:min(at+128, len(image))]
	if end := bytes.IndexAny(text, " \x00"); end >= 0 {
		return strings.ToValidUTF8(string(text[:end]), "?")
	}
	return ""
}

// checkInit wants a static program for the kernel's architecture.
func checkInit(init []byte, arch Arch) error {
	bad := func(got, want string) error { return &Invalid{"noded", got, want} }
	f, err := elf.NewFile(bytes.NewReader(init))
	if err != nil {
		return bad("a file that is no program", "want one for Linux: CGO_ENABLED=0 GOOS=linux go build ./cmd/noded")
	}
	machine := map[elf.Machine]Arch{elf.EM_X86_64: AMD64, elf.EM_AARCH64: ARM64}[f.Machine]
	if machine != arch {
		return bad("a program for "+f.Machine.String(), "want one for the kernel's architecture, "+string(arch))
	}
	for _, p := range f.Progs {
		if p.Type == elf.PT_INTERP {
			return bad("a program that needs libraries", "want a static one: build it with CGO_ENABLED=0")
		}
	}
	return nil
}
