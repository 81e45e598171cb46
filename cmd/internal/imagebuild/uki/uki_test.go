package uki_test

import (
	"bytes"
	"debug/pe"
	"encoding/binary"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ingotmetal/ingot/cmd/internal/imagebuild/uki"
)

// Where Debian has what the tests run on.
const (
	stubPath = "/usr/lib/systemd/boot/efi/linuxx64.efi.stub"
	keyPath  = "/usr/share/ovmf/PkKek-1-snakeoil.key"
	certPath = "/usr/share/ovmf/PkKek-1-snakeoil.pem"
)

// of reads a file that a Debian package brings.
func of(t testing.TB, path, debian string) []byte {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		missing(t, path+" is missing: apt-get install "+debian)
	}
	return raw
}

func missing(t testing.TB, why string) {
	t.Helper()
	if os.Getenv("INGOT_TEST_ALL") == "1" {
		t.Fatal(why)
	}
	t.Skip(why)
}

var parts = []uki.Section{
	{Name: ".osrel", Data: []byte("ID=ingot\n")},
	{Name: ".cmdline", Data: []byte("console=ttyS0")},
	{Name: ".initrd", Data: bytes.Repeat([]byte("initrd"), 1000)},
	{Name: ".linux", Data: bytes.Repeat([]byte("kernel"), 2000)},
}

// small is a stub that a linker might have made: headers of 0x200, of which table many
// entries are free, and one section.
func small(free int) []byte {
	headers := (0x40 + 24 + 240 + 40*(1+free) + 0x1f) &^ 0x1f
	b := make([]byte, headers+0x20)
	copy(b, "MZ")
	binary.LittleEndian.PutUint32(b[0x3c:], 0x40)
	copy(b[0x40:], "PE\x00\x00")
	var w bytes.Buffer
	opt := pe.OptionalHeader64{Magic: 0x20b, AddressOfEntryPoint: 0x1000, SectionAlignment: 0x1000, FileAlignment: 0x20, SizeOfImage: 0x2000,
		SizeOfHeaders: uint32(headers), CheckSum: 77, Subsystem: 10, NumberOfRvaAndSizes: 16}
	section := pe.SectionHeader32{Name: [8]uint8{'.', 't', 'e', 'x', 't'}, VirtualSize: 0x10, VirtualAddress: 0x1000, SizeOfRawData: 0x20, PointerToRawData: uint32(headers), Characteristics: 0x60000020}
	for _, part := range []any{pe.FileHeader{Machine: pe.IMAGE_FILE_MACHINE_AMD64, NumberOfSections: 1, SizeOfOptionalHeader: 240}, opt, section} {
		_ = binary.Write(&w, binary.LittleEndian, part)
	}
	copy(b[0x44:], w.Bytes())
	copy(b[headers:], "this is the code of the program!")
	return b
}

// check wants the sections of a stub and others in an image, as they were.
func check(t *testing.T, stub, image []byte, others []uki.Section) {
	t.Helper()
	was, err := pe.NewFile(bytes.NewReader(stub))
	if err != nil {
		t.Fatal(err)
	}
	is, err := pe.NewFile(bytes.NewReader(image))
	if err != nil || len(is.Sections) != len(was.Sections)+len(others) {
		t.Fatalf("%v", err)
	}
	before := was.OptionalHeader.(*pe.OptionalHeader64).SizeOfImage
	for i, s := range is.Sections {
		data, err := s.Data()
		if err != nil {
			t.Fatal(err)
		}
		if i < len(was.Sections) {
			old, err := was.Sections[i].Data()
			if err != nil || !bytes.Equal(old, data) || s.VirtualAddress != was.Sections[i].VirtualAddress || s.Characteristics != was.Sections[i].Characteristics {
				t.Errorf("%s is not as it was, %v", s.Name, err)
			}
			continue
		}
		want := others[i-len(was.Sections)]
		if s.Name != want.Name || int(s.VirtualSize) != len(want.Data) || !bytes.Equal(data[:s.VirtualSize], want.Data) || len(bytes.Trim(data[s.VirtualSize:], "\x00")) > 0 {
			t.Errorf("%s is not %s", s.Name, want.Name)
		}
		if s.VirtualAddress < before || s.VirtualAddress%4096 != 0 {
			t.Errorf("%s is at %#x, behind %#x", s.Name, s.VirtualAddress, before)
		}
		before = s.VirtualAddress + s.VirtualSize
	}
	if size := is.OptionalHeader.(*pe.OptionalHeader64).SizeOfImage; size < before {
		t.Errorf("it says to have %#x bytes, and its last section ends at %#x", size, before)
	}
}

func TestBuild(t *testing.T) {
	for name, stub := range map[string][]byte{"room": small(4), "some room": small(2), "no room": small(0), "systemd's": of(t, stubPath, "systemd-boot-efi")} {
		before := bytes.Clone(stub)
		image, err := uki.Build(stub, parts)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		check(t, stub, image, parts)
		again, err := uki.Build(stub, parts)
		if err != nil || !bytes.Equal(image, again) || !bytes.Equal(stub, before) {
			t.Errorf("%s: other bytes the second time, or the stub was changed: %v", name, err)
		}
		if _, err := uki.Digest(image); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// binutils find in an image what was put there.
func TestObjcopy(t *testing.T) {
	if _, err := exec.LookPath("objcopy"); err != nil {
		missing(t, "objcopy is missing: apt-get install binutils")
	}
	image, err := uki.Build(of(t, stubPath, "systemd-boot-efi"), parts)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "uki.efi")
	if err := os.WriteFile(path, image, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, s := range parts {
		to := filepath.Join(dir, "section")
		if out, err := exec.Command("objcopy", "--dump-section", s.Name+"="+to, path, filepath.Join(dir, "copy")).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		got, err := os.ReadFile(to)
		if err != nil || !bytes.Equal(bytes.TrimRight(got, "\x00"), s.Data) {
			t.Errorf("%s: %d bytes, %v", s.Name, len(got), err)
		}
	}
}

func TestRefusals(t *testing.T) {
	set := func(at int, v byte) []byte {
		b := small(4)
		b[at] = v
		return b
	}
	const optional = 0x40 + 24
	huge := make([]uki.Section, uki.MaxSections)
	for i := range huge {
		huge[i] = uki.Section{Name: "." + string(rune('A'+i)), Data: []byte("x")}
	}
	for name, c := range map[string]struct {
		stub     []byte
		sections []uki.Section
	}{
		"nothing": {nil, parts}, "a text": {[]byte(strings.Repeat("text", 100)), parts}, "cut off": {small(4)[:0x100], parts}, "without its section": {small(4)[:len(small(4))-1], parts},
		"32 bits": {set(optional+1, 1), parts}, "for Windows": {set(optional+68, 2), parts}, "signed": {set(optional+144+4, 8), parts},
		"aligned to 3": {set(optional+36, 3), parts}, "no entries": {set(optional+108, 0), parts}, "headers beyond": {set(optional+62, 9), parts}, "a small image": {set(optional+57, 0x10), parts},
		"no sections": {set(0x40+6, 0), parts}, "overlapping": {set(optional+240+21, 0), parts},
		"a name too long": {small(4), []uki.Section{{Name: ".longname", Data: []byte("x")}}}, "no dot": {small(4), []uki.Section{{Name: "linux", Data: []byte("x")}}},
		"empty": {small(4), []uki.Section{{Name: ".linux"}}}, "twice": {small(4), []uki.Section{parts[0], parts[0]}}, "the stub's": {small(4), []uki.Section{{Name: ".text", Data: []byte("x")}}},
		"too many": {small(4), huge},
	} {
		if image, err := uki.Build(c.stub, c.sections); !errors.As(err, new(*uki.Invalid)) || image != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzBuild(f *testing.F) {
	f.Add(small(4), []byte("linux"))
	f.Add(small(0), []byte("linux"))
	if raw, err := os.ReadFile(stubPath); err == nil {
		f.Add(raw[:0x400], []byte("linux"))
	}
	f.Fuzz(func(t *testing.T, stub, linux []byte) {
		image, err := uki.Build(stub, []uki.Section{{Name: ".linux", Data: linux}})
		if err != nil {
			if !errors.As(err, new(*uki.Invalid)) {
				t.Error(err)
			}
			return
		}
		is, err := pe.NewFile(bytes.NewReader(image))
		if err != nil {
			t.Fatal(err)
		}
		got, err := is.Section(".linux").Data()
		if err != nil || !bytes.HasPrefix(got, linux) || !bytes.Contains(image, linux) {
			t.Errorf("%q, %v", got, err)
		}
	})
}
