package booter_test

import (
	"slices"
	"testing"

	"github.com/ingotmetal/ingot/booter"
)

// Whoever mends the reason that is given meets the next one of those that Why
// had listed, and in the end an answer: no reason hides one that is not said.
func TestMendingOneByOne(t *testing.T) {
	broken := []booter.Silence{
		"malformed", "rate-mac", "type-not-served", "not-pxe", "unknown-arch", "foreign-network",
		"other-server", "discovered", "no-address", "wrong-address", "image-unstaged", "boot-loop",
	}
	for len(broken) > 0 {
		p, rec, req := site(), enrolling(), request()
		for _, s := range spoilers {
			if slices.Contains(broken, s.why) {
				s.spoil(&p, &rec, &req)
			}
		}
		if got := p.Why(rec, req, now); !slices.Equal(got, broken) {
			t.Fatalf("Why says %q, want %q", got, broken)
		}
		_, why := p.Answer(rec, req, now)
		if why != broken[0] {
			t.Fatalf("silent by %q, want %q", why, broken[0])
		}
		broken = broken[1:]
	}
}

// Names are what counters and rules are written against, so they are pinned
// here by their text (see spoilers) and have the form of a label.
func TestNamesAreLabels(t *testing.T) {
	for _, r := range booter.Reasons() {
		for _, c := range string(r.Silence) {
			if c != '-' && (c < 'a' || c > 'z') {
				t.Errorf("%q is no label", r.Silence)
			}
		}
	}
}

// Reasons hands out a copy.
func TestReasonsAreACopy(t *testing.T) {
	booter.Reasons()[0] = booter.Reason{}
	if booter.Reasons()[0].Silence != booter.Malformed {
		t.Error("a caller changed the table")
	}
}

func TestMAC(t *testing.T) {
	if got := (booter.MAC{0x52, 0x54, 0, 0xAB, 0xCD, 0x0f}).String(); got != "52:54:00:ab:cd:0f" {
		t.Error(got)
	}
}
