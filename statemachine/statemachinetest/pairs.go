package statemachinetest

import (
	"iter"

	"github.com/ingotmetal/ingot/statemachine"
)

// Pairs yields every state with every event, in table order: what a matrix must
// speak of, guards aside.
func Pairs[S, E ~string](table *statemachine.Table[S, E]) iter.Seq2[S, E] {
	return func(yield func(S, E) bool) {
		for st := range table.States() {
			for on := range table.Events() {
				if !yield(st.Name, on) {
					return
				}
			}
		}
	}
}

// valuations yields every combination of the guards in used that the OneOf
// groups allow. It is written apart from the engine's, so that the engine's
// can be doubted.
func valuations(groups []statemachine.Guard, used statemachine.Guard) iter.Seq[statemachine.Guard] {
	return func(yield func(statemachine.Guard) bool) {
		for g := statemachine.Guard(0); ; {
			if allowed(groups, used, g) && !yield(g) {
				return
			}
			if g == used {
				return
			}
			g = (g - used) & used // the next subset, in counting order
		}
	}
}

// allowed reports whether g can be extended, outside used, to exactly one
// guard of each group. A group that used does not cover may still be settled there.
func allowed(groups []statemachine.Guard, used, g statemachine.Guard) bool {
	for _, group := range groups {
		in := g & group
		one := in != 0 && in&(in-1) == 0
		later := in == 0 && group&^used != 0
		if !one && !later {
			return false
		}
	}
	return true
}
