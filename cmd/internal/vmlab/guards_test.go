package vmlab

import (
	"strings"
	"testing"
)

// A reason must have every word, and what it lacks is named.
func TestSays(t *testing.T) {
	if err := says("disk S1: usb: it is on USB", "S1", "usb"); err != nil {
		t.Error(err)
	}
	if err := says("disk S1: usb", "S1", "S2", "ext4"); err == nil || !strings.Contains(err.Error(), "S2, ext4: \"disk S1: usb\"") {
		t.Error(err)
	}
}

// A machine with several results is shown by the one that failed, and the table has a
// line for each.
func TestSeveralResults(t *testing.T) {
	all := []Result{{Scenario: "guards: one", Machine: "m1"}, {Scenario: "guards: a longer one", Machine: "m1", Error: "no"}, {Scenario: "guards: three", Machine: "m1", Error: "no"}, {Scenario: "four", Machine: "m2"}}
	lines := strings.Split(strings.TrimSpace(Table(all)), "\n")
	if len(lines) != 5 {
		t.Fatalf("%q", lines)
	}
	at := strings.Index(lines[0], "RESULT")
	for i, want := range []string{"good", "FAILED", "FAILED", "good"} {
		if !strings.HasPrefix(lines[i+1][at:], want) {
			t.Errorf("%q", lines[i+1])
		}
	}
}
