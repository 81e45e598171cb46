package placement_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/ingotmetal/ingot/placement"
	"pgregory.net/rapid"
)

// rack is a node with a label of each owner.
func rack(t interface{ Fatal(...any) }) placement.Labels {
	s, err := placement.ParseLabels(
		placement.Label{Key: "rack", Value: "r7", Owner: placement.Inventory},
		placement.Label{Key: "ingot.dev/pool", Value: "gpu", Owner: placement.System},
		placement.Label{Key: "team", Value: "blue", Owner: placement.Operator},
	)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func many(n int) map[string]string {
	m := make(map[string]string, n)
	for i := range n {
		m[fmt.Sprint("k", i)] = "v"
	}
	return m
}

func TestLabelCallsRefused(t *testing.T) {
	long := strings.Repeat("a", 257)
	for name, c := range map[string]placement.LabelCall{
		"nothing named":                     {},
		"too many set":                      {Set: many(65)},
		"too many removed":                  {Remove: slices.Collect(maps.Keys(many(65)))},
		"a key in both":                     {Set: map[string]string{"a": "1"}, Remove: []string{"a"}},
		"inventory's key":                   {Set: map[string]string{"rack": "r8"}},
		"the system's key":                  {Set: map[string]string{"ingot.dev/pool": "x"}},
		"a reserved key":                    {Set: map[string]string{"ingot.dev/new": "x"}},
		"a reserved key removed":            {Remove: []string{"ingot.dev/pool"}},
		"an empty key":                      {Set: map[string]string{"": "x"}},
		"an empty key removed":              {Remove: []string{""}},
		"a key that begins with a mark":     {Set: map[string]string{"-a": "x"}},
		"a key that ends with a mark":       {Set: map[string]string{"a/": "x"}},
		"a key with a colon":                {Set: map[string]string{"a:b": "x"}},
		"a key with an equals sign removed": {Remove: []string{"a=b"}},
		"a long key":                        {Set: map[string]string{long[:129]: "x"}},
		"a long value":                      {Set: map[string]string{"a": long}},
		"a value with a space":              {Set: map[string]string{"a": "b c"}},
		"a value with a newline":            {Set: map[string]string{"a": "b\n"}},
		"one bad among good":                {Set: map[string]string{"a": "1", "b": "2", "c": "#"}},
	} {
		s := rack(t)
		got, err := s.Apply(c)
		invalid(t, err, "LABEL-1")
		if got.Len() != 0 || !s.Equal(rack(t)) {
			t.Errorf("%s: not refused whole", name)
		}
	}
}

func TestLabelCallsLegal(t *testing.T) {
	long := strings.Repeat("a", 256)
	for name, c := range map[string]struct {
		call placement.LabelCall
		want string
	}{
		"set":                        {placement.LabelCall{Set: map[string]string{"tier": "1"}}, "ingot.dev/pool=gpu rack=r7 team=blue tier=1"},
		"change":                     {placement.LabelCall{Set: map[string]string{"team": "red"}}, "ingot.dev/pool=gpu rack=r7 team=red"},
		"set to what it is":          {placement.LabelCall{Set: map[string]string{"team": "blue"}}, "ingot.dev/pool=gpu rack=r7 team=blue"},
		"remove":                     {placement.LabelCall{Remove: []string{"team"}}, "ingot.dev/pool=gpu rack=r7"},
		"remove twice in a call":     {placement.LabelCall{Remove: []string{"team", "team"}}, "ingot.dev/pool=gpu rack=r7"},
		"remove another owner's":     {placement.LabelCall{Remove: []string{"rack"}}, "ingot.dev/pool=gpu rack=r7 team=blue"},
		"remove what is absent":      {placement.LabelCall{Remove: []string{"x"}}, "ingot.dev/pool=gpu rack=r7 team=blue"},
		"an empty value":             {placement.LabelCall{Set: map[string]string{"team": ""}}, "ingot.dev/pool=gpu rack=r7 team="},
		"every mark":                 {placement.LabelCall{Set: map[string]string{"a._/-b": "-._:/@+=-"}}, "a._/-b=-._:/@+=- ingot.dev/pool=gpu rack=r7 team=blue"},
		"the longest":                {placement.LabelCall{Set: map[string]string{long[:128]: long}}, long[:128] + "=" + long + " ingot.dev/pool=gpu rack=r7 team=blue"},
		"a prefix that is not quite": {placement.LabelCall{Set: map[string]string{"ingot.device": "x"}}, "ingot.dev/pool=gpu ingot.device=x rack=r7 team=blue"},
	} {
		got, err := rack(t).Apply(c.call)
		if err != nil || text(got) != c.want {
			t.Errorf("%s: got %s, %v", name, text(got), err)
		}
	}
}

func text(s placement.Labels) string {
	var all []string
	for l := range s.All() {
		all = append(all, l.Key+"="+l.Value)
	}
	return strings.Join(all, " ")
}

func TestParseLabelsRefuses(t *testing.T) {
	one := placement.Label{Key: "a", Value: "1", Owner: placement.Operator}
	for name, list := range map[string][]placement.Label{
		"twice":                       {one, {Key: "a", Value: "2", Owner: placement.System}},
		"no owner":                    {{Key: "a"}},
		"an owner that has no labels": {{Key: "a", Owner: placement.Drain}},
		"an operator's reserved key":  {{Key: "ingot.dev/a", Owner: placement.Operator}},
		"too many":                    slices.Repeat([]placement.Label{one}, placement.MaxLabels+1),
	} {
		got, err := placement.ParseLabels(list...)
		if invalid(t, err, "LABEL-1"); got.Len() != 0 {
			t.Errorf("%s: not refused whole", name)
		}
	}
}

func TestLabelsHaveABound(t *testing.T) {
	var s placement.Labels
	keys := slices.Sorted(maps.Keys(many(placement.MaxLabels)))
	for part := range slices.Chunk(keys, placement.MaxLabelSet) {
		set := map[string]string{}
		for _, k := range part {
			set[k] = ""
		}
		var err error
		if s, err = s.Apply(placement.LabelCall{Set: set}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.Apply(placement.LabelCall{Set: map[string]string{keys[0]: "new"}}); err != nil {
		t.Errorf("changing one of a full set: %v", err)
	}
	_, err := s.Apply(placement.LabelCall{Set: map[string]string{"one-more": ""}})
	invalid(t, err, "LABEL-1")
}

// Over any calls: other owners' labels stand, the operator's are those of a
// plain map, and applying a call again changes nothing.
func TestLabelCallsMoveTheOperatorsAlone(t *testing.T) {
	keys := rapid.SampledFrom([]string{"rack", "team", "tier", "x", "y"})
	rapid.Check(t, func(t *rapid.T) {
		s, twin := rack(t), map[string]string{"team": "blue"}
		t.Repeat(map[string]func(*rapid.T){
			"call": func(t *rapid.T) {
				c := placement.LabelCall{
					Set:    rapid.MapOfN(keys, rapid.SampledFrom([]string{"", "1", "2"}), 0, 2).Draw(t, "set"),
					Remove: rapid.SliceOfN(keys, 0, 2).Draw(t, "remove"),
				}
				_, rackSet := c.Set["rack"]
				both := slices.ContainsFunc(c.Remove, func(k string) bool { _, in := c.Set[k]; return in })
				legal := !rackSet && !both && len(c.Set)+len(c.Remove) > 0
				next, err := s.Apply(c)
				if legal != (err == nil) {
					t.Fatalf("%+v: legal %t, got %v", c, legal, err)
				}
				if err != nil {
					return
				}
				if again, err := next.Apply(c); err != nil || !again.Equal(next) {
					t.Fatalf("%+v again: %v", c, err)
				}
				maps.Copy(twin, c.Set)
				for _, k := range c.Remove {
					delete(twin, k)
				}
				s = next
			},
			"": func(t *rapid.T) {
				operators := map[string]string{}
				for l := range s.All() {
					if l.Owner == placement.Operator {
						operators[l.Key] = l.Value
					}
				}
				if !maps.Equal(operators, twin) || s.Len() != len(twin)+2 {
					t.Fatalf("got %s, want %v beside the others'", text(s), twin)
				}
			},
		})
	})
}

func FuzzLabelCall(f *testing.F) {
	f.Add("team", "blue", "rack")
	f.Add("ingot.dev/x", "", "")
	f.Add("a", "\xff", "-")
	f.Fuzz(func(t *testing.T, key, value, remove string) {
		s := rack(t)
		next, err := s.Apply(placement.LabelCall{Set: map[string]string{key: value}, Remove: []string{remove}})
		if err != nil {
			if invalid(t, err, "LABEL-1"); len(err.Error()) > 500 {
				t.Fatalf("an error of %d bytes", len(err.Error()))
			}
			return
		}
		if back, err := placement.ParseLabels(slices.Collect(next.All())...); err != nil || !back.Equal(next) {
			t.Fatalf("the result does not parse: %v", err)
		}
	})
}
