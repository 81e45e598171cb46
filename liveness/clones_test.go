package liveness_test

import (
	"slices"
	"testing"
	"time"

	"github.com/ingotmetal/ingot/liveness"
	"pgregory.net/rapid"
)

// A hello is one session's opening: which machine, at which minute.
type hello struct {
	machine string
	minute  float64
}

// verdicts runs hellos through c and returns what each gave.
func verdicts(t *testing.T, c liveness.Clones, hellos []hello) []liveness.Verdict {
	t.Helper()
	var out []liveness.Verdict
	for _, h := range hellos {
		var v liveness.Verdict
		var err error
		if c, v, err = c.Saw(h.machine, sec(h.minute*60)); err != nil {
			t.Fatal(err)
		}
		out = append(out, v)
	}
	return out
}

func TestClones(t *testing.T) {
	const warn, stop = liveness.DuplicateSession, liveness.DuplicateIdentity
	tests := []struct {
		name   string
		hellos []hello
		want   []liveness.Verdict
	}{
		{"one machine that flaps", []hello{{"A", 0}, {"A", 0.1}, {"A", 0.2}, {"A", 0.3}, {"A", 0.4}, {"A", 0.5}}, []liveness.Verdict{"", "", "", "", "", ""}},
		{"a certificate moved once", []hello{{"A", 0}, {"B", 1}, {"B", 2}}, []liveness.Verdict{"", warn, ""}},
		{"three switches", []hello{{"A", 0}, {"B", 1}, {"A", 2}, {"B", 3}}, []liveness.Verdict{"", warn, "", ""}},
		{"four switches", []hello{{"A", 0}, {"B", 1}, {"A", 2}, {"B", 3}, {"A", 4}}, []liveness.Verdict{"", warn, "", "", stop}},
		{"it stays so, for either machine", []hello{{"A", 0}, {"B", 1}, {"A", 2}, {"B", 3}, {"A", 4}, {"A", 900}, {"B", 9000}}, []liveness.Verdict{"", warn, "", "", stop, stop, stop}},
		{"takeovers between switches do not count", []hello{{"A", 0}, {"A", 1}, {"B", 2}, {"B", 3}, {"A", 4}, {"A", 5}, {"B", 6}}, []liveness.Verdict{"", "", warn, "", "", "", ""}},
		{"the fourth switch at the window's end", []hello{{"A", 0}, {"B", 1}, {"A", 2}, {"B", 3}, {"A", 11}}, []liveness.Verdict{"", warn, "", "", stop}},
		{"the fourth just after it", []hello{{"A", 0}, {"B", 1}, {"A", 2}, {"B", 3}, {"A", 11.01}}, []liveness.Verdict{"", warn, "", "", ""}},
		{"a window that slides", []hello{{"A", 0}, {"B", 1}, {"A", 6}, {"B", 11.5}, {"A", 12}, {"B", 13}}, []liveness.Verdict{"", warn, "", "", "", stop}},
		{"slow switches only warn", []hello{{"A", 0}, {"B", 11}, {"A", 22}, {"B", 33}, {"A", 44}, {"B", 55}}, []liveness.Verdict{"", warn, warn, warn, warn, warn}},
		{"three copies", []hello{{"A", 0}, {"B", 1}, {"C", 2}, {"A", 3}, {"B", 4}}, []liveness.Verdict{"", warn, "", "", stop}},
	}
	for _, tt := range tests {
		if got := verdicts(t, liveness.Clones{}, tt.hellos); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestAMachineWithoutANameIsRefused(t *testing.T) {
	var c liveness.Clones
	c, _, err := c.Saw("A", sec(0))
	if err != nil {
		t.Fatal(err)
	}
	after, v, err := c.Saw("", sec(1))
	if code(t, err) != "INVALID_INPUT" || v != "" || after != c {
		t.Errorf("%q, %v, changed: %t", v, err, after != c)
	}
}

// L18: against the requirement said plainly. One machine alone never warns.
func TestClonesAgainstAModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var c liveness.Clones
		now, last, stopped := sec(0), "", false
		var switches []liveness.Instant
		for range rapid.IntRange(1, 30).Draw(t, "sessions") {
			now = now.Add(time.Duration(rapid.IntRange(0, 400).Draw(t, "pass")) * time.Second)
			machine := rapid.SampledFrom([]string{"A", "B", "C"}).Draw(t, "machine")
			switched := last != "" && machine != last
			recent := 0
			if switched && !stopped {
				switches = append(switches, now)
			}
			for _, at := range switches {
				if now.Sub(at) <= 10*time.Minute {
					recent++
				}
			}
			last = machine
			want := liveness.Verdict("")
			switch {
			case stopped || switched && recent > 3:
				want, stopped = liveness.DuplicateIdentity, true
			case switched && recent == 1:
				want = liveness.DuplicateSession
			}
			var got liveness.Verdict
			var err error
			if c, got, err = c.Saw(machine, now); err != nil || got != want {
				t.Fatalf("%q, %v; want %q after switches at %v", got, err, want, switches)
			}
		}
	})
}

// L19: counts survive being stored and read by another gateway, on its clock,
// between any two sessions.
func TestClonesSurviveRestarts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var kept, carried liveness.Clones
		now, clock := sec(0), sec(0)
		for range rapid.IntRange(1, 20).Draw(t, "sessions") {
			pass := time.Duration(rapid.IntRange(0, 400).Draw(t, "pass")) * time.Second
			now, clock = now.Add(pass), clock.Add(pass)
			next := sec(float64(rapid.IntRange(0, 99_999).Draw(t, "clock")))
			carried, clock = carried.Row(clock).Clones(next), next
			machine := rapid.SampledFrom([]string{"A", "B"}).Draw(t, "machine")
			var a, b liveness.Verdict
			var err error
			if kept, a, err = kept.Saw(machine, now); err != nil {
				t.Fatal(err)
			}
			if carried, b, err = carried.Saw(machine, clock); err != nil || a != b {
				t.Fatalf("%q, and %q after a restart: %v", a, b, err)
			}
		}
	})
}

func TestARowOfALaterVersionIsCutToSize(t *testing.T) {
	r := liveness.CloneRow{Machine: "A", Ages: make([]time.Duration, 9)}
	if got := r.Clones(sec(0)).Row(sec(0)); len(got.Ages) != 3 {
		t.Errorf("%d switches kept", len(got.Ages))
	}
}
