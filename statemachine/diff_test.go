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

type pumpSpec = statemachine.Spec[pump.State, pump.On]

// Each change of the pump, and the lines that must tell it: no more.
var changes = []struct {
	name   string
	change func(*pumpSpec)
	want   []string
}{
	{"nothing", func(*pumpSpec) {}, nil},
	{"reasons and meanings", func(s *pumpSpec) { s.Rules[5].Why, s.States[1].Means = "no", "rests" }, nil},
	{"the name of the machine", func(s *pumpSpec) { s.Name = "well" }, nil},
	{"the order of rules", func(s *pumpSpec) { s.Rules[2], s.Rules[4] = s.Rules[4], s.Rules[2] }, nil},
	{"a default that is written out", func(s *pumpSpec) {
		s.Rules[1].From = statemachine.In(pump.Idle, pump.Filling, pump.Draining, pump.Serving, pump.Broken)
	}, nil},

	{"outcome", func(s *pumpSpec) { s.Rules[14].To = pump.Broken }, []string{
		`filling, failed, always: "to idle, as a report, ends as failed, by PUMP-6", now "to broken, as a report, ends as failed, by PUMP-6"`,
		`draining, failed, always: "to idle, as a report, ends as failed, by PUMP-6", now "to broken, as a report, ends as failed, by PUMP-6"`}},
	{"code", func(s *pumpSpec) { s.Rules[3].Refuse = statemachine.Unavailable }, []string{
		`idle, fill, dry, not primed: "CONFLICT, by PUMP-2", now "UNAVAILABLE, by PUMP-2"`}},
	{"requirement", func(s *pumpSpec) { s.Rules[6].Req = "" }, []string{
		`filling, filled, always: "to draining, as a report, ends as filled, by PUMP-4", now "to draining, as a report, ends as filled"`}},
	{"end", func(s *pumpSpec) { s.Rules[20].Ends = pump.Flushed }, []string{
		`serving, timeout, always: "to serving, ends as failed, by PUMP-8", now "to serving, ends as flushed, by PUMP-8"`}},
	{"deadline of a rule", func(s *pumpSpec) { s.Rules[10].Opens = time.Minute }, []string{
		`serving, flush, always: "to serving, opens 30s, by PUMP-5", now "to serving, opens 1m0s, by PUMP-5"`}},
	{"memory", func(s *pumpSpec) { s.Rules[23].Forget = true }, []string{
		`broken, scrap, always: "to broken, by PUMP-9", now "to broken, forgets, by PUMP-9"`}},
	{"condition", func(s *pumpSpec) {
		s.Rules[2].When.If |= pump.Wet
		s.Rules[3].When.Not, s.Rules[4].When.Not = 0, pump.Primed
	}, []string{
		`idle, fill, primed: "to filling, by PUMP-2", now ""`,
		`idle, fill, dry, not primed: "CONFLICT, by PUMP-2", now ""`,
		`idle, fill, primed, wet: "", now "to filling, by PUMP-2"`,
		`idle, fill, dry: "", now "CONFLICT, by PUMP-2"`}},

	{"kind", func(s *pumpSpec) { s.States[5].Kind = statemachine.Stable }, []string{
		`broken: "terminal, drives none, holds {}", now "stable, drives none, holds {}"`}},
	{"deadline", func(s *pumpSpec) { s.States[2].Deadline = time.Hour }, []string{
		`filling: "in-flight, drives power, holds {level,filter}, expires by timeout after 10m0s", now "in-flight, drives power, holds {level,filter}, expires by timeout after 1h0m0s"`}},
	{"what is driven, what is held", func(s *pumpSpec) { s.States[1].Drives, s.States[1].Holds = statemachine.Disks, 0 }, []string{
		`idle: "stable, drives none, holds {filter}", now "stable, drives disks, holds {}"`}},
	{"start", func(s *pumpSpec) { s.Start = append(s.Start, pump.Idle) }, []string{
		`idle: "stable, drives none, holds {filter}", now "stable, drives none, holds {filter}, start"`}},
}

func TestDiffTellsEachChange(t *testing.T) {
	for _, tc := range changes {
		t.Run(tc.name, func(t *testing.T) {
			spec := pump.Spec()
			tc.change(&spec)
			var got []string
			for _, c := range statemachine.Diff(pump.Table(), statemachine.Must(spec)) {
				if c.Strands() {
					t.Errorf("it strands records: %s", c)
				}
				got = append(got, c.String())
			}
			if !slices.Equal(got, tc.want) {
				t.Errorf("got  %q\nwant %q", got, tc.want)
			}
		})
	}
}

// ring is a table in which "go" leads around all states, and "stop" refuses.
func ring(start string, kinds map[string]statemachine.Kind, events ...string) *statemachine.Table[string, string] {
	s := plain{Name: "ring", Start: []string{start}}
	var states []string
	for name, kind := range kinds {
		states = append(states, name)
		s.States = append(s.States, statemachine.State[string, string]{Name: name, Kind: kind})
	}
	slices.Sort(states)
	for i, from := range states {
		s.Rules = append(s.Rules, plainRule{On: "go", From: []string{from}, To: states[(i+1)%len(states)]})
	}
	for _, on := range events {
		s.Rules = append(s.Rules, plainRule{On: on, Refuse: statemachine.Denied, Why: "never"})
	}
	return statemachine.Must(s)
}

// A state that is gone strands its records; an absent one has none. Its cells
// go without a word, and so do those of a new state.
func TestDiffTellsWhoIsStranded(t *testing.T) {
	stable, absent := statemachine.Stable, statemachine.Absent
	for _, tc := range []struct {
		name    string
		gone    statemachine.Kind
		strands bool
	}{{"stable", stable, true}, {"absent", absent, false}} {
		old := ring("a", map[string]statemachine.Kind{"a": stable, "b": stable, "c": tc.gone})
		new := ring("a", map[string]statemachine.Kind{"a": stable, "b": stable, "d": stable})
		var gone, added, cells int
		for _, c := range statemachine.Diff(old, new) {
			switch {
			case c.On != "":
				cells++
				if c.State != "b" || c.Old != "to c" || c.New != "to d" {
					t.Errorf("%s: %s", tc.name, c)
				}
			case c.New == "":
				gone++
				if c.State != "c" || c.Strands() != tc.strands {
					t.Errorf("%s: %s strands: %v", tc.name, c, c.Strands())
				}
			case c.Old == "" && c.State == "d" && !c.Strands():
				added++
			}
		}
		if gone != 1 || added != 1 || cells != 1 {
			t.Errorf("%s: %d gone, %d added, %d cells", tc.name, gone, added, cells)
		}
	}
}

// A new event is new in every state, and one that is gone is gone from every
// state; neither strands anyone.
func TestDiffTellsEvents(t *testing.T) {
	kinds := map[string]statemachine.Kind{"a": statemachine.Stable, "b": statemachine.Stable}
	old, new := ring("a", kinds, "stop"), ring("a", kinds, "halt")
	want := []string{`a, stop, always: "ACCESS_DENIED", now ""`, `b, stop, always: "ACCESS_DENIED", now ""`,
		`a, halt, always: "", now "ACCESS_DENIED"`, `b, halt, always: "", now "ACCESS_DENIED"`}
	var got []string
	for _, c := range statemachine.Diff(old, new) {
		if got = append(got, c.String()); c.Strands() {
			t.Errorf("stranded: %s", c)
		}
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
}

// decision is all that a spec's rules decide for one valuation, found by the
// twin.
func decision(w twin, from, on string, holds statemachine.Guard) plainRule {
	r := w.rule(from, on, holds)
	if r.Stay || r.Refuse != "" {
		r.To = from
	}
	if ends := slices.Contains(w.spec.Reports, on) && r.Ends == "" && !r.Stay && r.Refuse == ""; ends {
		r.Ends = on
	}
	return plainRule{To: r.To, Refuse: r.Refuse, Opens: r.Opens, Ends: r.Ends, Forget: r.Forget, Req: r.Req}
}

// Whatever happens to a drawn spec: if its table now decides anything
// otherwise, the diff says so, of that very pair; turned around it says the
// same, turned around.
func TestDiffMissesNothing(t *testing.T) {
	for name, damage := range damages {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				was := draw(t)
				old := statemachine.Must(was)
				is := old.Spec()
				if !damage(t, &is) {
					return
				}
				new, err := statemachine.New(is)
				if err != nil {
					return
				}
				told := map[[2]string]bool{}
				for _, c := range statemachine.Diff(old, new) {
					told[[2]string{c.State, c.On}] = true
				}
				left := slices.Collect(new.Events())
				for from, on := range pairs(old) {
					if !slices.Contains(left, on) {
						if !told[[2]string{from, on}] {
							t.Fatalf("%s is gone from %s, untold", on, from)
						}
						continue
					}
					for _, g := range everyValuation() {
						a, b := decision(twin{was}, from, on, g), decision(twin{is}, from, on, g)
						if fmt.Sprint(a) != fmt.Sprint(b) && !told[[2]string{from, on}] {
							t.Fatalf("%s, %s, %b: %+v, now %+v, untold", from, on, g, a, b)
						}
					}
				}
				turned(t, old, new)
			})
		})
	}
}

// pairs are the states of a table, each with every event.
func pairs(table *statemachine.Table[string, string]) func(func(string, string) bool) {
	return func(yield func(string, string) bool) {
		for st := range table.States() {
			for on := range table.Events() {
				if !yield(st.Name, on) {
					return
				}
			}
		}
	}
}

// turned demands that the diff of new and old mirrors that of old and new.
func turned(t *rapid.T, old, new *statemachine.Table[string, string]) {
	there, back := statemachine.Diff(old, new), statemachine.Diff(new, old)
	for _, c := range there {
		c.Old, c.New = c.New, c.Old
		if !slices.Contains(back, c) {
			t.Fatalf("%s is not in the diff back", c)
		}
	}
	if len(there) != len(back) {
		t.Fatalf("%d changes there, %d back", len(there), len(back))
	}
}
