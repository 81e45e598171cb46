package explore

import (
	"errors"
	"fmt"
	"iter"
)

// Replay takes h through m and returns the states passed, the start first. It
// asks the invariant that h.Law names, or all.
//
// The error is a *[Counterexample] for a promise broken on the way, a
// *[Refused] for an input that the machine no longer accepts, or an *[Invalid].
// With the law [Settles] it walks on from the last state by System inputs
// alone, under the default limits. A panic of the model is not caught.
func Replay[S, I any, K comparable](m Model[S, I, K], h History[I]) ([]S, error) {
	if err := m.validate(); err != nil {
		return nil, err
	}
	if err := m.only(h.Law); err != nil {
		return nil, err
	}
	if h.Start < 0 || h.Start >= len(m.Start) {
		return nil, &Invalid{Model: m.Name, Why: fmt.Errorf("no start %d: there are %d", h.Start, len(m.Start))}
	}
	p := &path[S, I, K]{m: &m, start: h.Start, states: []S{m.Start[h.Start]}}
	err := p.arrive()
	for i := 0; i < len(h.Inputs) && err == nil; i++ {
		err = p.step(h.Inputs[i], len(h.Inputs))
	}
	if err == nil && h.Law == Settles {
		err = p.settles()
	}
	return p.states, err
}

// Retell is Replay for a test that keeps a mended fault mended: it is also
// content if the last input is refused, as that is how most faults are mended.
// A refusal before the last is an error, because the history then shows
// nothing.
func Retell[S, I any, K comparable](m Model[S, I, K], h History[I]) error {
	_, err := Replay(m, h)
	if r, ok := errors.AsType[*Refused](err); ok && r.At == r.Of {
		return nil
	}
	return err
}

// step takes one more input of a history that is of inputs long.
func (p *path[S, I, K]) step(in I, of int) error {
	from := p.last()
	to, refused := p.m.Step(from, in)
	p.inputs = append(p.inputs, in)
	if refused != nil {
		if v, why := p.m.checkRefusal(from, in, refused); why != nil {
			return p.broken(v.Name, v.Req, why)
		}
		return &Refused{Model: p.m.Name, At: len(p.inputs), Of: of, Why: refused}
	}
	p.states = append(p.states, to)
	if v, why := p.m.checkStep(from, in, to); why != nil {
		return p.broken(v.Name, v.Req, why)
	}
	return p.arrive()
}

// arrive checks the state come to.
func (p *path[S, I, K]) arrive() error {
	if v, why := p.m.checkState(p.last()); why != nil {
		return p.broken(v.Name, v.Req, why)
	}
	return nil
}

// settles checks that the state come to, left to System inputs, comes to rest.
func (p *path[S, I, K]) settles() error {
	if p.m.Stable == nil {
		return &Invalid{Model: p.m.Name, Why: errors.New("without Stable nothing settles")}
	}
	alone := Model[S, I, K]{
		Name: p.m.Name, Start: []S{p.last()}, Step: p.m.Step, Key: p.m.Key,
		Stable: p.m.Stable, Held: p.m.Held,
		Inputs: func(s S) iter.Seq[I] { return p.m.system(s) },
	}
	_, err := Run(alone, Limits{})
	if c, ok := errors.AsType[*Counterexample[S, I]](err); ok {
		return p.broken(Settles, "", c.Why)
	}
	return err
}

// system yields the System inputs among those of s.
func (m *Model[S, I, K]) system(s S) iter.Seq[I] {
	return func(yield func(I) bool) {
		for in := range m.Inputs(s) {
			if m.class(in) == System && !yield(in) {
				return
			}
		}
	}
}
