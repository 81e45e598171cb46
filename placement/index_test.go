package placement_test

import (
	"slices"
	"testing"

	"github.com/ingotmetal/ingot/placement"
	"github.com/ingotmetal/ingot/placement/placementtest"
	"pgregory.net/rapid"
)

// scan is the naive twin of an Index: Judge, slot by slot.
func scan(nodes map[int]placement.Node, t placement.Tenant, p placement.Policy) []int {
	var fit []int
	for slot, n := range nodes {
		if placement.Judge(n, t, p).Placeable() {
			fit = append(fit, slot)
		}
	}
	slices.Sort(fit)
	return fit
}

// agree fails unless every query of x answers as the naive twin.
func agree(t *rapid.T, x *placement.Index, nodes map[int]placement.Node) {
	for _, tenant := range askers() {
		for _, p := range append(placementtest.Policies(), 2, 9) {
			want := scan(nodes, tenant, p)
			if got := slices.Collect(x.All(tenant, p)); !slices.Equal(got, want) {
				t.Fatalf("%q, policy %d: got %v, want %v", tenant, p, got, want)
			}
			if got := x.Count(tenant, p); got != len(want) {
				t.Fatalf("%q, policy %d: counted %d, want %d", tenant, p, got, len(want))
			}
			if got := x.Append(nil, tenant, p); !slices.EqualFunc(got, want, func(a int32, b int) bool { return int(a) == b }) {
				t.Fatalf("%q, policy %d: appended %v, want %v", tenant, p, got, want)
			}
		}
	}
}

// After any sequence of changes the Index says what Judge says.
func TestIndexAgreesWithJudge(t *testing.T) {
	slots := rapid.OneOf(rapid.IntRange(0, 70), rapid.SampledFrom([]int{0, 63, 64, 127, 128, 400}))
	rapid.Check(t, func(t *rapid.T) {
		x, nodes := new(placement.Index), map[int]placement.Node{}
		t.Repeat(map[string]func(*rapid.T){
			"set": func(t *rapid.T) {
				slot, n := slots.Draw(t, "slot"), placementtest.Nodes().Draw(t, "node")
				if err := x.Set(slot, n); err != nil {
					t.Fatal(err)
				}
				nodes[slot] = n
			},
			"drop": func(t *rapid.T) {
				slot := slots.Draw(t, "slot")
				x.Drop(slot)
				delete(nodes, slot)
			},
			"": func(t *rapid.T) { agree(t, x, nodes) },
		})
	})
}

// The order of changes leaves no trace: an Index rebuilt from its nodes gives
// the same answers, as after a restart.
func TestIndexForgetsHistory(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := new(placement.Index)
		last := map[int]placement.Node{}
		for range rapid.IntRange(0, 40).Draw(t, "changes") {
			slot, n := rapid.IntRange(0, 9).Draw(t, "slot"), placementtest.Nodes().Draw(t, "node")
			if x.Set(slot, n) != nil {
				t.Fatal("refused")
			}
			last[slot] = n
		}
		fresh := new(placement.Index)
		for slot, n := range last {
			if fresh.Set(slot, n) != nil {
				t.Fatal("refused")
			}
		}
		agree(t, fresh, last)
		agree(t, x, last)
	})
}

// From starts in the middle, whatever the middle, and keeps the order.
func TestIndexFrom(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x, nodes := new(placement.Index), map[int]placement.Node{}
		for slot := range rapid.IntRange(0, 200).Draw(t, "nodes") {
			nodes[slot] = placementtest.Nodes().Draw(t, "node")
			if x.Set(slot, nodes[slot]) != nil {
				t.Fatal("refused")
			}
		}
		first := rapid.IntRange(-2, 300).Draw(t, "first")
		limit := rapid.IntRange(1, 200).Draw(t, "limit")
		want := slices.DeleteFunc(scan(nodes, "acme", placement.EveryReason), func(s int) bool { return s < first })
		var got []int
		for slot := range x.From(first, "acme", placement.EveryReason) {
			if got = append(got, slot); len(got) == limit {
				break
			}
		}
		if want = want[:min(limit, len(want))]; !slices.Equal(got, want) {
			t.Fatalf("from %d: got %v, want %v", first, got, want)
		}
	})
}

func TestIndexBounds(t *testing.T) {
	var x placement.Index
	for _, slot := range []int{-1, placement.MaxSlots, placement.MaxSlots + 1} {
		invalid(t, x.Set(slot, placement.Node{}), "PLACE-1")
		x.Drop(slot)
	}
	if x.Len() != 0 || x.Count("acme", placement.EveryReason) != 0 {
		t.Errorf("a refused Set left %d slots", x.Len())
	}
	if err := x.Set(64, placement.Node{}); err != nil || x.Len() != 65 {
		t.Errorf("got %d slots, %v", x.Len(), err)
	}
	if got := slices.Collect(x.All("acme", placement.EveryReason)); !slices.Equal(got, []int{64}) {
		t.Errorf("slots that were never set are let through: %v", got)
	}
}

func TestIndexQueriesDoNotAllocate(t *testing.T) {
	var x placement.Index
	for slot := range 1000 {
		if err := x.Set(slot, placement.Node{Dedications: uint8(slot % 2), Tenant: "acme"}); err != nil {
			t.Fatal(err)
		}
	}
	dst := make([]int32, 0, 1000)
	got := testing.AllocsPerRun(100, func() {
		dst = x.Append(dst[:0], "acme", placement.EveryReason)
		if x.Count("acme", placement.EveryReason) != len(dst) {
			t.Error("Count and Append differ")
		}
	})
	if got != 0 || len(dst) != 1000 {
		t.Errorf("%v allocations, %d slots", got, len(dst))
	}
}

// A walk that begins late passes over what a tenant has before it.
func TestIndexFromSkipsOwnNodes(t *testing.T) {
	var x placement.Index
	for _, slot := range []int{0, 63, 64, 130, 400} {
		if err := x.Set(slot, placement.Node{Dedications: 1, Tenant: "acme"}); err != nil {
			t.Fatal(err)
		}
	}
	for first, want := range map[int][]int{0: {0, 63, 64, 130, 400}, 63: {63, 64, 130, 400}, 65: {130, 400}, 131: {400}, 401: nil} {
		if got := slices.Collect(x.From(first, "acme", placement.EveryReason)); !slices.Equal(got, want) {
			t.Errorf("from %d: got %v, want %v", first, got, want)
		}
	}
}
