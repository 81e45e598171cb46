package explore_test

import (
	"iter"
	"slices"
	"testing"

	"github.com/ingotmetal/ingot/statemachine/explore"
)

// The benchmarks walk a record of six axes, each moved by a dense table of 12
// states and 8 events, with an epoch and a deadline beside it: the shape of a
// table engine's record. With n axes let loose it has 12^n states and 8 inputs
// an axis.

const (
	axisStates = 12
	axisEvents = 8
)

type record struct {
	Axis     [6]uint8
	Epoch    [6]uint8
	Deadline [6]int64
	Label    string
}

type recordKey struct { // 64 bytes, no pointers
	Axis     [6]uint8
	Epoch    [6]uint8
	_        [4]byte
	Deadline [6]int64
}

type move struct{ Axis, Event uint8 }

type table [axisStates][axisEvents]uint8

// newTable moves a ring on, back and over; half of the cells refuse (255).
func newTable() *table {
	var t table
	for s := range t {
		for e := range t[s] {
			t[s][e] = 255
		}
		t[s][0] = uint8(s+1) % axisStates
		t[s][1] = 0
		t[s][2] = uint8(s+axisStates-1) % axisStates
		t[s][3] = uint8(s*5+1) % axisStates
	}
	return &t
}

func (t *table) step(r record, in move) (record, error) {
	to := t[r.Axis[in.Axis]][in.Event]
	if to == 255 {
		return record{}, errNotNow
	}
	r.Axis[in.Axis] = to
	r.Epoch[in.Axis] = to & 1
	r.Deadline[in.Axis] = int64(to) * 60
	return r, nil
}

func (r record) key() recordKey { return recordKey{Axis: r.Axis, Epoch: r.Epoch, Deadline: r.Deadline} }

func moves(axes int) []move {
	var all []move
	for a := range axes {
		for e := range axisEvents {
			all = append(all, move{uint8(a), uint8(e)})
		}
	}
	return all
}

func records(axes int) explore.Model[record, move, recordKey] {
	return explore.Model[record, move, recordKey]{
		Name: "records", Start: []record{{Label: "n1"}}, Inputs: seq[record](moves(axes)...),
		Step: newTable().step, Key: record.key,
		Invariants: []explore.Invariant[record, move]{{
			Name: "a deadline in odd states",
			Check: func(_ record, in move, to record) error {
				if to.Axis[in.Axis]&1 == 1 && to.Deadline[in.Axis] == 0 {
					return errNotNow
				}
				return nil
			},
		}},
	}
}

// bench runs m and reports the cost of a step.
func bench[S, I any, K comparable](b *testing.B, m explore.Model[S, I, K]) {
	b.ReportAllocs()
	var r explore.Result
	steps := 0
	for b.Loop() {
		var err error
		if r, err = explore.Run(m, explore.Limits{}); err != nil {
			b.Fatal(err)
		}
		steps += r.Steps
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(steps), "ns/step")
	b.ReportMetric(float64(r.States), "states")
	b.ReportMetric(float64(r.Bytes)/float64(r.States), "B/state")
}

// The step alone, to tell what the walk adds.
func BenchmarkStepAlone(b *testing.B) {
	t, all := newTable(), moves(6)
	r, n := record{}, 0
	for b.Loop() {
		if to, err := t.step(r, all[n%len(all)]); err == nil {
			r = to
		}
		n++
	}
}

func BenchmarkRun(b *testing.B) { bench(b, records(4)) }

func BenchmarkRunWithEvents(b *testing.B) {
	m := records(4)
	names := []string{"on", "back", "down", "over", "no", "not", "never", "nil"}
	m.Event = func(in move) string { return names[in.Event] }
	m.Row = func(_ record, in move, _ record, _ error) string { return names[in.Event] }
	bench(b, m)
}

func BenchmarkRunLiveness(b *testing.B) {
	m := records(4)
	m.Stable = func(record) bool { return true }
	bench(b, m)
}

// A state that holds a slice is copied whole by Step.
func BenchmarkRunSlices(b *testing.B) {
	type node struct {
		Label string
		Axes  []record
	}
	inner := records(4)
	m := explore.Model[node, move, recordKey]{
		Name: "nodes", Start: []node{{"n1", make([]record, 2)}}, Held: 320,
		Inputs: func(s node) iter.Seq[move] { return inner.Inputs(s.Axes[0]) },
		Step: func(s node, in move) (node, error) {
			to, err := inner.Step(s.Axes[0], in)
			if err != nil {
				return node{}, err
			}
			s.Axes = slices.Clone(s.Axes)
			s.Axes[0] = to
			return s, nil
		},
		Key: func(s node) recordKey { return s.Axes[0].key() },
	}
	bench(b, m)
}

// The size that the joined life has without report faults: three million
// states and 143 million steps, with liveness. It takes a minute or two; run it
// with -benchtime 1x.
func BenchmarkRunProduct(b *testing.B) {
	if testing.Short() {
		b.Skip("takes a minute a run; leave out -short")
	}
	m := records(6)
	m.Stable = func(record) bool { return true }
	bench(b, m)
}
