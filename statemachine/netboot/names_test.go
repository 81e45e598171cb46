package netboot_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ingotmetal/ingot/statemachine/netboot"
	"pgregory.net/rapid"
)

func TestParseMAC(t *testing.T) {
	for _, s := range []string{"52:54:00:12:34:56", "52-54-00-12-34-56"} {
		if got, err := netboot.ParseMAC(s); got != mac || err != nil || got.String() != "52:54:00:12:34:56" {
			t.Errorf("%s: %v, %v", s, got, err)
		}
	}
	if got, err := netboot.ParseMAC("AA:bb:Cc:dD:EE:0f"); got.String() != "aa:bb:cc:dd:ee:0f" || err != nil {
		t.Errorf("case: %v, %v", got, err)
	}
	for name, s := range map[string]string{
		"empty": "", "short": "52:54:00:12:34:5", "long": "52:54:00:12:34:567", "EUI-64": "52:54:00:12:34:56:78:9a", "dots": "5254.0012.3456",
		"mixed": "52:54-00:12-34:56", "bare": "525400123456", "no digit": "52:54:00:12:34:5g", "spaces": "52 54 00 12 34 56", "colon for a digit": "52:54:00:12:34::6",
		"zero": "00:00:00:00:00:00", "broadcast": "ff:ff:ff:ff:ff:ff", "group": "01:00:5e:00:00:01", "very long": strings.Repeat("a", 1<<20),
	} {
		got, err := netboot.ParseMAC(s)
		if got != (netboot.MAC{}) || codeOf(err) != "INVALID_INPUT" || len(err.Error()) > 200 {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
}

// BOOT-2: the gate, by its letter.
func TestCheckImage(t *testing.T) {
	for _, s := range []string{"a", "0", "20260501T000000Z", "pi1.2-3_x", "A.", "a-", strings.Repeat("x", 64)} {
		if err := netboot.CheckImage(s); err != nil {
			t.Errorf("%q: %v", s, err)
		}
	}
	for _, s := range []string{"", ".", "..", ".a", "-a", "_a", "a..b", "a..", "a/b", `a\b`, "a b", "a\x00", "a\n", "é", "aé", "a%2f", "a:b", strings.Repeat("x", 65), strings.Repeat("x", 1<<20)} {
		err := netboot.CheckImage(s)
		if codeOf(err) != "INVALID_INPUT" || len(err.Error()) > 400 {
			t.Errorf("%.70q: %v", s, err)
		}
	}
}

// BOOT-7, BOOT-19: what a list admits.
func TestAllowList(t *testing.T) {
	for _, c := range []struct {
		list  string
		tag   string
		admit bool
	}{
		{"", "", true},
		{"52:54:00", "", true}, {"52", "", true}, {"52:54:00:12:34:56", "", true},
		{"52:54:01", "", false}, {"54:00", "", false}, {"52:54:00:12:34:57", "", false},
		{"ABC1234", "abc1234", true}, {"abc1234", "ABC1234", true}, {"ABC1234", "ABC123", false}, {"ABC123", "ABC1234", false},
		{"ABC1234", "", false},                                        // inventory knows no tag
		{"ABC1234 aa:bb", "", false}, {"ABC1234 52:54", "none", true}, // any entry admits
		{"5254001", "", false}, {"525400", "525400", true}, // no separators: a tag
		{"VM-1", "vm-1", true}, {"a.b_c/d", "A.B_C/D", true},
	} {
		l, err := netboot.ParseAllow(strings.Fields(c.list))
		if got := l.Admits(mac, c.tag); got != c.admit || err != nil {
			t.Errorf("%q for tag %q: %t, %v", c.list, c.tag, got, err)
		}
	}
}

// BOOT-19: other forms of a prefix are refused when the policy is written, and
// no entry of a refused list admits.
func TestParseAllowRefuses(t *testing.T) {
	for _, entry := range []string{
		"", " ", "a b", "tab\t", "é", "\x7f", strings.Repeat("x", netboot.MaxTag+1),
		"52:54:0", "52:5", "52:54:", ":52", "52::54", "52:54:00:12:34:56:78", "AA:BB", "Aa", "52-54-00", "AA-BB-CC", "gg:hh", "ABC:1",
	} {
		l, err := netboot.ParseAllow([]string{"52:54:00", entry})
		if codeOf(err) != "INVALID_INPUT" {
			t.Errorf("%q: %v", entry, err)
		}
		if err != nil && (l.Admits(mac, "") != netboot.AllowList{}.Admits(mac, "")) {
			t.Errorf("%q: half a list is left", entry)
		}
	}
	many := slices.Repeat([]string{"tag"}, netboot.MaxAllow)
	if _, err := netboot.ParseAllow(many); err != nil {
		t.Error(err)
	}
	if _, err := netboot.ParseAllow(append(many, "tag")); codeOf(err) != "INVALID_INPUT" {
		t.Error(err)
	}
}

// A prefix admits exactly the MACs whose text begins with it.
func TestPrefixIsOfTheText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var m netboot.MAC
		copy(m[:], rapid.SliceOfN(rapid.Byte(), 6, 6).Draw(t, "mac"))
		whole := rapid.SliceOfN(rapid.SampledFrom([]byte{m[0], m[1], 0, 0x52}), 1, 6).Draw(t, "prefix")
		if rapid.Bool().Draw(t, "own") {
			copy(whole, m[:])
		}
		text := strings.ReplaceAll(fmt.Sprintf("% x", whole), " ", ":")
		l, err := netboot.ParseAllow([]string{text})
		if got := l.Admits(m, ""); err != nil || got != strings.HasPrefix(m.String(), text) {
			t.Fatalf("%s admits %s: %t, %v", text, m, got, err)
		}
	})
}

func FuzzParseMAC(f *testing.F) {
	for _, s := range []string{"52:54:00:12:34:56", "52-54-00-12-34-56", "", "01:00:5e:00:00:01", "52:54:00:12:34::6"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		m, err := netboot.ParseMAC(s)
		switch {
		case err != nil && (m != netboot.MAC{} || codeOf(err) != "INVALID_INPUT"):
			t.Errorf("%q: %v with %v", s, m, err)
		case err == nil && m.String() != strings.ReplaceAll(strings.ToLower(s), "-", ":"):
			t.Errorf("%q is read as %s", s, m)
		}
	})
}

func FuzzParseAllow(f *testing.F) {
	for _, s := range []string{"52:54:00", "ABC1234\n52", "AA:BB", "52-54", "\n", "é"} {
		f.Add(s, "ABC1234")
	}
	f.Fuzz(func(t *testing.T, lines, tag string) {
		entries := strings.Split(lines, "\n")
		l, err := netboot.ParseAllow(entries)
		if err != nil {
			if codeOf(err) != "INVALID_INPUT" || len(err.Error()) > 1000 {
				t.Errorf("%q: %v", lines, err)
			}
			return
		}
		// Whoever is admitted is so by one entry.
		by := slices.ContainsFunc(entries, func(e string) bool {
			return strings.HasPrefix(mac.String(), e) || tag != "" && strings.EqualFold(e, tag)
		})
		if l.Admits(mac, tag) && !by {
			t.Errorf("%q admits %s, %q", lines, mac, tag)
		}
	})
}

func FuzzCheckImage(f *testing.F) {
	for _, s := range []string{"pi1", "", "..", "a/b", "a..b", "é", strings.Repeat("x", 65)} {
		f.Add(s)
	}
	const set = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
	f.Fuzz(func(t *testing.T, s string) {
		want := 1 <= len(s) && len(s) <= 64 && strings.Trim(s, set+"._-") == "" && strings.Contains(set, s[:min(1, len(s))]) && !strings.Contains(s, "..")
		for _, c := range []byte(s) {
			want = want && strings.IndexByte(set+"._-", c) >= 0
		}
		if err := netboot.CheckImage(s); (err == nil) != want {
			t.Errorf("%q: %v, want allowed: %t", s, err, want)
		}
	})
}

// What is stored reads back; what is not its own form is refused and clears.
func TestTextRoundTrips(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var id, back netboot.ServerID
		copy(id[:], rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "id"))
		text, err := id.MarshalText()
		if err2 := back.UnmarshalText(text); back != id || err != nil || err2 != nil {
			t.Fatalf("%x came back as %x: %v, %v", id, back, err, err2)
		}
	})
	for _, m := range []netboot.MAC{{}, mac} {
		back := netboot.MAC{9}
		text, _ := m.MarshalText()
		if err := back.UnmarshalText(text); back != m || err != nil {
			t.Errorf("%s came back as %s: %v", m, back, err)
		}
	}
	for _, text := range []string{"1", "zz", strings.Repeat("0", 31) + "g", strings.Repeat("1", 33), strings.Repeat("1", 1<<16)} {
		id, m := product, mac
		if err := id.UnmarshalText([]byte(text)); codeOf(err) != "INVALID_INPUT" || id != (netboot.ServerID{}) {
			t.Errorf("server ID %.40q: %v, %x", text, err, id)
		}
		if err := m.UnmarshalText([]byte(text)); codeOf(err) != "INVALID_INPUT" || m != (netboot.MAC{}) {
			t.Errorf("MAC %.40q: %v, %s", text, err, m)
		}
	}
}
