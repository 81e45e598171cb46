package imagebuild_test

import (
	"bytes"
	"compress/gzip"
	"debug/elf"
	"errors"
	"io"
	"testing"
	"testing/fstest"

	"github.com/ingotmetal/ingot/cmd/internal/imagebuild"
	"github.com/ingotmetal/ingot/cmd/internal/imagebuild/cpio"
	"github.com/ingotmetal/ingot/cmd/internal/imagebuild/kmod"
)

// unpack is what a RAM disk holds.
func unpack(t testing.TB, initrd []byte) (out []cpio.Entry) {
	t.Helper()
	z, err := gzip.NewReader(bytes.NewReader(initrd))
	if err != nil {
		t.Fatal(err)
	}
	if z.Name != "" || !z.ModTime.IsZero() {
		t.Errorf("the header has %q, %v", z.Name, z.ModTime)
	}
	for r := cpio.NewReader(z, 1<<30); ; {
		e, err := r.Next()
		if err == io.EOF {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, e)
	}
}

// body is a file of it.
func body(entries []cpio.Entry, name string) string {
	for _, e := range entries {
		if e.Name == name {
			return string(e.Body)
		}
	}
	return "there is none"
}

func TestInitrd(t *testing.T) {
	e := imagebuild.Enroll{Kernel: kernel(t), Noded: program(elf.EM_X86_64, false), Files: map[string][]byte{"etc/ingot/noded.yaml": []byte("booter: b\n")}}
	raw, modules, err := e.Initrd()
	if err != nil || len(modules) != 4 {
		t.Fatalf("%d modules, %v", len(modules), err)
	}
	got := unpack(t, raw)
	const want = `40755 dev
20600 dev/console
40755 etc
40755 etc/ingot
100644 etc/ingot/modules
100644 etc/ingot/noded.yaml
100755 init
40755 lib
40755 lib/modules
40755 lib/modules/6.1
40755 lib/modules/6.1/kernel
40755 lib/modules/6.1/kernel/drivers
40755 lib/modules/6.1/kernel/drivers/net
100644 lib/modules/6.1/kernel/drivers/net/net_failover.ko
100644 lib/modules/6.1/kernel/drivers/net/virtio_net.ko
40755 lib/modules/6.1/kernel/drivers/usb
100644 lib/modules/6.1/kernel/drivers/usb/uas.ko
100644 lib/modules/6.1/kernel/drivers/usb/usb-storage.ko
40755 proc
40755 sys
`
	if listed := listing(t, got); listed != want {
		t.Errorf("it holds\n%s", listed)
	}
	const order = "lib/modules/6.1/kernel/drivers/net/net_failover.ko\nlib/modules/6.1/kernel/drivers/net/virtio_net.ko\n" +
		"lib/modules/6.1/kernel/drivers/usb/usb-storage.ko\nlib/modules/6.1/kernel/drivers/usb/uas.ko\n"
	if list := body(got, imagebuild.ModulesFile); list != order {
		t.Errorf("the list is\n%s", list)
	}
	if body(got, "init") != string(e.Noded) || body(got, "etc/ingot/noded.yaml") != "booter: b\n" {
		t.Error("it holds other files")
	}
	again, _, err := imagebuild.Enroll{Kernel: kernel(t), Noded: e.Noded, Files: e.Files}.Initrd()
	if err != nil || !bytes.Equal(again, raw) {
		t.Errorf("the same inputs give other bytes, %v", err)
	}
}

func TestNamedModules(t *testing.T) {
	e := imagebuild.Enroll{Kernel: kernel(t), Noded: program(elf.EM_X86_64, false), Modules: []string{"uas", "nvme"}}
	if _, modules, err := e.Initrd(); err != nil || len(modules) != 2 || modules[1].Name != "uas" {
		t.Errorf("%v, %v", modules, err)
	}
	e.Modules = []string{"ixgbe"}
	if _, _, err := e.Initrd(); !errors.As(err, new(*kmod.Missing)) {
		t.Errorf("%v", err)
	}
	e.Modules = []string{}
	if raw, modules, err := e.Initrd(); err != nil || len(modules) != 0 || body(unpack(t, raw), imagebuild.ModulesFile) != "" {
		t.Errorf("%v, %v", modules, err)
	}
}

func TestRefusals(t *testing.T) {
	other := folder()
	other["kernel/x.ko"] = &fstest.MapFile{Data: ko("vermagic=6.2 SMP")}
	text := fstest.MapFS{"kernel/x.ko": {Data: []byte("text")}}
	good := program(elf.EM_X86_64, false)
	for name, c := range map[string]struct {
		image   []byte
		modules fstest.MapFS
		noded   []byte
	}{
		"no kernel":         {[]byte("text"), folder(), good},
		"a package":         {[]byte("!<arch>\ndebian"), folder(), good},
		"another kernel":    {bzImage("6.2"), folder(), good},
		"modules of two":    {bzImage("6.1"), other, good},
		"a text for module": {bzImage("6.1"), text, good},
		"a text for noded":  {bzImage("6.1"), folder(), []byte("text")},
		"not static":        {bzImage("6.1"), folder(), program(elf.EM_X86_64, true)},
		"for arm64":         {bzImage("6.1"), folder(), program(elf.EM_AARCH64, false)},
		"for riscv":         {bzImage("6.1"), folder(), program(elf.EM_RISCV, false)},
	} {
		k, err := imagebuild.FromFiles(c.image, c.modules)
		if err == nil {
			_, _, err = imagebuild.Enroll{Kernel: k, Noded: c.noded}.Initrd()
		}
		coded, ok := errors.AsType[interface {
			error
			Code() string
		}](err)
		if !ok || coded.Code() != "INVALID_INPUT" {
			t.Errorf("%s: %v", name, err)
		}
	}
	arm := make([]byte, 0x80)
	copy(arm[0x38:], "ARM\x64")
	if k, err := imagebuild.FromFiles(arm, nil); err != nil || k.Arch != imagebuild.ARM64 {
		t.Errorf("%v, %v", k.Arch, err)
	}
}

// Debian's kernel brings what machines need, and no modules.dep.
func TestDebian(t *testing.T) {
	k, err := imagebuild.FromPackage(debianKernel(t))
	if err != nil {
		t.Fatal(err)
	}
	if k.Release == "" || k.Arch != imagebuild.AMD64 || k.Modules.Len() < 500 {
		t.Errorf("%q %s, %d modules", k.Release, k.Arch, k.Modules.Len())
	}
	e := imagebuild.Enroll{Kernel: k, Noded: program(elf.EM_X86_64, false), Modules: []string{"virtio_net", "virtio_blk", "nvme"}}
	raw, modules, err := e.Initrd()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	at := map[string]int{}
	for i, m := range modules {
		names, at[m.Name] = append(names, m.Name), i
	}
	for _, pair := range [][2]string{{"virtio_ring", "virtio_net"}, {"virtio", "virtio_net"}, {"failover", "net_failover"}, {"net_failover", "virtio_net"}} {
		if at[pair[0]] >= at[pair[1]] {
			t.Errorf("%s is not before %s in %v", pair[0], pair[1], names)
		}
	}
	again, _, err := e.Initrd()
	if err != nil || !bytes.Equal(raw, again) || at["nvme"] != 0 {
		t.Errorf("other bytes the second time, or a module that is built in: %v, %v", names, err)
	}
	t.Logf("kernel %.1f MiB, RAM disk without an agent %.1f MiB: %v", float64(len(k.Image))/(1<<20), float64(len(raw))/(1<<20), names)
}
