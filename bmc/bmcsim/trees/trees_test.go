package trees_test

import (
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/ingotmetal/ingot/bmc/bmcsim/trees"
)

// Every tree says where it comes from, and the facts name every tree and no other.
func TestEveryTreeHasASourceAndFacts(t *testing.T) {
	raw, err := os.ReadFile("testdata/EXPECTED.json")
	if err != nil {
		t.Fatal(err)
	}
	var facts map[string]struct{ Systems []struct{ URI string } }
	if err := json.Unmarshal(raw, &facts); err != nil {
		t.Fatal(err)
	}
	names := trees.Names()
	if len(names) != 18 {
		t.Errorf("%d trees", len(names))
	}
	for _, name := range names {
		raw, err := trees.Read(name)
		if err != nil {
			t.Fatal(err)
		}
		var tree map[string]json.RawMessage
		var meta struct{ Machine, Repo, Commit, Licence, Kind string }
		if err := errors.Join(json.Unmarshal(raw, &tree), json.Unmarshal(tree["_meta"], &meta)); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if meta.Kind != "tree" || meta.Machine == "" || meta.Repo == "" || len(meta.Commit) != 40 || meta.Licence == "" {
			t.Errorf("%s: %+v", name, meta)
		}
		if len(facts[name].Systems) == 0 {
			t.Errorf("%s: no facts", name)
		}
		for _, s := range facts[name].Systems {
			if tree[s.URI] == nil {
				t.Errorf("%s has no %s", name, s.URI)
			}
		}
		delete(facts, name)
	}
	if len(facts) > 0 {
		t.Errorf("facts about no tree: %v", facts)
	}
}

func TestUnknownTree(t *testing.T) {
	for _, name := range []string{"", "dell", "../trees", "data/dell-r750-idrac9-6.00"} {
		_, err := trees.Read(name)
		e, ok := errors.AsType[*trees.Unknown](err)
		if !ok || e.Code() != "NOT_FOUND" || !strings.Contains(err.Error(), "dell-r750-idrac9-6.00, ") {
			t.Errorf("%q: %v", name, err)
		}
	}
}
