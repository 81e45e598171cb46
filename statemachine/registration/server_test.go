package registration_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ingotmetal/ingot/statemachine/registration"
	"pgregory.net/rapid"
)

// REG-9, EDGE-13: what names no machine is refused, in both byte orders.
func TestParseServerIDRefuses(t *testing.T) {
	for name, text := range map[string]string{
		"empty": "", "nil": "00000000-0000-0000-0000-000000000000", "ones": "ffffffff-ffff-ffff-ffff-ffffffffffff", "ones in capitals": "FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF",
		"shipped": "03000200-0400-0500-0006-000700080009", "shipped, swapped": "00020003-0004-0005-0006-000700080009",
		"short": "4c4c4544-0031-3010-8043-b4c04f36423", "long": "4c4c4544-0031-3010-8043-b4c04f3642321",
		"braces": "{4c4c4544-0031-3010-8043-b4c04f36423}", "no dashes": "4c4c454400313010804300b4c04f36423232",
		"dashes moved": "4c4c4544-00313-010-8043-b4c04f364232", "no digit": "4c4c4544-0031-3010-8043-b4c04f36423g",
		"dash for a digit": "4c4c4544-0031-3010-8043--4c04f364232", "other alphabet": "４c4c4544-0031-3010-8043-b4c04f3642",
		"spaces": " c4c4544-0031-3010-8043-b4c04f364232", "URN": "urn:uuid:4c4c4544-0031-3010-8043-b4c04f364232", "very long": strings.Repeat("a", 1<<20),
	} {
		id, err := registration.ParseServerID(text)
		if id != (registration.ServerID{}) || codeOf(err) != "INVALID_INPUT" {
			t.Errorf("%s: %v, %v", name, id, err)
		}
		if err != nil && len(err.Error()) > 256 {
			t.Errorf("%s: an error of %d bytes", name, len(err.Error()))
		}
	}
}

func TestParseServerID(t *testing.T) {
	const text = "4c4c4544-0031-3010-8043-b4c04f364232"
	want := registration.ServerID{0x4c, 0x4c, 0x45, 0x44, 0, 0x31, 0x30, 0x10, 0x80, 0x43, 0xb4, 0xc0, 0x4f, 0x36, 0x42, 0x32}
	for _, s := range []string{text, strings.ToUpper(text)} {
		if id, err := registration.ParseServerID(s); id != want || err != nil || id.String() != text {
			t.Errorf("%s: %v, %v", s, id, err)
		}
	}
	if got := want.Swapped().String(); got != "44454c4c-3100-1030-8043-b4c04f364232" { // SMBIOS 2.6 section 7.2.1: three groups turn, two stay
		t.Errorf("swapped: %s", got)
	}
}

// One machine has one key, whatever order its firmware prints (EDGE-13), and
// two machines that differ in both orders have two.
func TestKeyIsOneForBothOrders(t *testing.T) {
	ids := rapid.Custom(func(t *rapid.T) (id registration.ServerID) {
		copy(id[:], rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "id"))
		return id
	})
	rapid.Check(t, func(t *rapid.T) {
		a, b := ids.Draw(t, "a"), ids.Draw(t, "b")
		if a.Swapped().Swapped() != a || a.Key() != a.Swapped().Key() || a.Key() != a && a.Key() != a.Swapped() || a.Key().Key() != a.Key() {
			t.Fatalf("key %v, swapped %v of %v", a.Key(), a.Swapped(), a)
		}
		if (a.Key() == b.Key()) != (a == b || a == b.Swapped()) {
			t.Fatalf("%v and %v share a key wrongly", a, b)
		}
		if a.Placeholder() != a.Swapped().Placeholder() {
			t.Fatalf("%v is a placeholder in one order alone", a)
		}
	})
}

func FuzzParseServerID(f *testing.F) {
	for _, s := range []string{"4c4c4544-0031-3010-8043-b4c04f364232", "00020003-0004-0005-0006-000700080009", "", "-", strings.Repeat("f", 36), "４４４４４４４４４４４４"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		id, err := registration.ParseServerID(s)
		switch {
		case err != nil && (id != registration.ServerID{} || codeOf(err) != "INVALID_INPUT"):
			t.Errorf("%q: %v with %v", s, id, err)
		case err == nil && (id.String() != strings.ToLower(s) || id.Placeholder()):
			t.Errorf("%q is read as %s", s, id)
		}
	})
}

// Secrets are no text: no way of printing a row shows one.
func TestSealedIsNotPrinted(t *testing.T) {
	r := registration.Record{Waiting: "s3cret", Bundle: registration.Bundle{Sealed: "s3cret"}, Settings: registration.Settings{RootHash: "s3cret"}}
	for _, format := range []string{"%v", "%+v", "%#v", "%s", "%q"} {
		for _, v := range []any{r, &r, r.Waiting, &r.Bundle, registration.Event{Waiting: "s3cret", Sealed: "s3cret"}} {
			if text := fmt.Sprintf(format, v); strings.Contains(text, "s3cret") || strings.Contains(text, "733363726574") {
				t.Errorf("%s of %T prints it: %s", format, v, text)
			}
		}
	}
	if registration.Sealed("").String() != "" || r.Waiting.String() == "" {
		t.Error("an empty one and a set one print alike")
	}
}
