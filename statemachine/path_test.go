package statemachine_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/ingotmetal/ingot/statemachine"
	"github.com/ingotmetal/ingot/statemachine/internal/pump"
	"pgregory.net/rapid"
)

func TestPath(t *testing.T) {
	table := pump.Table()
	for _, tc := range []struct {
		from at
		to   pump.State
		want []string // nil: there is none
	}{
		{idle, pump.Idle, []string{}},
		{at{State: pump.None}, pump.Serving, []string{"install", "fill", "filled", "drained"}},
		{filling, pump.Broken, []string{"failed", "scrap"}},
		{at{State: pump.Broken, Epoch: 4}, pump.Filling, []string{"remove", "install", "fill"}},
		{flushing, pump.None, []string{"stop", "remove"}},
		{idle, "new", nil},
		{at{State: "new"}, pump.Idle, nil},
		{at{State: "new"}, "new", nil},
	} {
		path, ok := table.Path(tc.from, tc.to)
		got := []string{}
		for _, c := range path {
			got = append(got, string(c.On))
		}
		if ok != (tc.want != nil) || ok && !slices.Equal(got, tc.want) {
			t.Errorf("from %s to %s: %q, %v; want %q", tc.from.State, tc.to, got, ok, tc.want)
		}
	}
}

// siding has a state that only a report leaves, in an attempt that must be
// opened first.
var siding = statemachine.Must(plain{
	Name: "siding", Start: []string{"yard"}, Reports: []string{"arrived"}, Guards: []string{"clear"},
	States: []statemachine.State[string, string]{
		{Name: "yard", Kind: statemachine.Stable, Expire: "late"}, {Name: "town", Kind: statemachine.Terminal}},
	Rules: []plainRule{
		{On: "depart", From: []string{"yard"}, When: when{If: 1}, Stay: true, Opens: time.Hour},
		{On: "depart", From: []string{"yard"}, When: when{Not: 1}, Refuse: statemachine.Conflict, Why: "the line is taken"},
		{On: "depart", Refuse: statemachine.InvalidState, Why: "it ends here"},
		{On: "arrived", From: []string{"yard"}, To: "town"},
		{On: "arrived", Refuse: statemachine.InvalidState, Why: "it is there"},
		{On: "late", From: []string{"yard"}, Stay: true, Ends: "arrived"},
		{On: "late", Refuse: statemachine.Conflict, Why: "it is there"},
	},
})

// A report needs an attempt, so the path goes by way of one.
func TestPathOpensTheAttempt(t *testing.T) {
	for want, from := range map[string]plainAt{
		"[depart arrived]": {State: "yard"},
		"[arrived]":        {State: "yard", Epoch: 1, Deadline: start},
	} {
		path, _ := siding.Path(from, "town")
		var got []string
		for _, c := range path {
			got = append(got, c.On)
		}
		if fmt.Sprint(got) != want {
			t.Errorf("from %+v: %s, want %s", from, got, want)
		}
	}
	if path, ok := siding.Path(plainAt{State: "town"}, "yard"); ok {
		t.Errorf("a terminal state has a way out: %v", path)
	}
}

// In a tree, the path to each state spells its name, however many branches
// were walked before it.
func TestPathsOfATree(t *testing.T) {
	s := plain{Name: "tree", Start: []string{"r"}}
	level := []string{"r"}
	for depth := range 6 {
		var next []string
		for _, name := range level {
			st := statemachine.State[string, string]{Name: name, Kind: statemachine.Stable}
			if depth == 5 {
				st.Kind = statemachine.Terminal
			} else {
				for _, way := range []string{"a", "b"} {
					s.Rules = append(s.Rules, plainRule{On: way, From: []string{name}, To: name + way})
					next = append(next, name+way)
				}
			}
			s.States = append(s.States, st)
		}
		level = next
	}
	for _, way := range []string{"a", "b"} {
		s.Rules = append(s.Rules, plainRule{On: way, Refuse: statemachine.InvalidState, Why: "a leaf"})
	}
	table := statemachine.Must(s)
	for st := range table.States() {
		path, _ := table.Path(plainAt{State: "r"}, st.Name)
		name := "r"
		for _, c := range path {
			name += c.On
		}
		if name != st.Name {
			t.Errorf("the path to %s spells %s", st.Name, name)
		}
	}
}

// take raises on as it is meant, under the given guards: with the open
// attempt's epoch, a fresh one, and an hour after everything is due.
func take(table *statemachine.Table[string, string], at plainAt, on string, holds statemachine.Guard) (plainAt, error) {
	ev := statemachine.Event[string]{On: on, Next: at.Epoch + 1}
	if table.Open(at) {
		ev.Epoch = at.Epoch
	}
	return table.Step(at, ev, holds, at.Deadline.Add(time.Hour))
}

// nearest counts the steps to each state, by raising every event under every
// valuation, round after round.
func nearest(table *statemachine.Table[string, string], from plainAt) map[string]int {
	far, seen := map[string]int{from.State: 0}, map[string]bool{}
	round := []plainAt{from}
	for n := 1; len(round) > 0; n++ {
		var next []plainAt
		for _, at := range round {
			key := fmt.Sprint(at.State, table.Open(at))
			if seen[key] {
				continue
			}
			seen[key] = true
			for on := range table.Events() {
				for _, holds := range everyValuation() {
					to, err := take(table, at, on, holds)
					if _, known := far[to.State]; !known && err == nil {
						far[to.State] = n
					}
					if err == nil {
						next = append(next, to)
					}
				}
			}
		}
		round = next
	}
	return far
}

// Step goes the whole path, to where it should lead, and no way is shorter.
func TestPathIsLegalAndShortest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		spec := draw(t)
		table := statemachine.Must(spec)
		from := plainAt{State: "s0", Epoch: 5}
		if rapid.Bool().Draw(t, "open") {
			from.Deadline = start
		}
		far := nearest(table, from)
		for st := range table.States() {
			path, ok := table.Path(from, st.Name)
			if n, reached := far[st.Name]; ok != reached || len(path) != n {
				t.Fatalf("from %+v to %s: %d steps, %v; by trying %d, %v", from, st.Name, len(path), ok, n, reached)
			}
			at := from
			for _, c := range path {
				holds := everyValuation()[slices.IndexFunc(everyValuation(), c.When.Holds)]
				next, err := take(table, at, c.On, holds)
				if err != nil || next.State != c.To {
					t.Fatalf("%s in %+v, on the way to %s: %v, %s; want %s", c.On, at, st.Name, err, next.State, c.To)
				}
				at = next
			}
		}
	})
}
