package explore

import "fmt"

// KeyInvariant returns an invariant, "key keeps what decides", that finds a Key
// which hides too much: two states of one key that differ in what they accept,
// in where an input leads them, or in being stable. Such a key would cut off
// part of the walk without a word.
//
// It compares each state reached with the first of its key, one step ahead. So
// it is a test and no proof, keeps one S for each key in memory, and makes a
// run slower by the number of inputs twice over: it is for the small models of
// a family. Inputs are paired by their place, and must agree in Event.
func KeyInvariant[S, I any, K comparable](m Model[S, I, K]) Invariant[S, I] {
	first := map[K]S{}
	compare := func(s S) error {
		k := m.Key(s)
		known, ok := first[k]
		if !ok {
			first[k] = s
			return nil
		}
		if m.Stable != nil && m.Stable(known) != m.Stable(s) {
			return fmt.Errorf("of two states with the key %+v one is stable", k)
		}
		return m.differ(known, s)
	}
	return Invariant[S, I]{
		Name:  "key keeps what decides",
		State: compare, // registers the starts; a later state comes through Check as well
		Check: func(_ S, _ I, to S) error { return compare(to) },
	}
}

// differ reports an input that a and b, which have one key, answer differently.
func (m *Model[S, I, K]) differ(a, b S) error {
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
