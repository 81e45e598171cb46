package bootscript

import (
	"errors"
	"net/netip"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ingotmetal/ingot/booter"
)

var (
	us  = netip.MustParseAddr("10.0.0.1")
	mac = booter.MAC{0x52, 0x54, 0, 0x12, 0x34, 0x56}
)

func site() Site {
	return Site{TFTP: us, HTTP: netip.AddrPortFrom(us, 8080), Loaders: map[booter.Platform]bool{booter.BIOS: true, booter.X64: true}}
}

// Each kind of client goes on to its own next thing, and one for which there is
// nothing is told nothing.
func first(t *testing.T) {
	const base = "http://10.0.0.1:8080/b/tok/"
	for _, c := range []struct {
		stage    booter.Stage
		platform booter.Platform
		kind     booter.Kind
		want     First
		ok       bool
	}{
		{booter.Plain, "", booter.Ack, First{}, true},
		{booter.PXE, booter.BIOS, booter.Offer, First{us, "b/tok/bios.kpxe", true}, true},
		{booter.PXE, booter.BIOS, booter.ProxyOffer, First{us, "b/tok/bios.kpxe", true}, true},
		{booter.PXE, booter.X64, booter.Offer, First{us, "b/tok/efi-x64.efi", true}, true},
		{booter.PXE, booter.X64, booter.ProxyOffer, First{us, "b/tok/efi-x64.efi", false}, true},
		{booter.PXE, booter.X64, booter.BootAck, First{us, "b/tok/efi-x64.efi", true}, true},
		{booter.PXE, booter.ARM64, booter.Offer, First{}, false},
		{booter.HTTP, booter.X64, booter.Offer, First{File: base + "efi-x64.efi"}, true},
		{booter.HTTP, booter.ARM64, booter.Offer, First{}, false},
		{booter.IPXE, booter.BIOS, booter.Ack, First{Server: us, File: base + "boot-bios.ipxe"}, true},
		{booter.IPXE, "", booter.Ack, First{Server: us, File: base + "boot.ipxe"}, true},
		{booter.IPXETFTP, booter.BIOS, booter.Ack, First{Server: us, File: "tftp://10.0.0.1/b/tok/bios.kpxe"}, true},
		{booter.IPXETFTP, booter.ARM64, booter.Ack, First{}, false},
		{booter.Chained, booter.ARM64, booter.Ack, First{Server: us, File: base + "boot-efi-arm64.ipxe"}, true},
		{booter.UBoot, booter.UBootARM64, booter.Ack, First{}, false},
	} {
		got, ok := site().First(booter.Client{Stage: c.stage, Platform: c.platform}, c.kind, "tok")
		if got != c.want || ok != c.ok {
			t.Errorf("%s %s %s: %+v, %t", c.stage, c.platform, c.kind, got, ok)
		}
	}
	ask := site()
	ask.Ask = true
	if got, _ := ask.First(booter.Client{Stage: booter.PXE, Platform: booter.X64}, booter.Offer, "tok"); got.Discovery {
		t.Error("firmware that must ask is told not to")
	}
	none := site()
	none.TFTP = netip.Addr{}
	if _, ok := none.First(booter.Client{Stage: booter.PXE, Platform: booter.X64}, booter.Offer, "tok"); ok {
		t.Error("TFTP without a server")
	}
}

// What String writes, ParsePath reads, and so do the ways in which firmware spells it.
func paths(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := Path{
			Token: rapid.SampledFrom([]string{"", "tok", NewKey([32]byte{1}).Token(mac)}).Draw(t, "token"),
			Leaf:  rapid.SampledFrom([]Leaf{Script, Loader, File, Disk, Beside}).Draw(t, "leaf"),
		}
		switch p.Leaf {
		case Disk:
			p.Name = rapid.StringMatching(`[0-9a-f]{64}`).Draw(t, "digest")
		case Beside:
			p.Name = rapid.SampledFrom([]string{"grubx64.efi", "ipxe.efi", "revocations.efi", "mmx64.efi"}).Draw(t, "beside")
		case Script:
			p.Platform = rapid.SampledFrom([]booter.Platform{"", booter.BIOS, booter.X64}).Draw(t, "platform")
		case Loader:
			p.Platform = rapid.SampledFrom([]booter.Platform{booter.BIOS, booter.X64, booter.ARM64, booter.UBootARM32}).Draw(t, "platform")
		case File:
			p.Image, p.Name = "enroll-1.2", rapid.StringMatching(`[A-Za-z0-9_-][A-Za-z0-9_-]{0,30}(\.[a-z0-9]+)?`).Draw(t, "name")
		}
		for _, spelled := range []string{p.String(), "/" + p.String(), "//" + p.String(), strings.ReplaceAll(`\`+p.String(), "/", `\`)} {
			if got, ok := ParsePath(spelled); !ok || got != p {
				t.Fatalf("%q: %+v, %t; want %+v", spelled, got, ok, p)
			}
		}
	})
	for _, bad := range []string{"", "/", "b/", "b//boot.ipxe", "b/tok", "b/tok/", "boot.ipxe/x", "i/enroll", "i/enroll/", "i/enroll/.hidden", "i/../x", "i/a/../b", "i/a/b/c", "i/-a/b",
		"i/a/b..c", "b/tok/b/tok/boot.ipxe", "d/", "d/xyz", ".efi", "a..efi", "a b.efi", "d/" + strings.Repeat("A", 64), "boot.ipxe\x00", "i/a/" + strings.Repeat("n", 129)} {
		if p, ok := ParsePath(bad); ok {
			t.Errorf("%q is %+v", bad, p)
		}
	}
}

func FuzzParsePath(f *testing.F) {
	f.Add("b/tok/i/enroll/vmlinuz")
	f.Add(`\\b\tok\efi-x64.efi`)
	f.Fuzz(func(t *testing.T, s string) {
		p, ok := ParsePath(s)
		if !ok {
			return
		}
		if again, ok := ParsePath(p.String()); !ok || again != p {
			t.Errorf("%q: %+v, then %+v", s, p, again)
		}
		if strings.Contains(p.Name+p.Image, "..") || strings.ContainsAny(p.Name+p.Image, "/\\\x00") {
			t.Errorf("%q leads out: %+v", s, p)
		}
	})
}

// A token opens with the key that made it, whole and as it is.
func TestTokens(t *testing.T) {
	key, other := NewKey([32]byte{1}), NewKey([32]byte{2})
	tok := key.Token(mac)
	if got, ok := key.Open(tok); !ok || got != mac {
		t.Errorf("%v, %t", got, ok)
	}
	if other.Token(mac) == tok {
		t.Error("two keys, one token")
	}
	for i := range len(tok) {
		b := []byte(tok)
		b[i] = "0123456789abcdef"[(strings.IndexByte("0123456789abcdef", b[i])+1)%16]
		if _, ok := key.Open(string(b)); ok {
			t.Errorf("opens with digit %d changed", i)
		}
	}
	for _, bad := range []string{"", tok[:43], tok + "0", strings.ToUpper(tok), strings.Repeat("z", 44)} {
		if _, ok := key.Open(bad); ok {
			t.Errorf("%q opens", bad)
		}
	}
	if _, ok := other.Open(tok); ok {
		t.Error("opens with another key")
	}
	if _, ok := (Key{}).Open((Key{}).Token(mac)); ok {
		t.Error("no key opens its own")
	}
}

func TestScripts(t *testing.T) {
	args, err := Args("console=ttyS0,115200  ingot.site=lab quiet")
	if err != nil {
		t.Fatal(err)
	}
	for name, p := range map[string]Program{
		"kernel": {Kernel: "vmlinuz", Initrds: []string{"initrd", "modules.cpio"}},
		"efi":    {EFI: "image.efi"},
		"local":  {Local: true},
	} {
		out, err := IPXE("http://10.0.0.1:8080/b/tok/", "enroll-1", p, args)
		if err != nil {
			t.Fatal(err)
		}
		golden(t, "testdata/"+name+".ipxe", string(out))
	}
}

// Nothing that a record, a policy or an image holds adds a word, a line, a variable or
// an operator to a script.
func nothingInjects(t *testing.T) {
	good := Program{Kernel: "vmlinuz"}
	for _, bad := range []string{"a\nb", "a\rb", "a\x00b", "${net0/mac}", "x${x}", "||", "&&", ";", "#c", `a\`, "é", "a\tb", "a b", ""} {
		if bad != "" {
			if _, err := Arg("name", bad); err == nil && bad != "||" && bad != "&&" && bad != ";" && bad != "#c" {
				t.Errorf("Arg takes %q", bad)
			}
		}
		if _, err := IPXE("http://h/", "enroll", good, []string{"ok", bad}); !invalid(err) {
			t.Errorf("IPXE takes %q: %v", bad, err)
		}
		if _, err := IPXE("http://h/"+bad+"\n/", "enroll", good, nil); !invalid(err) {
			t.Errorf("a base with %q: %v", bad, err)
		}
		if _, err := IPXE("http://h/", "enroll"+bad+"/", good, nil); !invalid(err) {
			t.Errorf("an image with %q: %v", bad, err)
		}
		for _, p := range []Program{{Kernel: "k/" + bad}, {EFI: "e/" + bad}, {Kernel: "k", Initrds: []string{"i/" + bad}}} {
			if _, err := IPXE("http://h/", "enroll", p, nil); !invalid(err) {
				t.Errorf("%+v: %v", p, err)
			}
		}
	}
	for _, p := range []Program{{}, {Kernel: "a", EFI: "b"}} {
		if _, err := IPXE("http://h/", "enroll", p, nil); !invalid(err) {
			t.Errorf("%+v: %v", p, err)
		}
	}
	if _, err := IPXE("http://h/", "enroll", good, []string{strings.Repeat("x", MaxArgs-len("kernel"))}); !invalid(err) {
		t.Errorf("too many: %v", err)
	}
	for _, bad := range []string{"a ||  b", "x ${y} z"} {
		if _, err := Args(bad); !invalid(err) {
			t.Errorf("Args takes %q", bad)
		}
	}
}

func invalid(err error) bool {
	e, ok := errors.AsType[*Invalid](err)
	return ok && e.Code() == "INVALID_INPUT" && e.Error() != ""
}

// Whatever words pass, the script has its own lines and no other.
func TestScriptsKeepTheirLines(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOfN(rapid.String(), 0, 5).Draw(t, "words")
		out, err := IPXE("http://h/", "enroll", Program{Kernel: "vmlinuz", Initrds: []string{"initrd"}}, words)
		if err != nil {
			return
		}
		if n := strings.Count(string(out), "\n"); n != 18 {
			t.Fatalf("%d lines:\n%s", n, out)
		}
		if strings.Count(string(out), "${") != 3 {
			t.Fatalf("a variable of somebody else's:\n%s", out)
		}
	})
}
