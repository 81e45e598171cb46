package explore

import (
	"fmt"
	"strings"
)

// History is a way through a model: a start and the inputs after it.
type History[I any] struct {
	Start  int    // place in Model.Start
	Law    string // the promise it is about: an invariant's name, Settles, NoPanic, or "" for all invariants
	Inputs []I
}

// Counterexample reports a broken promise by the shortest history that breaks
// it.
type Counterexample[S, I any] struct {
	Model string
	Req   string // of the invariant
	Why   error  // what the invariant said
	History[I]
	// States are passed on the way: the start, then one after each input. None
	// follows the last input if it was refused or panicked, and there is none
	// at all if a start panicked.
	States []S

	shown []string // the keys of States
}

// Error tells the history, a line for each input and the key it led to.
func (c *Counterexample[S, I]) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "explore: %s breaks %q%s after %s: %v", c.Model, c.Law, c.req(), count(len(c.Inputs), "input"), c.Why)
	for i, key := range c.shown {
		if i == 0 {
			fmt.Fprintf(&b, "\n  start %d: %s", c.Start, key)
		} else {
			fmt.Fprintf(&b, "\n  %d. %+v -> %s", i, c.Inputs[i-1], key)
		}
	}
	if n := len(c.Inputs); n > 0 && n == len(c.shown) {
		fmt.Fprintf(&b, "\n  %d. %+v", n, c.Inputs[n-1])
	}
	return b.String()
}

// req is Req as it stands in a sentence.
func (c *Counterexample[S, I]) req() string {
	if c.Req == "" {
		return ""
	}
	return " (" + c.Req + ")"
}

// count says n things.
func count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// Unwrap returns Why.
func (c *Counterexample[S, I]) Unwrap() error { return c.Why }

// Code is the error's wire name.
func (c *Counterexample[S, I]) Code() string { return "INVALID_STATE" }

// path is a history under way.
type path[S, I any, K comparable] struct {
	m      *Model[S, I, K]
	start  int
	inputs []I
	states []S
}

// last is the state it has come to.
func (p *path[S, I, K]) last() S { return p.states[len(p.states)-1] }

// broken tells p as the history that breaks a promise.
func (p *path[S, I, K]) broken(law, req string, why error) error {
	c := &Counterexample[S, I]{
		Model: p.m.Name, Req: req, Why: why, States: p.states,
		History: History[I]{Start: p.start, Law: law, Inputs: p.inputs},
	}
	for _, s := range p.states {
		c.shown = append(c.shown, fmt.Sprintf("%+v", p.m.Key(s)))
	}
	return c
}

// brokenAt tells the way to state n as the history that breaks a promise.
func (w *walk[S, I, K]) brokenAt(n uint32, law, req string, why error) error {
	p, err := w.path(n)
	if err != nil {
		return err
	}
	return p.broken(law, req, why)
}

// broken tells the way to the input being tried, and to what it led to, if
// anything, as the history that breaks a promise.
func (w *walk[S, I, K]) broken(law, req string, why error, to ...S) error {
	if !w.taken {
		p := path[S, I, K]{m: w.m, start: int(w.place)}
		return p.broken(law, req, why)
	}
	p, err := w.path(w.at)
	if err != nil {
		return err
	}
	if w.trying {
		p.inputs = append(p.inputs, w.in)
		p.states = append(p.states, to...)
	}
	return p.broken(law, req, why)
}

// path steps again from the start to state n.
func (w *walk[S, I, K]) path(n uint32) (*path[S, I, K], error) {
	var back []uint32 // the numbers from n to its start
	for at := n; at != noParent; at = w.parents[at].parent {
		back = append(back, at)
	}
	p := &path[S, I, K]{m: w.m, start: int(w.parents[back[len(back)-1]].place)}
	p.states = []S{w.m.Start[p.start]}
	for i := len(back) - 2; i >= 0; i-- {
		in, to, ok := w.again(p.last(), w.parents[back[i]].place)
		if !ok || w.index[w.m.Key(to)] != back[i] {
			return nil, &Drift{Model: w.m.Name, After: len(p.inputs)}
		}
		p.inputs = append(p.inputs, in)
		p.states = append(p.states, to)
	}
	return p, nil
}

// again steps from s by the input at place. It does not range over Inputs, as
// that panics if Inputs does not heed the end of the loop.
func (w *walk[S, I, K]) again(s S, place uint32) (in I, to S, ok bool) {
	at := uint32(0)
	w.m.Inputs(s)(func(next I) bool {
		if at == place {
			in, ok = next, true
		}
		at++
		return at <= place
	})
	if !ok {
		return in, to, false
	}
	to, err := w.m.Step(s, in)
	return in, to, err == nil
}
