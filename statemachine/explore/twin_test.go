package explore_test

import (
	"errors"
	"fmt"
	"iter"
	"slices"
	"testing"

	"github.com/ingotmetal/ingot/statemachine/explore"
	"pgregory.net/rapid"
)

// edges is a machine drawn at random: each state's outgoing edges in order. An
// edge to a state that does not exist is refused.
type edges [][]edge

type edge struct {
	To    int
	Class explore.Class
}

var errNoState = errors.New("no such state")

// The methods below are the plainest answers to the same questions: maps, and
// reachability asked anew for each pair.

// system reports what System edges alone reach from n, n included.
func (g edges) system(n int) map[int]bool {
	seen := map[int]bool{n: true}
	for todo := []int{n}; len(todo) > 0; todo = todo[1:] {
		for _, e := range g[todo[0]] {
			if e.Class == explore.System && e.To < len(g) && !seen[e.To] {
				seen[e.To] = true
				todo = append(todo, e.To)
			}
		}
	}
	return seen
}

// distances reports how many edges away each reachable state is.
func (g edges) distances(starts []int) map[int]int {
	dist := map[int]int{}
	for _, s := range starts {
		dist[s] = 0
	}
	for changed := true; changed; {
		changed = false
		for n, d := range dist {
			for _, e := range g[n] {
				if old, ok := dist[e.To]; e.To < len(g) && (!ok || old > d+1) {
					dist[e.To] = d + 1
					changed = true
				}
			}
		}
	}
	return dist
}

// bottom reports whether all that n reaches reaches n.
func (g edges) bottom(n int) bool {
	for to := range g.system(n) {
		if !g.system(to)[n] {
			return false
		}
	}
	return true
}

// unsettled reports, of the reachable states, those without hope, and those
// that are not stable but in a bottom component that holds a stable state.
func (g edges) unsettled(dist map[int]int, isStable []bool) (hopeless, restless []int) {
	for n := range dist {
		some := false
		for to := range g.system(n) {
			some = some || isStable[to]
		}
		switch {
		case !some:
			hopeless = append(hopeless, n)
		case !isStable[n] && g.bottom(n):
			restless = append(restless, n)
		}
	}
	return hopeless, restless
}

// model makes g a model whose inputs are the edges.
func (g edges) model(starts []int, isStable []bool) explore.Model[int, edge, int] {
	return explore.Model[int, edge, int]{
		Name: "random", Start: starts, Key: same[int],
		Inputs: func(s int) iter.Seq[edge] { return slices.Values(g[s]) },
		Step: func(s int, e edge) (int, error) {
			if e.To >= len(g) {
				return 0, errNoState
			}
			return e.To, nil
		},
		Stable: func(s int) bool { return isStable[s] },
		Class:  func(e edge) explore.Class { return e.Class },
	}
}

// drawGraph draws up to 12 states with up to 4 edges each.
func drawGraph(t *rapid.T) (g edges, starts []int, isStable []bool) {
	size := rapid.IntRange(1, 12).Draw(t, "states")
	one := rapid.Custom(func(t *rapid.T) edge {
		return edge{rapid.IntRange(0, size).Draw(t, "to"), rapid.SampledFrom([]explore.Class{
			explore.System, explore.System, explore.Operator, explore.Fault}).Draw(t, "class")}
	})
	g = rapid.SliceOfN(rapid.SliceOfN(one, 0, 4), size, size).Draw(t, "edges")
	starts = rapid.SliceOfN(rapid.IntRange(0, size-1), 1, 3).Draw(t, "starts")
	mostly := rapid.Custom(func(t *rapid.T) bool { return rapid.IntRange(0, 4).Draw(t, "unstable if 0") > 0 })
	isStable = rapid.SliceOfN(mostly, size, size).Draw(t, "stable")
	return g, starts, isStable
}

func TestAgreesWithTheTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g, starts, isStable := drawGraph(t)
		dist := g.distances(starts)
		m := g.model(starts, isStable)

		r, err := explore.Run(m, explore.Limits{})
		steps, accepted, depth := 0, 0, 0
		for n, d := range dist {
			steps += len(g[n])
			depth = max(depth, d)
			for _, e := range g[n] {
				if e.To < len(g) {
					accepted++
				}
			}
		}
		if r.States != len(dist) || r.Steps != steps || r.Accepted != accepted || r.Depth != depth || !r.Closed {
			t.Fatalf("got %s\nwant %d states, %d steps, %d accepted, depth %d", r, len(dist), steps, accepted, depth)
		}
		hopeless, restless := g.unsettled(dist, isStable)
		checkSettles(t, m, err, dist, hopeless, restless)
	})
}

// checkSettles demands that err tells the nearest of the hopeless, else the
// nearest of the restless, else nothing.
func checkSettles(t *rapid.T, m explore.Model[int, edge, int], err error, dist map[int]int, hopeless, restless []int) {
	want := hopeless
	if len(want) == 0 {
		want = restless
	}
	if len(want) == 0 {
		if err != nil {
			t.Fatalf("got %v, but it settles", err)
		}
		return
	}
	c, ok := errors.AsType[*explore.Counterexample[int, edge]](err)
	if !ok || c.Law != explore.Settles {
		t.Fatalf("got %v, want one of %v told", err, want)
	}
	nearest := slices.MinFunc(want, func(a, b int) int { return dist[a] - dist[b] })
	end := c.States[len(c.States)-1]
	if !slices.Contains(want, end) || len(c.Inputs) != dist[nearest] {
		t.Fatalf("got %v\nwant one of %v at distance %d", err, want, dist[nearest])
	}
	if _, err := explore.Replay(m, c.History); err == nil {
		t.Fatalf("replayed, it settles: %v", c)
	}
}

func TestShortestToEachState(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g, starts, isStable := drawGraph(t)
		dist := g.distances(starts)
		target := rapid.IntRange(0, len(g)-1).Draw(t, "target")
		m := g.model(starts, isStable)
		m.Stable = nil
		m.Invariants = []explore.Invariant[int, edge]{{Name: "not there", State: func(s int) error {
			if s == target {
				return fmt.Errorf("at %d", s)
			}
			return nil
		}}}
		_, err := explore.Run(m, explore.Limits{})
		c, found := errors.AsType[*explore.Counterexample[int, edge]](err)
		d, reachable := dist[target]
		if found != reachable || found && len(c.Inputs) != d {
			t.Fatalf("got %v, want distance %d, reachable %t", err, d, reachable)
		}
		for i := range dist { // whatever else the path does, each step of it is an edge
			if found && i < len(c.Inputs) && (c.Inputs[i].To != c.States[i+1] || !slices.Contains(g[c.States[i]], c.Inputs[i])) {
				t.Fatalf("step %d is no edge: %v", i+1, c)
			}
		}
	})
}
