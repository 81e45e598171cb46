package explore

import "fmt"

// graph holds the accepted System steps between different states: those of
// state n lead to the numbers to[first[n]:first[n+1]].
type graph struct {
	first []int
	to    []uint32
	marks []mark // by state number
}

// mark is a set of what is known of a state.
type mark uint8

const (
	stable   mark = 1 << iota // the model calls it stable
	hopeful                   // System steps can lead to a stable state
	restless                  // not stable, in a bottom component
	closed                    // its component is complete
)

// state adds the next state in number.
func (g *graph) state(isStable bool) {
	var m mark
	if isStable {
		m = stable
	}
	g.marks = append(g.marks, m)
}

// begin starts the steps of the next state in number.
func (g *graph) begin() { g.first = append(g.first, len(g.to)) }

// add notes a step of the state begun last.
func (g *graph) add(to uint32) { g.to = append(g.to, to) }

// steps returns where the steps of n lead.
func (g *graph) steps(n uint32) []uint32 { return g.to[g.first[n]:g.first[n+1]] }

// settle judges liveness once the walk has closed. A state without hope comes
// before one that is only restless, since it is the plainer fault; of either kind
// the one nearest to the start is told.
func (w *walk[S, I, K]) settle() error {
	if w.m.Stable == nil {
		return nil
	}
	w.graph.begin() // where the steps of the last state end
	w.graph.judge()
	if n, all := w.graph.count(0, hopeful); all > 0 {
		return w.brokenAt(n, Settles, "", fmt.Errorf("from here no System input leads to a stable state, ever; %s like it", count(all, "state")))
	}
	if n, all := w.graph.count(restless, restless); all > 0 {
		return w.brokenAt(n, Settles, "", fmt.Errorf("from here System inputs lead to stable states, but always back; %s like it", count(all, "state")))
	}
	return nil
}

// count returns how many states have want among the marks of mask, and the
// first of them.
func (g *graph) count(want, mask mark) (first uint32, all int) {
	for i := len(g.marks) - 1; i >= 0; i-- {
		if g.marks[i]&mask == want {
			first = uint32(i)
			all++
		}
	}
	return first, all
}

// judge marks each state as hopeful or not, and as restless or not.
//
// It is Tarjan's algorithm (Depth-first search and linear graph algorithms,
// SIAM J. Comput. 1972) without recursion. It completes a component only after
// all those that the component leads to, so hope is known by then.
func (g *graph) judge() {
	t := tarjan{graph: g, order: make([]uint32, len(g.marks)), low: make([]uint32, len(g.marks))}
	for n := range g.marks {
		if t.order[n] == 0 {
			t.visit(uint32(n))
		}
	}
}

// tarjan is the state of the search.
type tarjan struct {
	*graph
	order []uint32 // of the visit, from 1; 0 is not visited
	low   []uint32 // the earliest order known to be reached inside the component
	count uint32
	open  []uint32 // visited, component not complete
	calls []call
}

// call is what recursion would keep on the stack: a state, and the step of it
// that is looked at next.
type call struct {
	n    uint32
	step int
}

// visit searches from root.
func (t *tarjan) visit(root uint32) {
	t.enter(root)
	for len(t.calls) > 0 {
		top := &t.calls[len(t.calls)-1]
		if top.step == t.first[top.n+1] {
			t.leave(top.n)
			continue
		}
		to := t.to[top.step]
		top.step++
		switch {
		case t.order[to] == 0:
			t.enter(to)
		case t.marks[to]&closed == 0:
			t.low[top.n] = min(t.low[top.n], t.order[to])
		}
	}
}

// enter opens n.
func (t *tarjan) enter(n uint32) {
	t.count++
	t.order[n], t.low[n] = t.count, t.count
	t.open = append(t.open, n)
	t.calls = append(t.calls, call{n, t.first[n]})
}

// leave returns from n to the state it was entered from, and completes n's
// component if n is the first state visited of it.
func (t *tarjan) leave(n uint32) {
	t.calls = t.calls[:len(t.calls)-1]
	if t.low[n] == t.order[n] {
		t.complete(n)
		return
	}
	// Not the first, so some state it was entered from is still open.
	above := t.calls[len(t.calls)-1].n
	t.low[above] = min(t.low[above], t.low[n])
}

// complete marks the component whose first visited state is root: the open
// states from root on.
func (t *tarjan) complete(root uint32) {
	from := len(t.open) - 1
	for t.open[from] != root {
		from--
	}
	members := t.open[from:]
	t.open = t.open[:from]

	var found mark // stable, if a member is; hopeful, if a step out is
	bottom := true
	for _, n := range members {
		found |= t.marks[n] & stable
		for _, to := range t.steps(n) {
			if t.marks[to]&closed != 0 {
				bottom = false
				found |= t.marks[to] & hopeful
			}
		}
	}
	for _, n := range members {
		t.marks[n] |= closed
		if found != 0 {
			t.marks[n] |= hopeful
		}
		if bottom && t.marks[n]&stable == 0 {
			t.marks[n] |= restless
		}
	}
}
