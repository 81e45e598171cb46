package statemachine_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ingotmetal/ingot/statemachine"
	"github.com/ingotmetal/ingot/statemachine/internal/pump"
)

type (
	spec = statemachine.Spec[pump.State, pump.On]
	rule = statemachine.Rule[pump.State, pump.On]
	when = statemachine.When
)

// planted has one fault a case: a change of the pump, and the finding that
// New must make of it.
var planted = []struct {
	name   string
	change func(*spec)
	want   string
}{
	{"no name", func(s *spec) { s.Name = "" }, "the machine's name is empty"},
	{"long name", func(s *spec) { s.Name = strings.Repeat("x", 65) }, "the machine's name is empty or over 64 bytes"},
	{"no states", func(s *spec) { s.States = nil }, "0 states and 28 rules: want 1 to 200"},
	{"no rules", func(s *spec) { s.Rules = nil }, "6 states and 0 rules"},
	{"too many states", manyStates, "207 states and 28 rules"},
	{"too many rules", manyRules, "2001 rules"},
	{"too many events", manyEvents, "201 events: at most 200"},
	{"too many guards", manyGuards, "33 guards: at most 32"},
	{"too many fields", func(s *spec) { s.Fields = many("f", 33) }, "33 fields: at most 32"},

	{"empty guard", func(s *spec) { s.Guards[0] = "" }, `guard "" is empty`},
	{"guard twice", func(s *spec) { s.Guards[0] = "wet" }, `guard "wet" is empty, over 64 bytes or declared twice`},
	{"field twice", func(s *spec) { s.Fields[1] = "level" }, `field "level" is empty, over 64 bytes or declared twice`},
	{"long field", func(s *spec) { s.Fields[1] = strings.Repeat("f", 65) }, "over 64 bytes"},
	{"state twice", func(s *spec) { s.States[1].Name = pump.None }, `state "none" is empty, over 64 bytes or declared twice`},
	{"empty state", func(s *spec) { s.States[1].Name = "" }, `state "" is empty`},
	{"report twice", func(s *spec) { s.Reports[1] = pump.Filled }, `report "filled" is empty, over 64 bytes or declared twice`},
	{"start twice", func(s *spec) { s.Start = []pump.State{"none", "none"} }, `start state "none" is empty, over 64 bytes or declared twice`},
	{"unknown report", func(s *spec) { s.Reports[0] = "full" }, `report names the event "full", which no rule decides`},
	{"unknown start", func(s *spec) { s.Start[0] = "nowhere" }, `start names the unknown state "nowhere"`},
	{"no start", func(s *spec) { s.Start = nil }, "no start state"},

	{"two absent states", func(s *spec) { s.States[5].Kind = statemachine.Absent }, "2 absent states: at most one"},
	{"absent holds", func(s *spec) { s.States[0].Holds = pump.Level }, "absent none holds fields or drives actuators"},
	{"absent drives", func(s *spec) { s.States[0].Drives = statemachine.Disks }, "absent none holds fields or drives actuators"},
	{"unknown field", func(s *spec) { s.States[1].Holds = 4 }, "idle holds a field that is not declared"},
	{"unknown actuator", func(s *spec) { s.States[1].Drives = 8 }, "idle drives an actuator that does not exist"},
	{"no kind", func(s *spec) { s.States[1].Kind = 0 }, "idle has no kind"},
	{"wild kind", func(s *spec) { s.States[1].Kind = 5 }, "idle has no kind"},
	{"no deadline", func(s *spec) { s.States[2].Deadline = 0 }, "in-flight filling needs an expiry event and a deadline"},
	{"negative deadline", func(s *spec) { s.States[2].Deadline = -1 }, "in-flight filling needs an expiry event and a deadline"},
	{"long deadline", func(s *spec) { s.States[2].Deadline = statemachine.MaxDeadline + 1 }, "a deadline of at most 720h0m0s"},
	{"no expiry", func(s *spec) { s.States[2].Expire = "" }, "in-flight filling needs an expiry event and a deadline"},
	{"stable deadline", func(s *spec) { s.States[1].Deadline = time.Hour }, "stable idle has a deadline"},
	{"unknown expiry", func(s *spec) { s.States[2].Expire = "late" }, `expiry names the event "late", which no rule decides`},

	{"no event", func(s *spec) { s.Rules[0].On = "" }, "rule 0: the event is empty or over 64 bytes"},
	{"no outcome", func(s *spec) { s.Rules[0].To = "" }, "rule 0 (install): exactly one of To, Stay, Refuse must be set"},
	{"two outcomes", func(s *spec) { s.Rules[0].Stay = true }, "rule 0 (install): exactly one of To, Stay, Refuse must be set"},
	{"no reason", func(s *spec) { s.Rules[5].Why = "" }, "rule 5 (fill) refuses without a reason"},
	{"no such code", func(s *spec) { s.Rules[5].Refuse = "BAD_STATE" }, `rule 5 (fill) refuses with "BAD_STATE", which is no code`},
	{"refusal opens", func(s *spec) { s.Rules[5].Opens = 1 }, "rule 5 (fill) refuses and has effects"},
	{"refusal ends", func(s *spec) { s.Rules[5].Ends = pump.Failed }, "rule 5 (fill) refuses and has effects"},
	{"refusal forgets", func(s *spec) { s.Rules[5].Forget = true }, "rule 5 (fill) refuses and has effects"},
	{"contradiction", func(s *spec) { s.Rules[2].When = when{If: 3, Not: 1} }, "rule 2 (fill) contradicts itself: {primed} must hold and not hold"},
	{"unknown guard", func(s *spec) { s.Rules[2].When.If = 8 }, "rule 2 (fill) uses a guard that is not declared"},
	{"guarded by 13", func(s *spec) { s.Guards = many("g", 13); s.Rules[2].When.If = 1<<13 - 1 }, "rule 2 (fill) uses more than 12 guards"},
	{"from nowhere", func(s *spec) { s.Rules[0].From[0] = "nowhere" }, `rule names the unknown state "nowhere"`},
	{"to nowhere", func(s *spec) { s.Rules[0].To = "nowhere" }, `rule names the unknown state "nowhere"`},
	{"from twice", func(s *spec) { s.Rules[0].From = []pump.State{"none", "none"} }, "rule 0 (install) names none twice"},
	{"opens too long", func(s *spec) { s.Rules[10].Opens = statemachine.MaxDeadline + 1 }, "rule 10 (flush) opens an attempt for 720h0m0.000000001s"},
	{"opens in the past", func(s *spec) { s.Rules[10].Opens = -1 }, "rule 10 (flush) opens an attempt for -1ns"},
	{"ends as no report", func(s *spec) { s.Rules[12].Ends = pump.Stop }, "rule 12 (flushed) ends an attempt as stop, which is no report"},
	{"group of one", func(s *spec) { s.OneOf[0] = pump.Wet }, "a OneOf group needs two or more declared guards"},
	{"group of strangers", func(s *spec) { s.OneOf[0] = 24 }, "a OneOf group needs two or more declared guards"},
	{"groups overlap", func(s *spec) { s.OneOf = append(s.OneOf, pump.Wet|pump.Primed) }, "two OneOf groups share {wet}"},

	{"no rule", func(s *spec) { s.Rules = s.Rules[:len(s.Rules)-1] }, "remove in filling is undecided"},
	{"no rule for a valuation", func(s *spec) { s.Rules[3].When.If = pump.Wet | pump.Dry }, "fill in idle: 0 rules apply when {dry} holds"},
	{"two rules for a valuation", func(s *spec) { s.Rules[2].When.If = 0 }, "fill in idle: 2 rules apply when {dry} holds"},
	{"two defaults", func(s *spec) { s.Rules = append(s.Rules, rule{On: pump.Fill, Stay: true}) }, "fill in none: 2 rules apply when {} holds"},
	{"cell of 13 guards", wideCell, "fill in idle: its rules use 13 guards; at most 12 can be tried"},
	{"dead default", func(s *spec) {
		s.Rules[1].From = []pump.State{"idle", "filling", "draining", "serving", "broken"}
		s.Rules = append(s.Rules, rule{On: pump.Install, Stay: true})
	}, "rule 28 (install) decides no cell"},
	{"rule from no state", func(s *spec) { s.Rules = append(s.Rules, rule{On: pump.Fill, From: []pump.State{}, Stay: true}) }, "rule 28 (fill) decides no cell"},
	{"rule for the impossible", func(s *spec) {
		s.Rules = append(s.Rules, rule{On: pump.Fill, From: []pump.State{"idle"}, When: when{Not: pump.Wet | pump.Dry | pump.Primed}, Stay: true})
	}, "rule 28 (fill) decides no cell"},

	{"unreachable", func(s *spec) { s.Rules[6].To = pump.Idle }, "draining is unreachable"},
	{"terminal with a way out", func(s *spec) { s.Rules[23].Stay, s.Rules[23].To = false, pump.Idle }, "terminal broken has a way out to idle"},
	{"no way out", func(s *spec) {
		s.States[5].Kind = statemachine.Stable
		s.Rules[25].From = []pump.State{"idle"}
	}, "broken has no way out; declare it Terminal"},
	{"expiry stays", func(s *spec) { s.Rules[19].Stay, s.Rules[19].To, s.Rules[19].Ends = true, "", "" }, "timeout does not end the attempt in filling when always"},
	{"expiry refuses", func(s *spec) { s.Rules[19].From = s.Rules[19].From[:1] }, "timeout does not end the attempt in draining when always"},
	{"expiry keeps a stable attempt", func(s *spec) { s.Rules[20].Ends = "" }, "timeout does not end the attempt in serving when always"},
	{"expiry opens anew", func(s *spec) { s.Rules[20].Opens = time.Minute }, "timeout does not end the attempt in serving when always"},
	{"opens in flight", func(s *spec) { s.Rules[2].Opens = time.Minute }, "filling opens its own attempt; a rule must not"},
	{"opens at the end", func(s *spec) { s.Rules[23].Opens = time.Minute }, "an attempt is opened in broken, which is terminal"},
	{"opens without expiry", func(s *spec) { s.States[4].Expire = "" }, "an attempt is opened in serving, which has no expiry event"},
	{"expiry without attempt", func(s *spec) { s.Rules[10].Opens = 0 }, "stable serving has an expiry event and no rule that opens an attempt"},
	{"in flight to itself", func(s *spec) {
		s.Rules = append(s.Rules, rule{On: pump.Fill, From: []pump.State{"filling"}, To: pump.Filling})
	}, "rule 28 (fill) moves in-flight filling to itself, which opens no attempt; use Stay"},
	{"in flight without attempt", func(s *spec) { s.Rules[17].From = s.Rules[17].From[2:]; s.Rules[18].Ends = pump.Failed }, "rule 18 (stop) ends the attempt in filling and stays there"},
	{"report without attempt", func(s *spec) { s.Rules[9].Refuse, s.Rules[9].Stay = "", true }, "rule 9 accepts the report drained in none, which never holds an attempt"},
	{"in flight forgets", func(s *spec) { s.Rules[1].Forget = true }, "rule 1 (install) ends the attempt in filling and stays there"},
	{"field without a state", func(s *spec) { s.Fields = append(s.Fields, "rust") }, "no state holds the field rust"},
}

func many(prefix string, n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = fmt.Sprint(prefix, i)
	}
	return out
}

func manyStates(s *spec) {
	for _, name := range many("s", statemachine.MaxStates+1) {
		s.States = append(s.States, statemachine.State[pump.State, pump.On]{Name: pump.State(name), Kind: statemachine.Stable})
	}
}

func manyRules(s *spec) {
	for len(s.Rules) <= statemachine.MaxRules {
		s.Rules = append(s.Rules, rule{On: pump.Stop, Stay: true})
	}
}

func manyEvents(s *spec) {
	for _, on := range many("e", statemachine.MaxEvents+1-11) {
		s.Rules = append(s.Rules, rule{On: pump.On(on), Stay: true})
	}
}

func manyGuards(s *spec) { s.Guards = append(s.Guards, many("g", 30)...) }

// wideCell splits a cell by more guards than New can try, few a rule.
func wideCell(s *spec) {
	s.Guards = append(s.Guards, many("g", 10)...)
	s.Rules[2].When.If |= 0x7f << 3
	s.Rules[4].When.Not |= 0x380 << 3
}

func TestNewFindsPlantedFaults(t *testing.T) {
	for _, tc := range planted {
		t.Run(tc.name, func(t *testing.T) {
			s := pump.Spec()
			tc.change(&s)
			table, err := statemachine.New(s)
			bad, ok := errors.AsType[*statemachine.SpecError](err)
			if !ok || table != nil {
				t.Fatalf("New accepted it: %v", err)
			}
			if !strings.Contains(bad.Error(), tc.want) {
				t.Errorf("found %q\nwant  %q", bad.Findings, tc.want)
			}
			if bad.Code() != "INVALID_INPUT" {
				t.Errorf("code %s", bad.Code())
			}
		})
	}
}

// Many faults are told at once, so that a spec is not mended one run a fault.
func TestNewTellsEveryFinding(t *testing.T) {
	s := pump.Spec()
	s.Name, s.Start = "", nil
	_, err := statemachine.New(s)
	if bad, ok := errors.AsType[*statemachine.SpecError](err); !ok || len(bad.Findings) != 2 {
		t.Errorf("got %v, want two findings", err)
	}
}

// What New keeps is its own: a caller may go on changing its slices.
func TestNewCopiesTheSpec(t *testing.T) {
	s := pump.Spec()
	table := statemachine.Must(s)
	s.Rules[0].From[0], s.States[0].Name, s.Guards[0] = "x", "x", "x"
	given := table.Spec()
	given.Rules[0].From[0], given.States[0].Name, given.Guards[0] = "y", "y", "y"
	again := table.Spec()
	if again.Rules[0].From[0] != pump.None || again.States[0].Name != pump.None || again.Guards[0] != "primed" {
		t.Errorf("the table follows its spec: %+v", again.Rules[0])
	}
}

func TestMustPanics(t *testing.T) {
	defer func() {
		if _, ok := recover().(*statemachine.SpecError); !ok {
			t.Error("no *SpecError")
		}
	}()
	statemachine.Must(spec{})
}
