package liveness_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ingotmetal/ingot/liveness"
	"pgregory.net/rapid"
)

// fields are the Field of every Invalid joined in err, in order.
func fields(t *testing.T, err error) []string {
	t.Helper()
	if err == nil {
		return nil
	}
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		t.Fatalf("%T is not joined", err)
	}
	var names []string
	for _, e := range joined.Unwrap() {
		var inv *liveness.Invalid
		if !errors.As(e, &inv) || inv.Code() != "INVALID_CONFIG" || inv.Req == "" || inv.Want == "" {
			t.Fatalf("%v is not a typed error with its code, requirement and range", e)
		}
		if !strings.Contains(e.Error(), inv.Field) || !strings.Contains(e.Error(), inv.Got) {
			t.Errorf("%q does not say what is wrong", e)
		}
		names = append(names, inv.Field)
	}
	return names
}

func TestValidate(t *testing.T) {
	const s = time.Second
	tests := []struct {
		name string
		w    liveness.Windows
		want []string
	}{
		{"what ships", liveness.Windows{}, nil},
		{"a longer lease", liveness.Windows{Lease: 2 * time.Minute}, nil},
		{"all negative", liveness.Windows{-1, -1, -1, -1, -1, -1, -1, -1, -1, -1},
			[]string{"Heartbeat", "Flush", "Lease", "Sweep", "GatewayGrace", "OutageGrace", "OutageAfter", "GraceMax", "DomainShare", "DomainMin"}},
		{"longer than a day", liveness.Windows{Lease: 25 * time.Hour}, []string{"Lease"}},
		{"no percentage", liveness.Windows{DomainShare: 101}, []string{"DomainShare"}},
		{"a range hides the sums", liveness.Windows{Lease: 1, DomainMin: -1}, []string{"DomainMin"}},
		{"one tick over", liveness.Windows{Flush: 15*s + 1}, []string{"Heartbeat + 2*Flush"}},
		{"lease too short for the default beats", liveness.Windows{Lease: 39 * s}, []string{"Heartbeat + 2*Flush"}},
		{"beat as long as the lease", liveness.Windows{Heartbeat: 40 * s, Flush: 1}, []string{"Heartbeat + 2*Flush", "3*Heartbeat"}},
		{"two beats a lease", liveness.Windows{Heartbeat: 20 * s, Flush: 5 * s}, []string{"3*Heartbeat"}},
		{"a suspension hides an outage", liveness.Windows{Sweep: 11 * s}, []string{"2*Sweep"}},
		{"graces past their bound", liveness.Windows{GraceMax: time.Minute}, []string{"GatewayGrace", "OutageGrace"}},
		{"every sum", liveness.Windows{Heartbeat: time.Hour, Sweep: time.Hour, GraceMax: 1},
			[]string{"Heartbeat + 2*Flush", "3*Heartbeat", "2*Sweep", "GatewayGrace", "OutageGrace"}},
	}
	for _, tt := range tests {
		if got := fields(t, tt.w.Validate()); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestSlack(t *testing.T) {
	if d := (liveness.Windows{}).Slack(); d != 0 {
		t.Errorf("what ships has %s of slack; 10 + 15 + 15 is 40", d)
	}
	if d := (liveness.Windows{Lease: time.Minute}).Slack(); d != 20*time.Second {
		t.Errorf("a lease of a minute leaves %s", d)
	}
}

// Validate and Slack never disagree about the sum, nor overflow.
func TestSlackIsNeverNegativeInValidWindows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := windows(t)
		if w.Validate() == nil && w.Slack() < 0 {
			t.Fatalf("%+v passes with a slack of %s", w, w.Slack())
		}
	})
}

// windows draws any windows, valid or not.
func windows(t *rapid.T) liveness.Windows {
	d := rapid.OneOf(
		rapid.Just(time.Duration(0)),
		rapid.Custom(func(t *rapid.T) time.Duration { return time.Duration(rapid.Int64().Draw(t, "ns")) }),
		rapid.Custom(func(t *rapid.T) time.Duration {
			return time.Duration(rapid.IntRange(1, 600).Draw(t, "s")) * time.Second
		}),
	)
	return liveness.Windows{
		Heartbeat: d.Draw(t, "heartbeat"), Flush: d.Draw(t, "flush"), Lease: d.Draw(t, "lease"), Sweep: d.Draw(t, "sweep"),
		GatewayGrace: d.Draw(t, "gateway"), OutageGrace: d.Draw(t, "outage"), OutageAfter: d.Draw(t, "after"), GraceMax: d.Draw(t, "max"),
		DomainShare: rapid.IntRange(-1, 101).Draw(t, "share"), DomainMin: rapid.IntRange(-1, 5).Draw(t, "min"),
	}
}
