package imagebuild

import (
	"debug/pe"
	"fmt"

	"github.com/ingotmetal/ingot/cmd/internal/imagebuild/uki"
)

// MaxStub bounds a stub, in bytes.
const MaxStub = 16 << 20

// A Unified is what a unified kernel image is made of.
type Unified struct {
	Stub   []byte // systemd's, such as linuxx64.efi.stub
	Kernel Kernel
	Initrd []byte
	Name   string // what the image is, in a few words; shown by boot menus
	// Args are the kernel's arguments. Where there are some, firmware with Secure Boot
	// takes no others; where there are none, those count that the image is started with.
	Args string
}

// Build makes the image. The error is an *Invalid or *uki.Invalid.
func (u Unified) Build() ([]byte, error) {
	want := map[Arch]uint16{AMD64: pe.IMAGE_FILE_MACHINE_AMD64, ARM64: pe.IMAGE_FILE_MACHINE_ARM64}[u.Kernel.Arch]
	if got, err := uki.Machine(u.Stub); err != nil {
		return nil, err
	} else if got != want {
		return nil, &Invalid{"stub", fmt.Sprintf("one for the machine type %#x", got), "want one for the kernel's architecture, " + string(u.Kernel.Arch)}
	}
	if len(u.Kernel.Image) < 2 || string(u.Kernel.Image[:2]) != "MZ" {
		return nil, &Invalid{"kernel", "one that UEFI cannot start", "want one that was built with CONFIG_EFI_STUB"}
	}
	sections := []uki.Section{{Name: ".osrel", Data: []byte(osRelease(u.Name, u.Kernel.Release))}}
	if u.Args != "" {
		sections = append(sections, uki.Section{Name: ".cmdline", Data: []byte(u.Args)})
	}
	return uki.Build(u.Stub, append(sections, uki.Section{Name: ".initrd", Data: u.Initrd}, uki.Section{Name: ".linux", Data: u.Kernel.Image}))
}

// osRelease is a file of os-release(5).
func osRelease(name, release string) string {
	return fmt.Sprintf("NAME=%q\nID=ingot\nVERSION_ID=%q\nPRETTY_NAME=%q\n", name, release, name)
}
