package cli_test

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ingotmetal/ingot/cmd/internal/cli"
)

// forBuilding makes a kernel, an agent and a module that are hardly more than their
// headers.
func forBuilding(f *fake) {
	kernel := make([]byte, 0x400)
	copy(kernel, "MZ")
	kernel[0x1fe], kernel[0x1ff], kernel[0x20f] = 0x55, 0xaa, 1
	copy(kernel[0x202:], "HdrS")
	copy(kernel[0x300:], "6.1 (builder) #1\x00")
	f.write("vmlinuz", string(kernel))
	var b bytes.Buffer
	head := elf.Header64{Type: uint16(elf.ET_EXEC), Machine: uint16(elf.EM_X86_64), Version: 1, Ehsize: 64}
	copy(head.Ident[:], "\x7fELF\x02\x01\x01")
	_ = binary.Write(&b, binary.LittleEndian, head)
	f.write("noded", b.String())
	f.write("modules/modules.builtin", "kernel/nvme.ko\n")
}

// enrol builds an image.
func enrol(f *fake, more ...string) ran {
	return f.run(append([]string{"image", "build", "enroll", "--kernel", "vmlinuz", "--modules", "modules", "--noded", "noded"}, more...)...)
}

func TestImageBuildEnroll(t *testing.T) {
	f := newFake(t)
	forBuilding(f)
	got := enrol(f, "--out", "out", "--args", "console=ttyS0")
	if got.code != 0 || !strings.Contains(got.out, "initrd.img: ") || !strings.Contains(got.out, "kernel 6.1, 0 modules\n") || got.err != "" {
		t.Fatalf("%d %q %q", got.code, got.out, got.err)
	}
	info, err := os.Stat(filepath.Join(f.home, "out/initrd.img"))
	if err != nil || info.Mode().Perm() != 0o644 {
		t.Errorf("%v, %v", info, err)
	}
	f.write("noded.yaml", "booter: b:1\n")
	got = enrol(f, "--name", "enrol-1", "--dir", "images", "--settings", "noded.yaml", "--module", "nvme", "--json")
	var said struct {
		Schema, Kernel string
		Modules        []string
		Files          []struct{ Name, SHA256 string }
		Image          struct{ Digest string }
	}
	if err := json.Unmarshal([]byte(got.out), &said); err != nil || said.Schema != "ingot.image.build.enroll/1" || said.Kernel != "6.1" || len(said.Files) != 2 || len(said.Image.Digest) != 64 {
		t.Errorf("%d %s %s %v", got.code, got.out, got.err, err)
	}
	if got := f.run("image", "list", "--dir", "images"); !strings.Contains(got.out, "enrol-1  2") || !strings.Contains(got.out, "any") {
		t.Errorf("%s", got.out)
	}
	if got := enrol(f, "--out", "out", "-o", "name"); got.out != "initrd.img\nvmlinuz\n" {
		t.Errorf("%q", got.out)
	}
	if f.count() != 0 {
		t.Error("a server was asked")
	}
}

func TestImageBuildUKI(t *testing.T) {
	stub := "/usr/lib/systemd/boot/efi/linuxx64.efi.stub"
	if _, err := os.Stat(stub); err != nil {
		if os.Getenv("INGOT_TEST_ALL") == "1" {
			t.Fatal(err)
		}
		t.Skip("systemd's stub is missing: apt-get install systemd-boot-efi")
	}
	f := newFake(t)
	forBuilding(f)
	got := enrol(f, "--uki", "--name", "enrol-1", "--dir", "images", "--args", "quiet", "-q", ".image.boots")
	if want := `{"bios":{"args":"quiet","initrds":["initrd.img"],"kernel":"vmlinuz"},"efi-x64":{"args":"quiet","efi":"uki.efi"}}`; strings.Join(strings.Fields(got.out), "") != want {
		t.Errorf("%d %s%s", got.code, got.out, got.err)
	}
	f.write("key.pem", "-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----\n")
	f.write("pass", "a very secret passphrase\n")
	got = enrol(f, "--uki", "--out", "signed", "--sign-key", "key.pem", "--sign-cert", "key.pem", "--sign-passphrase-file", "pass")
	if got.code != int(cli.Invalid) || strings.Contains(got.err, "very secret") || strings.Contains(got.err, "AAAA") {
		t.Errorf("%d %s", got.code, got.err)
	}
	if _, err := os.Stat(filepath.Join(f.home, "signed")); err == nil {
		t.Error("something was written")
	}
}

func TestImageBuildRefusals(t *testing.T) {
	f := newFake(t)
	forBuilding(f)
	f.write("text", "text")
	f.write("a.deb", "text")
	usage, invalid := int(cli.BadUsage), int(cli.Invalid)
	for line, want := range map[string]int{
		"":                                       usage,
		"--out o --name ../x":                    usage,
		"--out o --uki-args quiet":               usage,
		"--out o --uki --sign-key text":          usage,
		"--out o --uki --sign-passphrase-file p": usage,
		"--out o --args a||b\\":                  usage,
		"--out o --kernel a.deb":                 usage,
		"--out o --kernel gone":                  invalid,
		"--out o --kernel text":                  invalid,
		"--out o --noded text":                   invalid,
		"--out o --module ixgbe":                 int(cli.Absent),
		"--out o --modules gone":                 invalid,
		"--out vmlinuz":                          int(cli.Unavailable),
		"--out o --uki --uki-stub text":          invalid,
	} {
		if got := enrol(f, strings.Fields(line)...); got.code != want || got.err == "" || got.out != "" {
			t.Errorf("%s: %d %q %q", line, got.code, got.out, got.err)
		}
	}
	if _, err := os.Stat(filepath.Join(f.home, "o")); err == nil {
		t.Error("something was written")
	}
}

func TestImageBuildDisk(t *testing.T) {
	f := newFake(t)
	f.write("uki.efi", "a program of UEFI's")
	line := strings.Fields("image build disk --uki uki.efi --root-size 8MiB --name server-1 --dir images --out out")
	got := f.run(line...)
	if got.code != 0 || !strings.Contains(got.out, "root.img: 8.0 MiB") || !strings.Contains(got.out, "staged server-1") {
		t.Fatalf("%d %q %q", got.code, got.out, got.err)
	}
	got = f.run(append(line, "-q", "[.files[].sha256, .image.disk, .image.esp, .image.boots]")...)
	if again := f.run(append(line, "-q", "[.files[].sha256, .image.disk, .image.esp, .image.boots]")...); got.out != again.out || !strings.Contains(got.out, `"root.img"`) || !strings.Contains(got.out, `"uki.efi"`) {
		t.Errorf("%s %s", got.out, again.out)
	}
	if got := f.run("image", "verify", "server-1", "--dir", "images", "-q", ".sound"); got.out != "true\n" {
		t.Errorf("%s%s", got.out, got.err)
	}
	for line, want := range map[string]int{
		"":                                         int(cli.BadUsage),
		"--out o":                                  int(cli.BadUsage),
		"--uki uki.efi":                            int(cli.BadUsage),
		"--uki gone --out o":                       int(cli.Invalid),
		"--uki uki.efi --out o --root-size":        int(cli.BadUsage),
		"--uki uki.efi --out o --root-size x":      int(cli.BadUsage),
		"--uki uki.efi --out o --root-size 1KiB":   int(cli.Invalid),
		"--uki uki.efi --out o --root-size 1PiB":   int(cli.Invalid),
		"--uki uki.efi --out o --root-size 100PiB": int(cli.BadUsage),
	} {
		if got := f.run(append([]string{"image", "build", "disk"}, strings.Fields(line)...)...); got.code != want || got.out != "" {
			t.Errorf("%s: %d %q %q", line, got.code, got.out, got.err)
		}
	}
}
