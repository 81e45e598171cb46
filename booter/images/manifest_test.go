package images

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/ingotmetal/ingot/booter"
)

// whole is a manifest with all that one may have.
func whole() Manifest {
	return Manifest{
		Name: "rescue-1",
		Files: []File{
			{"disk.img", sum("disk"), 4}, {"initrd", sum("initrd"), 6}, {"initrd.arm", sum("arm"), 3},
			{"snponly.efi", sum("loader"), 6}, {"uki.efi", sum("uki"), 3}, {"vmlinuz", sum("kernel"), 6},
		},
		Boots: map[booter.Platform]Boots{
			Any:          {Kernel: "vmlinuz", Initrds: []string{"initrd"}, Args: "console=ttyS0 a<b&c", EFI: "uki.efi"},
			booter.X64:   {Loader: "snponly.efi"},
			booter.ARM64: {Initrds: []string{"initrd.arm", "initrd"}, Args: "console=ttyAMA0"},
			booter.BIOS:  {},
		},
		Disk: "disk.img",
	}
}

func TestCanonicalForm(t *testing.T) {
	m := whole()
	raw, err := m.Encode()
	must(t, err)
	if !strings.HasSuffix(string(raw), "}\n") || strings.Count(string(raw), "\n") != 1 || !strings.Contains(string(raw), "a<b&c") {
		t.Errorf("%s", raw)
	}
	if got, err := m.Digest(); err != nil || got != sum(string(raw)) {
		t.Errorf("the digest is %s, %v", got, err)
	}
	again, err := Parse(raw)
	must(t, err)
	if twice, err := again.Encode(); err != nil || string(twice) != string(raw) {
		t.Errorf("%s, %v", twice, err)
	}
	var loose any // another order and other blanks are the same image
	must(t, json.Unmarshal(raw, &loose))
	files := loose.(map[string]any)["files"].([]any)
	files[0], files[5] = files[5], files[0]
	mixed, err := json.MarshalIndent(loose, " ", "\t")
	must(t, err)
	other, err := Parse(mixed)
	must(t, err)
	if got, _ := other.Encode(); string(got) != string(raw) {
		t.Errorf("%s", got)
	}
	const golden = "25ce45d45fe028842b2ba7bc9b3579a5e9a9ba06df574c37821c1a02265c746b"
	if got, _ := m.Digest(); got != golden {
		t.Errorf("the canonical form changed: every image would get another digest: %s", got)
	}
}

func TestWhatBoots(t *testing.T) {
	m := whole()
	for p, want := range map[booter.Platform]string{
		booter.X64:   "vmlinuz [initrd] console=ttyS0 a<b&c uki.efi snponly.efi true",
		booter.ARM64: "vmlinuz [initrd.arm initrd] console=ttyAMA0 uki.efi  true",
		booter.BIOS:  "vmlinuz [initrd] console=ttyS0 a<b&c   true",
		Any:          "vmlinuz [initrd] console=ttyS0 a<b&c uki.efi  true",
		"vax":        "vmlinuz [initrd] console=ttyS0 a<b&c   true",
	} {
		b, ok := m.Boot(p)
		if got := fmt.Sprint(b.Kernel, " ", b.Initrds, " ", b.Args, " ", b.EFI, " ", b.Loader, " ", ok); got != want {
			t.Errorf("%s boots %s, want %s", p, got, want)
		}
	}
	if b, ok := (Manifest{Boots: map[booter.Platform]Boots{Any: {EFI: "uki.efi"}}}).Boot(booter.BIOS); ok {
		t.Errorf("BIOS boots %v", b)
	}
	b, _ := m.Boot(booter.X64)
	b.Initrds[0] = "other"
	if m.Boots[Any].Initrds[0] != "initrd" {
		t.Error("what boots shares its memory with the manifest")
	}
}

// An image that starts the machine's own disk needs no file.
func TestLocal(t *testing.T) {
	s, err := Create(t.TempDir())
	must(t, err)
	i, err := s.Stage(t.Context(), Manifest{Name: "local", Boots: map[booter.Platform]Boots{Any: {Local: true}}}, nil, nil)
	must(t, err)
	if b, ok := i.Boot(booter.X64); !ok || !b.Local || b.Kernel != "" || len(s.List()) != 1 || s.List()[0].Flaw != nil {
		t.Errorf("%+v, %t, %+v", b, ok, s.List())
	}
	must(t, s.Close())
}

func TestWhatIsNoManifest(t *testing.T) {
	boot := func(p booter.Platform, b Boots) func(*Manifest) { return func(m *Manifest) { m.Boots[p] = b } }
	for name, spoil := range map[string]func(*Manifest){
		"no name":                           func(m *Manifest) { m.Name = "" },
		"a name with a slash":               func(m *Manifest) { m.Name = "a/b" },
		"no files":                          func(m *Manifest) { m.Files = nil },
		"a file twice":                      func(m *Manifest) { m.Files[1].Name = "disk.img" },
		"out of order":                      func(m *Manifest) { m.Files[0], m.Files[1] = m.Files[1], m.Files[0] },
		"a file .. above":                   func(m *Manifest) { m.Files[1].Name = ".." },
		"no digest":                         func(m *Manifest) { m.Files[0].SHA256 = "" },
		"a digest in capitals":              func(m *Manifest) { m.Files[0].SHA256 = strings.ToUpper(sum("x")) },
		"a short digest":                    func(m *Manifest) { m.Files[0].SHA256 = sum("x")[1:] },
		"no size":                           func(m *Manifest) { m.Files[0].Size = 0 },
		"a negative size":                   func(m *Manifest) { m.Files[0].Size = -1 },
		"too large":                         func(m *Manifest) { m.Files[0].Size = MaxSize + 1 },
		"too many files":                    func(m *Manifest) { m.Files = many(MaxFiles + 1) },
		"an esp that is no file":            func(m *Manifest) { m.ESP = "other.efi" },
		"a disk that is no file":            func(m *Manifest) { m.Disk = "other.img" },
		"a disk of its own, and a kernel":   func(m *Manifest) { m.Boots = map[booter.Platform]Boots{Any: {Local: true, Kernel: "vmlinuz"}} },
		"a disk of its own on one platform": func(m *Manifest) { m.Boots = map[booter.Platform]Boots{booter.X64: {Local: true}} },
		"a disk of its own, a kernel for one": func(m *Manifest) {
			m.Boots = map[booter.Platform]Boots{Any: {Local: true}, booter.X64: {Kernel: "vmlinuz"}}
		},
		"nothing to boot":        func(m *Manifest) { m.Boots, m.Disk = nil, "" },
		"an unknown platform":    boot("vax", Boots{Kernel: "vmlinuz"}),
		"a kernel that is none":  boot(booter.X64, Boots{Kernel: "bzImage"}),
		"an initrd of no name":   boot(booter.X64, Boots{Initrds: []string{""}}),
		"an initrd that is none": boot(booter.X64, Boots{Initrds: []string{"other"}}),
		"too many initrds":       boot(booter.X64, Boots{Initrds: strings.Split(strings.Repeat("initrd,", MaxInitrds)+"initrd", ",")}),
		"efi under BIOS":         boot(booter.BIOS, Boots{EFI: "uki.efi"}),
		"a loader of all":        boot(Any, Boots{Loader: "snponly.efi"}),
		"a loader that is none":  boot(booter.X64, Boots{Loader: "other"}),
		"bad args":               boot(booter.X64, Boots{Args: "a\nb"}),
		"nothing starts": func(m *Manifest) {
			m.Boots = map[booter.Platform]Boots{Any: {Args: "a"}, booter.X64: {}}
		},
		"nothing starts on BIOS": func(m *Manifest) {
			m.Boots = map[booter.Platform]Boots{Any: {EFI: "uki.efi"}, booter.BIOS: {}}
		},
		"args for a loader alone": func(m *Manifest) {
			m.Boots = map[booter.Platform]Boots{booter.X64: {Loader: "snponly.efi", Args: "a"}}
		},
		"all platforms boot nothing": func(m *Manifest) { m.Boots = map[booter.Platform]Boots{Any: {}} },
	} {
		m := whole()
		must(t, m.Check())
		spoil(&m)
		err := m.Check()
		if bad, ok := errors.AsType[*Invalid](err); !ok || bad.Code() != "INVALID_INPUT" {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := m.Encode(); err == nil {
			t.Errorf("%s: it is encoded", name)
		}
	}
	if err := (Manifest{Name: "a", Files: many(MaxFiles), Disk: "f00"}).Check(); err != nil {
		t.Error(err)
	}
}

// An image may be a program for disks alone, and one that has none has the form that
// it had before.
func TestESP(t *testing.T) {
	m := whole()
	m.ESP = "uki.efi"
	raw, err := m.Encode()
	must(t, err)
	if again, err := Parse(raw); err != nil || again.ESP != "uki.efi" || !strings.HasSuffix(string(raw), `,"disk":"disk.img","esp":"uki.efi"}`+"\n") {
		t.Errorf("%s, %v", raw, err)
	}
	if err := (Manifest{Name: "a", Files: many(1), ESP: "f00"}).Check(); err != nil {
		t.Error(err)
	}
}

func many(n int) (out []File) {
	for i := range n {
		out = append(out, File{fmt.Sprintf("f%02d", i), sum("x"), 1})
	}
	return out
}

func TestWhatCannotBeParsed(t *testing.T) {
	raw, err := whole().Encode()
	must(t, err)
	text := string(raw)
	for name, bad := range map[string]string{
		"empty": "", "null": "null", "a list": "[]", "cut": text[:len(text)/2], "followed": text + "{}",
		"an unknown field": strings.Replace(text, `"name"`, `"color":"red","name"`, 1),
		"a size in words":  strings.Replace(text, `"size":4`, `"size":"4"`, 1),
		"half a byte":      strings.Replace(text, `"size":4`, `"size":4.5`, 1),
		"too long":         text + strings.Repeat(" ", MaxManifest),
	} {
		if m, err := Parse([]byte(bad)); err == nil || code(err) != "INVALID_INPUT" {
			t.Errorf("%s: %v, %v", name, m, err)
		}
	}
	draft := `{"files":[{"name":"b"},{"name":"a","size":3}],"disk":"b"}`
	if _, err := Parse([]byte(draft)); err == nil {
		t.Error("a draft is no manifest")
	}
	m, err := ParseDraft([]byte(draft))
	if err != nil || m.Name != "" || m.Files[0].Name != "a" {
		t.Errorf("%v, %v", m, err)
	}
}

func code(err error) string {
	c, ok := errors.AsType[interface {
		error
		Code() string
	}](err)
	if !ok {
		return ""
	}
	return c.Code()
}

func TestArgs(t *testing.T) {
	for args, ok := range map[string]bool{
		"": true, "console=ttyS0,115200n8 quiet": true, `a="b c" d=$e f={g}`: true, "a||b c;d #": false,
		"a||b c;d e#f": true, "a || b": false, "a && b": false, "a ; b": false, "#a": false, "a #b": false,
		"a=${ip}": false, "a=$${x": false, "a\nb": false, "a\rb": false, "a\tb": false, "a\x00b": false, "a\x7f": false,
		"ä": false, `a\`: false, `a\b`: false,
		strings.Repeat("a", MaxArgs): true, strings.Repeat("a", MaxArgs+1): false,
	} {
		if err := CheckArgs(args); (err == nil) != ok {
			t.Errorf("%.40q: %v", args, err)
		}
	}
}

// What is parsed encodes to something that is parsed as the same.
func FuzzParse(f *testing.F) {
	raw, err := whole().Encode()
	must(f, err)
	f.Add(raw)
	f.Add([]byte(`{"name":"a","files":[{"name":"k","sha256":"` + sum("k") + `","size":1}],"boots":{"*":{"kernel":"k","args":"a ; b"}}}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		_, _ = ParseDraft(raw)
		m, err := Parse(raw)
		if err != nil {
			if code(err) != "INVALID_INPUT" {
				t.Fatal(err)
			}
			return
		}
		one, err := m.Encode()
		must(t, err)
		again, err := Parse(one)
		must(t, err)
		two, err := again.Encode()
		must(t, err)
		if string(one) != string(two) || len(one) > MaxManifest {
			t.Fatalf("%s\n%s", one, two)
		}
		for p := range m.Boots {
			b, ok := m.Boot(p)
			for _, name := range append(b.Initrds, b.Kernel, b.EFI, b.Loader) {
				if _, is := m.File(name); name != "" && !is {
					t.Fatalf("%s boots %q", p, name)
				}
			}
			if p != Any && !ok || CheckArgs(b.Args) != nil {
				t.Fatalf("%s boots %+v", p, b)
			}
		}
	})
}
