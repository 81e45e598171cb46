package claim

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// fill counts n wrong codes of operator, a second apart, from start on.
func fill(t *testing.T, l Ledger, operator string, n int, start time.Time) Ledger {
	t.Helper()
	for i := range n {
		var err error
		if l, err = l.Count(Limits{}, operator, start.Add(time.Duration(i)*time.Second)); err != nil {
			t.Fatalf("try %d of %s: %v", i+1, operator, err)
		}
	}
	return l
}

func limited(err error) RateLimited {
	if e, ok := errors.AsType[*RateLimited](err); ok {
		return *e
	}
	return RateLimited{}
}

func TestTwentyWrongCodesAnHour(t *testing.T) { // REG-5
	l := fill(t, Ledger{}, "ann", 20, noon)
	at := noon.Add(time.Minute)
	want := RateLimited{Operator: "ann", Limit: 20, Until: noon.Add(time.Hour)}
	if got := limited(l.Allow(Limits{}, "ann", at)); got != want {
		t.Errorf("the 21st try: %+v, want %+v", got, want)
	}
	if err := l.Allow(Limits{}, "bob", at); err != nil {
		t.Errorf("another operator pays: %v", err)
	}
	after, err := l.Count(Limits{}, "ann", at)
	if err == nil || !reflect.DeepEqual(after, l) {
		t.Error("a refused try was counted")
	}
	if err := l.Allow(Limits{}, "ann", want.Until.Add(-1)); err == nil {
		t.Error("heard before Until")
	}
	l = fill(t, l, "ann", 1, want.Until) // the window slides: one is free, not twenty
	if got := limited(l.Allow(Limits{}, "ann", want.Until)); got.Until != noon.Add(time.Hour+time.Second) {
		t.Errorf("then limited until %s", got.Until)
	}
}

func TestTwoHundredWrongCodesInAll(t *testing.T) { // REG-5
	var l Ledger
	for i := range 10 {
		l = fill(t, l, fmt.Sprint("op", i), 20, noon)
	}
	want := RateLimited{Limit: 200, Until: noon.Add(time.Hour)}
	if got := limited(l.Allow(Limits{}, "ann", noon.Add(time.Minute))); got != want {
		t.Errorf("the 201st try: %+v, want %+v", got, want)
	}
	own := limited(l.Allow(Limits{PerOperator: 10}, "op0", noon.Add(time.Minute)))
	if own.Operator != "op0" || own.Until != noon.Add(time.Hour+10*time.Second) {
		t.Errorf("of two limits the longer one is named: %+v", own)
	}
}

func TestLimitedErrorSaysUntilWhen(t *testing.T) {
	for _, c := range []struct {
		err  RateLimited
		want string
	}{
		{RateLimited{"ann", 20, noon}, `claim: 20 wrong claim codes by operator "ann"; try again at 2026-05-01T12:00:00Z (REG-5)`},
		{RateLimited{"", 200, noon}, `claim: 200 wrong claim codes by all operators; try again at 2026-05-01T12:00:00Z (REG-5)`},
	} {
		if c.err.Error() != c.want || c.err.Code() != "RATE_LIMITED" {
			t.Errorf("got %s (%s)", c.err.Error(), c.err.Code())
		}
	}
}

func TestOperatorNames(t *testing.T) {
	for name, ok := range map[string]bool{"": false, "a": true, strings.Repeat("a", 256): true, strings.Repeat("a", 257): false} {
		err := Ledger{}.Allow(Limits{}, name, noon)
		if bad, is := errors.AsType[*Malformed](err); is == ok || is && (bad.Code() != "INVALID_INPUT" || bad.What != "operator" || strings.Contains(bad.Error(), "XXX")) {
			t.Errorf("name of %d bytes: %v", len(name), err)
		}
	}
}

func TestClockSteps(t *testing.T) {
	l := fill(t, Ledger{}, "ann", 20, noon)
	for _, c := range []struct {
		step time.Duration
		free bool
	}{{-30 * time.Minute, false}, {-59 * time.Minute, false}, {-2 * time.Hour, true}, {1e9 * time.Second, true}, {-1e9 * time.Second, true}} {
		if err := l.Allow(Limits{}, "ann", noon.Add(c.step)); (err == nil) != c.free {
			t.Errorf("clock moved by %s: %v", c.step, err)
		}
	}
}

func TestLimits(t *testing.T) {
	for _, c := range []struct {
		limits Limits
		bad    []string
		filled Limits
	}{
		{Limits{}, nil, Limits{20, 200, time.Hour}}, // REG-5
		{Limits{5, 50, time.Minute}, nil, Limits{5, 50, time.Minute}},
		{Limits{-1, -1, -1}, []string{"PerOperator is -1", "Total is -1", "Window is -1ns"}, Limits{20, 200, time.Hour}},
		{Limits{Total: MaxTotal + 1}, []string{"want 0 to 10000"}, Limits{20, MaxTotal, time.Hour}},
	} {
		err := c.limits.Validate()
		if (err != nil) != (c.bad != nil) || c.limits.filled() != c.filled {
			t.Errorf("%+v: %v, filled %+v", c.limits, err, c.limits.filled())
		}
		for _, want := range c.bad {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%q is not in %q", want, err)
			}
		}
	}
}

// Against a naive twin that keeps every wrong code for ever and looks back a
// window: the same tries are heard, at any moment, for rising clocks; the end
// that a refusal names is exact; the ledger is bounded and is never changed.
func TestLedgerSlides(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limits := Limits{
			PerOperator: rapid.IntRange(1, 4).Draw(t, "perOperator"),
			Total:       rapid.IntRange(1, 8).Draw(t, "total"),
			Window:      time.Duration(rapid.IntRange(1, 20).Draw(t, "window")) * time.Second,
		}
		var l Ledger
		var history []Try
		now := noon
		heard := func(operator string, at time.Time) bool {
			own, all := 0, 0
			for _, h := range history {
				if at.Sub(h.At) < limits.Window {
					all++
					if h.Operator == operator {
						own++
					}
				}
			}
			return own < limits.PerOperator && all < limits.Total
		}
		t.Repeat(map[string]func(*rapid.T){
			"wait": func(t *rapid.T) { now = now.Add(time.Duration(rapid.IntRange(1, 8).Draw(t, "s")) * time.Second) },
			"try": func(t *rapid.T) {
				operator := rapid.SampledFrom([]string{"ann", "bob", "cyd"}).Draw(t, "operator")
				before := slices.Clone(l.Tries)
				next, err := l.Count(limits, operator, now)
				if !slices.Equal(before, l.Tries) {
					t.Fatal("Count changed its ledger")
				}
				if (err == nil) != heard(operator, now) {
					t.Fatalf("%v; the twin says heard: %t", err, heard(operator, now))
				}
				if err != nil {
					until := limited(err).Until
					if heard(operator, until.Add(-1)) || !heard(operator, until) {
						t.Fatalf("Until is %s at %s", until, now)
					}
				} else {
					history = append(history, Try{operator, now})
				}
				l = next
			},
			"": func(t *rapid.T) {
				if len(l.Tries) > limits.Total {
					t.Fatalf("holds %d tries", len(l.Tries))
				}
			},
		})
	})
}

func TestLedgerIsStoredAsJSON(t *testing.T) {
	l := fill(t, Ledger{}, "ann", 3, noon)
	b, err := json.Marshal(l)
	if err != nil {
		t.Fatal(err)
	}
	var back Ledger
	if err := json.Unmarshal(b, &back); err != nil || !reflect.DeepEqual(back, l) {
		t.Errorf("%s came back as %+v, %v", b, back, err)
	}
}

func BenchmarkAllowFull(b *testing.B) {
	l := Ledger{}
	for i := range DefaultTotal {
		l.Tries = append(l.Tries, Try{fmt.Sprint("op", i%10), noon.Add(time.Duration(i))})
	}
	b.ReportAllocs()
	for b.Loop() {
		if l.Allow(Limits{}, "ann", noon) == nil {
			b.Fatal("not limited")
		}
	}
}
