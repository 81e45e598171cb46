package imagebuild_test

import (
	"bytes"
	"debug/pe"
	"errors"
	"os"
	"testing"

	"github.com/ingotmetal/ingot/cmd/internal/imagebuild"
	"github.com/ingotmetal/ingot/cmd/internal/imagebuild/uki"
)

// stub is systemd's, of Debian.
func stub(t testing.TB) []byte {
	t.Helper()
	raw, err := os.ReadFile("/usr/lib/systemd/boot/efi/linuxx64.efi.stub")
	if err != nil {
		missing(t, "systemd's stub is missing: apt-get install systemd-boot-efi")
	}
	return raw
}

// efiKernel is a kernel that UEFI can start.
func efiKernel(t testing.TB) imagebuild.Kernel {
	t.Helper()
	image := bzImage("6.1")
	copy(image, "MZ")
	k, err := imagebuild.FromFiles(image, folder())
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func TestUnified(t *testing.T) {
	u := imagebuild.Unified{Stub: stub(t), Kernel: efiKernel(t), Initrd: []byte("initrd"), Name: "ingot enrollment"}
	for args, want := range map[string]string{"": "", "console=ttyS0": "console=ttyS0"} {
		u.Args = args
		raw, err := u.Build()
		if err != nil {
			t.Fatal(err)
		}
		f, err := pe.NewFile(bytes.NewReader(raw))
		if err != nil {
			t.Fatal(err)
		}
		section := func(name string) string {
			s := f.Section(name)
			if s == nil {
				return ""
			}
			data, err := s.Data()
			if err != nil {
				t.Fatal(err)
			}
			return string(data[:s.VirtualSize])
		}
		if section(".cmdline") != want || section(".initrd") != "initrd" || section(".linux") != string(u.Kernel.Image) ||
			section(".osrel") != "NAME=\"ingot enrollment\"\nID=ingot\nVERSION_ID=\"6.1\"\nPRETTY_NAME=\"ingot enrollment\"\n" {
			t.Errorf("%q: %q %q", args, section(".cmdline"), section(".osrel"))
		}
	}
}

func TestUnifiedRefusals(t *testing.T) {
	arm := make([]byte, 0x80)
	copy(arm[0x38:], "ARM\x64")
	armed, err := imagebuild.FromFiles(arm, nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, u := range map[string]imagebuild.Unified{
		"another architecture": {Stub: stub(t), Kernel: armed, Initrd: []byte("x")},
		"no stub of UEFI":      {Stub: stub(t), Kernel: kernel(t), Initrd: []byte("x")},
		"no kernel":            {Stub: stub(t), Initrd: []byte("x")},
	} {
		if _, err := u.Build(); !errors.As(err, new(*imagebuild.Invalid)) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, u := range map[string]imagebuild.Unified{"no stub": {Kernel: efiKernel(t), Initrd: []byte("x")}, "no initrd": {Stub: stub(t), Kernel: efiKernel(t)}} {
		if _, err := u.Build(); !errors.As(err, new(*uki.Invalid)) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
