package placement_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/ingotmetal/ingot/placement"
)

func TestParseInterval(t *testing.T) {
	const noon, one = "2026-01-01T12:00:00Z", "2026-01-01T13:00:00Z"
	for _, c := range []struct{ text, want string }{
		{noon + "/" + one, ""},
		{noon + "/2026-01-01T14:30:00+01:00", ""},
		{"2026-01-01T12:00:00.5Z/" + one, ""},
		{"2026-01-01T00:00:00Z/2036-01-01T00:00:00Z", ""},
		{noon + "/" + noon, "an end after the start"},
		{one + "/" + noon, "an end after the start"},
		{"2026-01-01T00:00:00Z/2037-01-01T00:00:00Z", "at most ten years"},
		{noon, "start/end"},
		{"", "start/end"},
		{noon + "/", "after the slash"},
		{"/" + one, "before the slash"},
		{noon + "/" + one + "/" + one, "after the slash"},
		{"2026-02-30T00:00:00Z/" + one, "before the slash"},
		{noon + "/PT1H", "after the slash"},
		{strings.Repeat("1", 72), "at most two"},
	} {
		i, err := placement.ParseInterval(c.text)
		if c.want == "" {
			if err != nil || !i.Valid() {
				t.Errorf("%q: %v, %v", c.text, i, err)
			}
			continue
		}
		bad, ok := errors.AsType[*placement.Invalid](err)
		if !ok || !strings.Contains(bad.Want, c.want) || bad.Code() != "INVALID_INPUT" || i != (placement.Interval{}) {
			t.Errorf("%q: %v, %v; want it refused for %q", c.text, i, err, c.want)
		}
	}
}

// instants draws times around each other, so that they often meet.
var instants = rapid.Map(rapid.Int64Range(0, 20), func(n int64) time.Time { return time.Unix(n, 0).UTC() })

func drawInterval(t *rapid.T, name string) placement.Interval {
	a, b := instants.Draw(t, name+" start"), instants.Draw(t, name+" end")
	if b.Before(a) {
		a, b = b, a
	}
	return placement.Interval{Start: a, End: b.Add(time.Second)}
}

// TestOverlapIsASharedInstant counts instants, as a booking sheet would.
func TestOverlapIsASharedInstant(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := drawInterval(t, "a"), drawInterval(t, "b")
		shared := false
		for n := int64(-1); n < 30; n++ {
			at := time.Unix(n, 0)
			shared = shared || a.Contains(at) && b.Contains(at)
		}
		if a.Overlaps(b) != shared || b.Overlaps(a) != shared {
			t.Fatalf("%v and %v: overlap %t, shared instant %t", a, b, a.Overlaps(b), shared)
		}
		if after := (placement.Interval{Start: a.End, End: a.End.Add(time.Hour)}); a.Overlaps(after) {
			t.Fatal("intervals that touch overlap")
		}
	})
}

func FuzzParseInterval(f *testing.F) {
	f.Add("2026-01-01T12:00:00Z/2026-01-01T13:00:00Z")
	f.Add("/")
	f.Fuzz(func(t *testing.T, s string) {
		i, err := placement.ParseInterval(s)
		if err != nil {
			return
		}
		again, err := placement.ParseInterval(i.String())
		if err != nil || !again.Start.Equal(i.Start) || !again.End.Equal(i.End) {
			t.Fatalf("%q: %v comes back as %v, %v", s, i, again, err)
		}
	})
}

func ExampleInterval_Overlaps() {
	morning, _ := placement.ParseInterval("2026-01-01T08:00:00Z/2026-01-01T12:00:00Z")
	noon, _ := placement.ParseInterval("2026-01-01T12:00:00Z/2026-01-01T13:00:00Z")
	fmt.Println(morning.Overlaps(noon), noon.Contains(noon.Start), noon.Contains(noon.End))
	// Output: false true false
}
