package explore

import "fmt"

// KeyInvariant returns an invariant, "key keeps what decides", that finds a Key
// which hides too much: two states of one key that differ in what they accept,
// in where an input leads them, or in being stable. Such a key would cut off
// part of the walk without a word.
//
// It compares each state that a step leads to with the first of its key, one
// step ahead, inputs paired by place and required to agree in Event. So it is a
// test and no proof: what two states of one key do later can still differ. It
// keeps one S for each key and multiplies the steps by about twice the number
// of inputs, so it is for the small models of a family. The first states stay
// with the invariant: take a new one for each model, and replay its
// counterexamples on the model that was run.
func KeyInvariant[S, I any, K comparable](m Model[S, I, K]) Invariant[S, I] {
	first := map[K]S{}
	return Invariant[S, I]{
		Name: "key keeps what decides",
		State: func(s S) error {
			if _, ok := first[m.Key(s)]; !ok {
				first[m.Key(s)] = s
			}
			return nil
		},
		Check: func(_ S, _ I, to S) error {
			known, ok := first[m.Key(to)]
			if !ok {
				return nil // new; State comes after Check
			}
			return m.differ(known, to)
		},
	}
}

// differ reports an input that a and b, which have one key, answer differently.
func (m *Model[S, I, K]) differ(a, b S) error {
	if m.Stable != nil && m.Stable(a) != m.Stable(b) {
		return fmt.Errorf("of two states with the key %+v one is stable", m.Key(a))
	}
	as, bs := m.answers(a), m.answers(b)
	if len(as) != len(bs) {
		return fmt.Errorf("of two states with the key %+v one has %d inputs and the other %d", m.Key(a), len(as), len(bs))
	}
	for i, x := range as {
		if y := bs[i]; x.event != y.event || x.accepted != y.accepted || x.to != y.to {
			return fmt.Errorf("two states with the key %+v differ at input %d: %+v and %+v", m.Key(a), i+1, x, y)
		}
	}
	return nil
}

// answer is what a key must determine of one input.
type answer[K comparable] struct {
	event    string
	accepted bool
	to       K
}

// answers steps s by each of its inputs.
func (m *Model[S, I, K]) answers(s S) []answer[K] {
	var all []answer[K]
	for in := range m.Inputs(s) {
		var a answer[K]
		if m.Event != nil {
			a.event = m.Event(in)
		}
		if to, err := m.Step(s, in); err == nil {
			a.accepted, a.to = true, m.Key(to)
		}
		all = append(all, a)
	}
	return all
}
