package images

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ingotmetal/ingot/booter"
	"github.com/ingotmetal/ingot/booter/bootscript"
)

// siteWords are the longest by which a site says where it is and who the machine is:
// host names of 253 bytes, pins of SHA-256 in base64.
func siteWords() []string {
	at, pin := strings.Repeat("h", 253)+":65535", "sha256/"+strings.Repeat("P", 44)
	return []string{"ingot.booter=" + at, "ingot.booter_pin=" + pin, "ingot.server=" + at, "ingot.pin=" + pin,
		"ingot.mac=52:54:00:12:34:56", "ingot.address=255.255.255.255/32", "ingot.gateway=255.255.255.255"}
}

// longest is an image with as much as may be staged, and sources for it.
func longest(p booter.Platform, args string) (Manifest, map[string]Source) {
	name := strings.Repeat("n", booter.MaxImage)
	boots := Boots{EFI: name, Args: args}
	m := Manifest{Name: name, Files: []File{{Name: name}}}
	if p == booter.BIOS {
		boots = Boots{Kernel: name, Initrds: slices.Repeat([]string{name}, MaxInitrds), Args: args}
	}
	m.Boots = map[booter.Platform]Boots{p: boots}
	return m, map[string]Source{name: {Reader: strings.NewReader("x")}}
}

// What is staged boots: the longest arguments that an image may bring make a script
// with the longest words of a site, and longer ones are not staged.
func TestLongestArgsBoot(t *testing.T) {
	words := siteWords()
	spare := bootscript.SiteArgs - len(strings.Join(words, " "))
	if spare < 0 {
		t.Fatalf("a site adds %d bytes more than are kept for it", -spare)
	}
	words[0] += strings.Repeat("h", spare)
	for _, p := range []booter.Platform{booter.BIOS, booter.X64} {
		s, err := Create(t.TempDir())
		must(t, err)
		m, sources := longest(p, strings.Repeat("a", MaxArgs+1))
		_, err = s.Stage(t.Context(), m, sources, nil)
		if bad, ok := errors.AsType[*Invalid](err); !ok || bad.Code() != "INVALID_INPUT" || !strings.Contains(bad.Error(), fmt.Sprintf("at most %d", MaxArgs)) || len(s.List()) != 0 {
			t.Errorf("%s: what never boots is staged: %v", p, err)
		}
		m, sources = longest(p, strings.Repeat("a", MaxArgs))
		i, err := s.Stage(t.Context(), m, sources, nil)
		must(t, err)
		b, _ := i.Boot(p)
		args, err := bootscript.Args(b.Args)
		must(t, err)
		program := bootscript.Program{Kernel: b.Kernel, Initrds: b.Initrds, EFI: b.EFI}
		if _, err := bootscript.IPXE("http://10.0.0.1/b/tok/", i.Name, program, append(args, words...)); err != nil {
			t.Errorf("%s: it is staged, and refused at boot: %v", p, err)
		}
		must(t, s.Close())
	}
}

func TestPlatforms(t *testing.T) {
	of := func(boots map[booter.Platform]Boots) string { return fmt.Sprint(Manifest{Boots: boots}.Platforms()) }
	for boots, want := range map[string]string{
		of(map[booter.Platform]Boots{Any: {Kernel: "k"}}):                                              "map[bios:true efi-arm32:true efi-arm64:true efi-ia32:true efi-x64:true u-boot-arm32:true u-boot-arm64:true]",
		of(map[booter.Platform]Boots{Any: {Local: true}}):                                              "map[bios:true efi-arm32:true efi-arm64:true efi-ia32:true efi-x64:true u-boot-arm32:true u-boot-arm64:true]",
		of(map[booter.Platform]Boots{Any: {EFI: "u"}}):                                                 "map[efi-arm32:true efi-arm64:true efi-ia32:true efi-x64:true]",
		of(map[booter.Platform]Boots{Any: {Args: "a"}, booter.X64: {Kernel: "k"}, booter.BIOS: {}}):    "map[efi-x64:true]",
		of(map[booter.Platform]Boots{booter.X64: {Loader: "l"}, booter.BIOS: {Loader: "l", EFI: "u"}}): "map[]",
	} {
		if boots != want {
			t.Errorf("%s, want %s", boots, want)
		}
	}
}

// Every argument that is staged is one that a script takes.
func TestArgsAreThoseOfScripts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.OneOf(rapid.SampledFrom([]string{"||", "&&", ";", "#", "${", `\`, "a=b", "", " ", "\t", "é", "$", "{"}), rapid.StringN(0, 8, 20))
		args := strings.Join(rapid.SliceOfN(word, 0, 6).Draw(t, "args"), rapid.SampledFrom([]string{"", " "}).Draw(t, "between"))
		if CheckArgs(args) != nil {
			return
		}
		if _, err := bootscript.Args(args); err != nil {
			t.Fatalf("%q is staged: %v", args, err)
		}
	})
}
