package statemachine_test

import (
	"slices"
	"testing"

	"github.com/ingotmetal/ingot/statemachine"
	"pgregory.net/rapid"
)

// damages are what may happen to a spec in an editor. Each reports whether it
// could be done.
var damages = map[string]func(*rapid.T, *plain) bool{
	"drop a rule": func(t *rapid.T, s *plain) bool {
		n := pick(t, s)
		s.Rules = slices.Delete(s.Rules, n, n+1)
		return true
	},
	"double a rule": func(t *rapid.T, s *plain) bool {
		s.Rules = append(s.Rules, s.Rules[pick(t, s)])
		return true
	},
	"drop a condition": func(t *rapid.T, s *plain) bool {
		r := &s.Rules[pick(t, s)]
		was := r.When
		r.When = when{}
		return was != when{}
	},
	"turn a condition": func(t *rapid.T, s *plain) bool {
		r := &s.Rules[pick(t, s)]
		r.When.If, r.When.Not = r.When.Not, r.When.If
		return r.When.If != r.When.Not
	},
	"drop a state from a rule": func(t *rapid.T, s *plain) bool {
		r := &s.Rules[pick(t, s)]
		if len(r.From) < 2 {
			return false
		}
		r.From = r.From[1:]
		return true
	},
	"make a default of a rule": func(t *rapid.T, s *plain) bool {
		r := &s.Rules[pick(t, s)]
		was := r.From
		r.From = nil
		return was != nil
	},
	"lead elsewhere": func(t *rapid.T, s *plain) bool {
		r := &s.Rules[pick(t, s)]
		r.To = s.States[0].Name
		return !r.Stay && r.Refuse == ""
	},
}

func pick(t *rapid.T, s *plain) int { return rapid.IntRange(0, len(s.Rules)-1).Draw(t, "rule") }

// Whatever becomes of a spec, New refuses it, or the table it makes is total
// and agrees with the rules.
func TestDamagedSpecIsRefusedOrTotal(t *testing.T) {
	for name, damage := range damages {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				s := draw(t)
				if !damage(t, &s) {
					return
				}
				table, err := statemachine.New(s)
				if err != nil {
					return
				}
				for st := range table.States() {
					for on := range table.Events() {
						for _, holds := range everyValuation() {
							agreeOnce(t, twin{s}, table, st.Name, on, holds)
						}
					}
				}
			})
		})
	}
}

// agreeOnce is agree, and demands that one rule alone decides.
func agreeOnce(t *rapid.T, w twin, table *statemachine.Table[string, string], from, on string, holds statemachine.Guard) {
	agree(t, w, table, from, on, holds)
	n, named := 0, slices.ContainsFunc(w.spec.Rules, func(r plainRule) bool { return r.On == on && slices.Contains(r.From, from) })
	for _, r := range w.spec.Rules {
		if r.On == on && r.When.Holds(holds) && (slices.Contains(r.From, from) || !named && r.From == nil) {
			n++
		}
	}
	if n != 1 {
		t.Fatalf("%s, %s, %b: %d rules decide it", from, on, holds, n)
	}
}

// A rule that is there twice is never taken for one.
func TestDoubledRuleIsAlwaysRefused(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := draw(t)
		s.Rules = append(s.Rules, s.Rules[pick(t, &s)])
		if _, err := statemachine.New(s); err == nil {
			t.Fatalf("rule %d decides what another decides", len(s.Rules)-1)
		}
	})
}
