package explore_test

import (
	"iter"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/ingotmetal/ingot/statemachine/explore"
)

// twoOfAKind reaches b1 and b2, of one key, which answer as given: an input and
// where it leads, or "" for refused. The start has the empty key.
func twoOfAKind(b1, b2 map[string]string) explore.Model[string, string, string] {
	next := map[string]map[string]string{"a": {"1": "b1", "2": "b2"}, "b1": b1, "b2": b2}
	m := explore.Model[string, string, string]{
		Name: "pair", Start: []string{"a"},
		Inputs: func(s string) iter.Seq[string] { return slices.Values(slices.Sorted(maps.Keys(next[s]))) },
		Step: func(s, in string) (string, error) {
			if to := next[s][in]; to != "" {
				return to, nil
			}
			return "", errNotNow
		},
		Key:   func(s string) string { return strings.TrimRight(strings.Trim(s, "12"), "a") },
		Event: same[string],
	}
	m.Invariants = []explore.Invariant[string, string]{explore.KeyInvariant(m)}
	return m
}

func TestKeyInvariantSeesEachDifference(t *testing.T) {
	type answers = map[string]string
	for name, c := range map[string]struct {
		b1, b2 answers
		want   string // "" if they are alike
	}{
		"alike":       {answers{"x": "b1", "y": ""}, answers{"x": "b2", "y": ""}, ""},
		"refused":     {answers{"x": "a"}, answers{"x": ""}, "at input 1"},
		"elsewhere":   {answers{"x": "b1", "y": "b1"}, answers{"x": "b1", "y": "a"}, "at input 2"},
		"other event": {answers{"x": "b1"}, answers{"y": "b1"}, "at input 1"},
		"more inputs": {answers{"x": "b1"}, answers{"x": "b1", "y": "b1"}, "1 inputs and the other 2"},
	} {
		t.Run(name, func(t *testing.T) {
			m := twoOfAKind(c.b1, c.b2)
			if c.want == "" {
				holds(t, m)
				return
			}
			if got := broken(t, m, "key keeps what decides", 1); !strings.Contains(got.Why.Error(), c.want) {
				t.Errorf("got %v, want %q", got.Why, c.want)
			}
		})
	}
}
