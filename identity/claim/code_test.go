package claim

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func code(t interface{ Fatal(...any) }, s string) Code {
	c, err := Parse(s)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// genCode draws any code.
func genCode(t *rapid.T) Code {
	return New([EntropySize]byte(rapid.SliceOfN(rapid.Byte(), EntropySize, EntropySize).Draw(t, "entropy")))
}

func TestNewShowsTheTopThirtyBits(t *testing.T) {
	for _, c := range []struct {
		entropy [EntropySize]byte
		want    string
	}{
		{[4]byte{}, "000-000"},
		{[4]byte{0xff, 0xff, 0xff, 0xff}, "ZZZ-ZZZ"},
		{[4]byte{0xff, 0xff, 0xff, 0xfc}, "ZZZ-ZZZ"}, // the two low bits are dropped
		{[4]byte{0x08, 0, 0, 0}, "100-000"},
		{[4]byte{0, 0, 0, 0x04}, "000-001"},
		{[4]byte{0x00, 0x44, 0x32, 0x14}, "012-345"}, // 00000 00001 00010 00011 00100 00101
	} {
		if got := New(c.entropy).Show(); got != c.want {
			t.Errorf("New(%x) shows %s, want %s", c.entropy, got, c.want)
		}
	}
}

// Every symbol is as likely as every other at every place: over all values of
// the two bytes that feed it, each appears equally often.
func TestNewIsUnbiased(t *testing.T) {
	for place, feeds := range [Length][2]int{{0, 1}, {0, 1}, {1, 2}, {1, 2}, {2, 3}, {2, 3}} {
		seen := map[byte]int{}
		for v := range 1 << 16 {
			var e [EntropySize]byte
			e[feeds[0]], e[feeds[1]] = byte(v>>8), byte(v)
			seen[strings.ReplaceAll(New(e).Show(), "-", "")[place]]++
		}
		if len(seen) != 32 {
			t.Errorf("place %d: %d symbols, want 32", place, len(seen))
		}
		for s, n := range seen {
			if n != 1<<16/32 {
				t.Errorf("place %d: %c appears %d times, want %d", place, s, n, 1<<16/32)
			}
		}
	}
}

func TestParseReadsWhatPeopleType(t *testing.T) {
	for in, want := range map[string]string{
		"7K3-9QF":                          "7K3-9QF",
		"7k39qf":                           "7K3-9QF",
		" 7k3 9qf\n":                       "7K3-9QF",
		"-7-K-3-9-Q-F-":                    "7K3-9QF",
		"7K3–9QF":                          "7K3-9QF", // what a chat makes of a dash
		"7K3\u00a09QF":                     "7K3-9QF",
		"iIl-LoO":                          "111-100",
		"abc-def":                          "ABC-DEF",
		"vwx-yz0":                          "VWX-YZ0",
		strings.Repeat(" ", 58) + "000000": "000-000",
	} {
		c, err := Parse(in)
		if err != nil || c.Show() != want {
			t.Errorf("Parse(%q) = %q, %v, want %s", in, c.Show(), err, want)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for in, why := range map[string]string{
		"":                                 "0 symbols",
		"---":                              "0 symbols",
		"7K3-9Q":                           "5 symbols",
		"7K3-9QFX":                         "more than 6",
		"U00-000":                          "symbol 1",
		"000-00u":                          "symbol 6",
		"7K3_9QF":                          "symbol 4",
		"7K3-9Q!":                          "symbol 6",
		"7K3-9Q\u212a":                     "symbol 6", // the Kelvin sign folds to k elsewhere
		"\uff17K3-9QF":                     "symbol 1", // full width
		"7K3-9Q\xff":                       "symbol 6",
		"7K3-9Q\x00":                       "symbol 6",
		strings.Repeat(" ", 59) + "000000": "longer than 64",
	} {
		c, err := Parse(in)
		bad, ok := errors.AsType[*Malformed](err)
		if !ok || bad.Code() != "INVALID_INPUT" || !strings.Contains(err.Error(), why) || !c.IsZero() {
			t.Errorf("Parse(%q) = %v, %v, want %q", in, c, err, why)
		}
		if len(in) >= 6 && strings.Contains(fmt.Sprintf("%#v %v", bad, bad), in) {
			t.Errorf("the error for %q carries the input", in)
		}
	}
}

// Whatever case, separators and look-alikes a code is typed with, it is the
// same code.
func TestParseIgnoresHowItIsTyped(t *testing.T) {
	alike := map[rune][]string{'1': {"1", "I", "i", "L", "l"}, '0': {"0", "O", "o"}}
	rapid.Check(t, func(t *rapid.T) {
		c := genCode(t)
		var typed strings.Builder
		for _, r := range strings.ReplaceAll(c.Show(), "-", "") {
			forms := alike[r]
			if forms == nil {
				forms = []string{string(r), strings.ToLower(string(r))}
			}
			typed.WriteString(rapid.SampledFrom([]string{"", " ", "-", "- ", "\t", "—"}).Draw(t, "gap"))
			typed.WriteString(rapid.SampledFrom(forms).Draw(t, "symbol"))
		}
		if got, err := Parse(typed.String()); err != nil || got.Show() != c.Show() {
			t.Fatalf("%q read as %s (%v), want %s", typed.String(), got.Show(), err, c.Show())
		}
	})
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"", "7K3-9QF", "iIl-LoO", "U00-000", "7K3–9QF", "\xff\xfe", strings.Repeat("-", 65)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		c, err := Parse(s)
		if err != nil {
			if !c.IsZero() {
				t.Fatal("an error with a code")
			}
			return
		}
		shown := c.Show()
		if len(shown) != 7 || shown[3] != '-' || strings.ContainsAny(shown, "ILOU") {
			t.Fatalf("shows %q", shown)
		}
		if again, err := Parse(shown); err != nil || again.Show() != shown {
			t.Fatalf("%q reads back as %q, %v", shown, again.Show(), err)
		}
	})
}

func TestSecretsNeverPrint(t *testing.T) {
	c := code(t, "7K3-9QF")
	key, err := NewSiteKey([SiteKeySize]byte([]byte("0123456789abcdef0123456789abcdef")))
	if err != nil {
		t.Fatal(err)
	}
	type holder struct {
		Code Code
		code Code
		Key  SiteKey
		key  *SiteKey
	}
	held := holder{c, c, key, &key}
	var out bytes.Buffer
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%o", "%b"} {
		for _, v := range []any{c, &c, key, &key, held, &held, []Code{c}, map[string]Code{"a": c}} {
			fmt.Fprintf(&out, verb+"\n", v)
		}
	}
	for _, h := range []slog.Handler{slog.NewTextHandler(&out, nil), slog.NewJSONHandler(&out, nil)} {
		slog.New(h).Info("claim", "code", c, "key", key, "held", held, "codes", []Code{c})
	}
	j, err := json.Marshal(held)
	if err != nil || string(j) != `{"Code":"[redacted]","Key":"[redacted]"}` {
		t.Errorf("JSON is %s, %v", j, err)
	}
	out.Write(j)
	for _, leak := range []string{"7K3", "9QF", "374b33", "374B33", "55 75 51", "0123456789abcdef", "48 49 50", "303132"} {
		if strings.Contains(out.String(), leak) {
			t.Errorf("%q leaks in %s", leak, out.String())
		}
	}
	if got := fmt.Sprint(c); got != "[redacted]" {
		t.Errorf("prints %q", got)
	}
}

func TestZeroCode(t *testing.T) {
	var c Code
	if c.Show() != "" || !c.IsZero() || New([4]byte{}).IsZero() {
		t.Error("the zero Code is no code, and 000-000 is one")
	}
}

func BenchmarkParse(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Parse("7k3-9qf"); err != nil {
			b.Fatal(err)
		}
	}
}
