package storetest

import (
	"context"
	"slices"
	"testing"
	"time"
)

// A mutant is a store that breaks a law, as an honest mistake might.
type mutant struct {
	law, name string
	make      func() Subject
}

func mutants() []mutant {
	return slices.Concat(rowMutants(), refusalMutants(), logMutants(), viewMutants(), isolationMutants(), endMutants(), keepingMutants(), faultMutants())
}

// The patience with mutants, and how often a law may look at one that is only
// sometimes wrong.
const (
	mutantPatience = 2 * time.Second
	attempts       = 20
)

// TestEachLawFindsItsMutants tells how each mutant is found.
func TestEachLawFindsItsMutants(t *testing.T) {
	tried := map[string]bool{}
	for _, m := range mutants() {
		tried[m.law] = true
		t.Run(m.law+"/"+m.name, func(t *testing.T) {
			t.Parallel()
			n := slices.IndexFunc(Laws(), func(l Law) bool { return l.Name == m.law })
			if n < 0 {
				t.Fatal("there is no such law")
			}
			for look := range attempts {
				if err := found(t, Laws()[n], m); err != nil {
					t.Logf("found at look %d: %.200v", look+1, err)
					return
				}
			}
			t.Error("it went unnoticed")
		})
	}
	for _, law := range Laws() {
		if !tried[law.Name] {
			t.Errorf("no mutant breaks the law %q", law.Name)
		}
	}
}

func found(t *testing.T, law Law, m mutant) error {
	ctx, cancel := context.WithTimeout(t.Context(), mutantPatience)
	defer cancel()
	return law.Check(ctx, m.make())
}
