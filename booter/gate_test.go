package booter_test

import (
	"errors"
	"path"
	"regexp"
	"strings"
	"testing"

	"github.com/ingotmetal/ingot/booter"
)

func TestGate(t *testing.T) {
	good := []string{"a", "0", "20260501T000000Z", "ubuntu-24.04_x64", "a.b", "a-", "a.", strings.Repeat("x", 64)}
	bad := []string{
		"", ".", "..", "-a", "_a", ".hidden", "a..b", "a..", "a/b", `a\b`, "/etc/passwd", "../x", "a b", "a\n", "a\x00",
		"a%2e%2e", "a?b", "a#b", "a$b", "a:b", "ä", "a\u202e", strings.Repeat("x", 65),
	}
	for _, s := range good {
		if err := booter.Gate(s); err != nil {
			t.Errorf("%q: %v", s, err)
		}
	}
	for _, s := range bad {
		e, ok := errors.AsType[*booter.Invalid](booter.Gate(s))
		if !ok || e.Code() != "INVALID_INPUT" || e.Req != "BOOT-2" {
			t.Errorf("%q passed, or is refused as %v", s, e)
		}
	}
}

// A refusal never repeats more of a foreign string than an image may have.
func TestRefusalIsShort(t *testing.T) {
	if s := booter.Gate(strings.Repeat("\x00", 1<<16)).Error(); len(s) > 500 {
		t.Errorf("%d bytes: %.80s", len(s), s)
	}
}

var gate = regexp.MustCompile(`^[0-9A-Za-z][0-9A-Za-z._-]{0,63}\z`)

func FuzzGate(f *testing.F) {
	for _, s := range []string{"", "a", "a..b", "../a", "20260501T000000Z", "a/b", "a\n", ".a"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		err := booter.Gate(s)
		if want := gate.MatchString(s) && !strings.Contains(s, ".."); (err == nil) != want {
			t.Errorf("%q: %v", s, err)
		}
		if err == nil && path.Join("images", s) != "images/"+s {
			t.Errorf("%q is no plain file name", s)
		}
	})
}
