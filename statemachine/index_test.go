package statemachine

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// checkIndex demands the right number for each name, and none for others.
func checkIndex(t interface{ Errorf(string, ...any) }, names, others []string) {
	var x index
	x.fill(names)
	known := map[string]bool{}
	for i, name := range names {
		known[name] = true
		if got := x.of(strings.Clone(name)); got != i {
			t.Errorf("%q is %d, want %d", name, got, i)
		}
	}
	for _, name := range others {
		if got := x.of(name); !known[name] && got != -1 {
			t.Errorf("%q is %d, want -1", name, got)
		}
	}
}

func TestIndexOfAnyNames(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.OneOf(rapid.StringN(1, 12, -1), rapid.StringMatching(`[a-c]{1,5}`))
		names := rapid.SliceOfNDistinct(name, 0, MaxStates, rapid.ID[string]).Draw(t, "names")
		checkIndex(t, names, rapid.SliceOf(name).Draw(t, "others"))
	})
}

// Names of one length with the same first, middle and last byte share a slot
// under every hash, so that they test the map.
func TestIndexOfNamesThatCollide(t *testing.T) {
	var names, others []string
	for i := range MaxStates {
		names = append(names, fmt.Sprintf("a%03d-x-%03dz", i, i))
		others = append(others, fmt.Sprintf("a%03d-x-%03dz", i, i+1))
	}
	checkIndex(t, names, others)
}

func TestIndexOfNothing(t *testing.T) {
	checkIndex(t, nil, []string{"", "a", "\x00", strings.Repeat("long", 1000)})
}

// Real names are found without the map.
func TestIndexSpreadsNames(t *testing.T) {
	names := []string{"pending", "approved", "awaiting_setup", "setting_up", "active", "disabled", "enrolling",
		"inspecting", "commissioning", "available", "deploying", "deployed", "releasing", "rescue", "retiring", "retired"}
	var x index
	x.fill(names)
	if len(x.rest) != 0 {
		t.Errorf("%d of %d names share a slot", len(x.rest), len(names))
	}
}

func BenchmarkIndex(b *testing.B) {
	var names []string
	for i := range MaxStates {
		names = append(names, fmt.Sprint("state-", i))
	}
	for b.Loop() {
		var x index
		x.fill(names)
	}
}
