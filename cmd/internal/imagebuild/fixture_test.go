package imagebuild_test

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/ingotmetal/ingot/cmd/internal/imagebuild"
	"github.com/ingotmetal/ingot/cmd/internal/imagebuild/cpio"
)

// bzImage is the begin of a kernel for amd64 that says what it is.
func bzImage(release string) []byte {
	b := make([]byte, 0x400)
	b[0x1fe], b[0x1ff] = 0x55, 0xaa
	copy(b[0x202:], "HdrS")
	binary.LittleEndian.PutUint16(b[0x20e:], 0x100)
	copy(b[0x300:], release+" (builder@debian) #1 SMP\x00")
	return b
}

// program is an ELF file for a machine, which needs a loader where loader is set.
func program(machine elf.Machine, loader bool) []byte {
	var b bytes.Buffer
	head := elf.Header64{Type: uint16(elf.ET_EXEC), Machine: uint16(machine), Version: 1, Phoff: 64, Ehsize: 64, Phentsize: 56, Phnum: 1}
	copy(head.Ident[:], "\x7fELF\x02\x01\x01")
	kind := elf.PT_LOAD
	if loader {
		kind = elf.PT_INTERP
	}
	_ = binary.Write(&b, binary.LittleEndian, head)
	_ = binary.Write(&b, binary.LittleEndian, elf.Prog64{Type: uint32(kind)})
	return b.Bytes()
}

// ko is a module that says this of itself.
func ko(info ...string) []byte {
	text := strings.Join(info, "\x00") + "\x00"
	const names = "\x00.modinfo\x00.shstrtab\x00"
	var b bytes.Buffer
	head := elf.Header64{Type: uint16(elf.ET_REL), Machine: uint16(elf.EM_X86_64), Version: 1, Shoff: uint64(64 + len(text) + len(names)), Ehsize: 64, Shentsize: 64, Shnum: 3, Shstrndx: 2}
	copy(head.Ident[:], "\x7fELF\x02\x01\x01")
	sections := []elf.Section64{{}, {Name: 1, Type: uint32(elf.SHT_PROGBITS), Off: 64, Size: uint64(len(text))}, {Name: 10, Type: uint32(elf.SHT_STRTAB), Off: uint64(64 + len(text)), Size: uint64(len(names))}}
	for _, part := range []any{head, []byte(text + names), sections} {
		_ = binary.Write(&b, binary.LittleEndian, part)
	}
	return b.Bytes()
}

// folder is lib/modules/6.1 of a system.
func folder() fstest.MapFS {
	const magic = "vermagic=6.1 SMP"
	file := func(info ...string) *fstest.MapFile { return &fstest.MapFile{Data: ko(append(info, magic)...)} }
	return fstest.MapFS{
		"modules.builtin":                       {Data: []byte("kernel/drivers/nvme/host/nvme.ko\nkernel/drivers/virtio/virtio_pci.ko\n")},
		"modules.dep":                           {Data: []byte("this is not read\n")},
		"kernel/drivers/net/virtio_net.ko":      file("depends=net_failover,virtio_pci"),
		"kernel/drivers/net/net_failover.ko":    file("depends="),
		"kernel/drivers/usb/uas.ko":             file("depends=usb-storage"),
		"kernel/drivers/usb/usb-storage.ko":     file("depends="),
		"kernel/drivers/gpu/nobody-needs-me.ko": file("depends="),
	}
}

// kernel is one with the modules of folder.
func kernel(t testing.TB) imagebuild.Kernel {
	t.Helper()
	k, err := imagebuild.FromFiles(bzImage("6.1"), folder())
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// debianKernel is Debian's, as a package that somebody downloaded.
func debianKernel(t testing.TB) fs.File {
	t.Helper()
	path := os.Getenv("INGOT_KERNEL_DEB")
	if path == "" {
		cache, _ := os.UserCacheDir()
		found, _ := filepath.Glob(filepath.Join(cache, "ingot", "linux-image-*-cloud-amd64_*.deb"))
		if len(found) > 0 {
			path = found[len(found)-1]
		}
	}
	f, err := os.Open(path)
	if err != nil {
		missing(t, "no kernel is here: in ~/.cache/ingot, apt-get download linux-image-6.1.0-57-cloud-amd64, or name a package by INGOT_KERNEL_DEB")
	}
	t.Cleanup(func() { _ = f.Close() })
	return f
}

// missing skips where something is missing that is not in the repository.
func missing(t testing.TB, why string) {
	t.Helper()
	if os.Getenv("INGOT_TEST_ALL") == "1" {
		t.Fatal(why)
	}
	t.Skip(why)
}

// listing is what an archive holds, a line an entry.
func listing(t testing.TB, entries []cpio.Entry) string {
	t.Helper()
	var b strings.Builder
	for _, e := range entries {
		fmt.Fprintf(&b, "%o %s\n", e.Mode, e.Name)
	}
	return b.String()
}
