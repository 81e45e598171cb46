package schedule_test

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/ingotmetal/ingot/statemachine/schedule"
	"pgregory.net/rapid"
)

// list is n different keys.
func list(prefix string, n int) (keys []string) {
	for i := range n {
		keys = append(keys, fmt.Sprintf("%s%04d", prefix, i))
	}
	return keys
}

func with(taints ...string) schedule.Record {
	r := schedule.New()
	r.Taints = taints
	return r
}

// TAINT-1: what a call leaves, and whether there is something to publish.
func TestTaint(t *testing.T) {
	for name, c := range map[string]struct {
		from        []string
		add, remove []string
		want        []string
		changed     bool
	}{
		"add":                       {nil, []string{"gpu"}, nil, []string{"gpu"}, true},
		"add, sorted":               {[]string{"b"}, []string{"c", "a"}, nil, []string{"a", "b", "c"}, true},
		"add what is there":         {[]string{"a"}, []string{"a"}, nil, []string{"a"}, false},
		"remove":                    {[]string{"a", "b"}, nil, []string{"a"}, []string{"b"}, true},
		"remove the last":           {[]string{"a"}, nil, []string{"a"}, nil, true},
		"remove what is not there":  {[]string{"a"}, nil, []string{"b"}, []string{"a"}, false},
		"remove of nothing":         {nil, nil, []string{"b"}, nil, false},
		"add one, remove another":   {[]string{"a"}, []string{"b"}, []string{"a"}, []string{"b"}, true},
		"both without effect":       {[]string{"a"}, []string{"a"}, []string{"b"}, []string{"a"}, false},
		"most that one call names":  {nil, list("a", 32), list("b", 32), list("a", 32), true},
		"a dedication":              {nil, []string{"dedicated=tenant:1"}, nil, []string{"dedicated=tenant:1"}, true},
		"case is of the key":        {[]string{"a"}, []string{"A"}, nil, []string{"A", "a"}, true},
		"up to the limit of a node": {list("a", 1023), []string{"b"}, nil, append(list("a", 1023), "b"), true},
	} {
		t.Run(name, func(t *testing.T) {
			from := with(slices.Clone(c.from)...)
			got, changed, err := schedule.Taint(from, c.add, c.remove)
			if err != nil || changed != c.changed || !reflect.DeepEqual(got, with(c.want...)) {
				t.Errorf("got  %v, changed %t, %v\nwant %v, changed %t", got.Taints, changed, err, c.want, c.changed)
			}
			if !slices.Equal(from.Taints, c.from) {
				t.Errorf("the record before now has %v", from.Taints)
			}
		})
	}
}

// TAINT-1: what is invalid changes nothing, though half of it were right.
func TestTaintRefuses(t *testing.T) {
	for name, c := range map[string]struct{ add, remove []string }{
		"nothing": {}, "empty lists": {[]string{}, []string{}}, "an empty key": {[]string{"a", ""}, nil},
		"33 to add": {list("a", 33), nil}, "33 to remove": {nil, list("a", 33)},
		"twice": {[]string{"a", "b", "a"}, nil}, "twice to remove": {nil, []string{"x", "x"}}, "in both": {[]string{"a"}, []string{"a"}},
		"a bad key": {[]string{"a", "-b"}, nil}, "a bad key to remove": {[]string{"a"}, []string{"b "}},
	} {
		from := with("x")
		got, changed, err := schedule.Taint(from, c.add, c.remove)
		if codeOf(err) != "INVALID_INPUT" || changed || !reflect.DeepEqual(got, from) {
			t.Errorf("%s: %v, changed %t, %v", name, got.Taints, changed, err)
		}
	}
	full := with(list("a", schedule.MaxTaints)...)
	if got, changed, err := schedule.Taint(full, []string{"b"}, nil); codeOf(err) != "INVALID_INPUT" || changed || len(got.Taints) != schedule.MaxTaints {
		t.Errorf("one too many: changed %t, %v", changed, err)
	}
	if _, changed, err := schedule.Taint(full, []string{"b"}, []string{"a0000"}); err != nil || !changed {
		t.Errorf("one for another on a full node: changed %t, %v", changed, err)
	}
}

// Taint is addition and removal of sets: sorted, without repeats, and the same
// call again changes nothing.
func TestTaintIsSets(t *testing.T) {
	keys := rapid.SampledFrom([]string{"a", "b", "c", "d", "e=1", "f/g"})
	rapid.Check(t, func(t *rapid.T) {
		rec, model := schedule.New(), map[string]bool{}
		t.Repeat(map[string]func(*rapid.T){"taint": func(t *rapid.T) {
			named := rapid.SliceOfNDistinct(keys, 1, 6, rapid.ID).Draw(t, "named")
			n := rapid.IntRange(0, len(named)).Draw(t, "add")
			before := maps.Clone(model)
			for i, k := range named {
				if delete(model, k); i < n {
					model[k] = true
				}
			}
			next, changed, err := schedule.Taint(rec, named[:n], named[n:])
			if err != nil || !slices.Equal(next.Taints, slices.Sorted(maps.Keys(model))) || changed == maps.Equal(before, model) {
				t.Fatalf("add %v, remove %v: from %v to %v, changed %t, %v", named[:n], named[n:], rec.Taints, next.Taints, changed, err)
			}
			if again, changed, err := schedule.Taint(next, named[:n], named[n:]); changed || err != nil || !reflect.DeepEqual(again, next) {
				t.Fatalf("again: %v, changed %t, %v", again.Taints, changed, err)
			}
			rec = next
		}})
	})
}

// TAINT-1: the grammar of a key.
func TestTaintKeys(t *testing.T) {
	for _, k := range []string{"a", "0", "Z", "dedicated=tenant:1", "a.b_c/d=e:f-g", strings.Repeat("x", 128), "dedicated=" + strings.Repeat("t", 118)} {
		if err := schedule.CheckTaintKey(k); err != nil {
			t.Errorf("%q: %v", k, err)
		}
	}
	for _, k := range []string{"", "-", "-a", "a-", ".a", "a.", "a=", "=a", "a b", "a,b", "a\n", "a\x00b", "é", "aéb", "a*b", strings.Repeat("x", 129), strings.Repeat("x", 1<<20)} {
		err := schedule.CheckTaintKey(k)
		if codeOf(err) != "INVALID_INPUT" || len(err.Error()) > 256 {
			t.Errorf("%.140q: %v", k, err)
		}
	}
}

func FuzzCheckTaintKey(f *testing.F) {
	for _, k := range []string{"gpu", "dedicated=t", "", "-a", "a-", "é", strings.Repeat("x", 129)} {
		f.Add(k)
	}
	const ends = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
	f.Fuzz(func(t *testing.T, k string) {
		want := len(k) >= 1 && len(k) <= 128
		for i := range len(k) {
			set := ends
			if i > 0 && i < len(k)-1 {
				set += "._/=:-"
			}
			want = want && strings.IndexByte(set, k[i]) >= 0
		}
		if err := schedule.CheckTaintKey(k); (err == nil) != want {
			t.Errorf("%q: %v, want allowed: %t", k, err, want)
		}
	})
}

func FuzzTaint(f *testing.F) {
	f.Add("a b", "c", "a")
	f.Add("", "", "")
	f.Add("x", "a a", "b")
	f.Fuzz(func(t *testing.T, has, add, remove string) {
		from, _, _ := schedule.Taint(schedule.New(), strings.Fields(has), nil)
		next, changed, err := schedule.Taint(from, strings.Split(add, " "), strings.Split(remove, " "))
		if err != nil && (changed || !reflect.DeepEqual(next, from) || codeOf(err) != "INVALID_INPUT") {
			t.Errorf("%v: changed %t to %v", err, changed, next.Taints)
		}
		if changed == reflect.DeepEqual(next, from) || !slices.IsSorted(next.Taints) {
			t.Errorf("changed %t: from %v to %v", changed, from.Taints, next.Taints)
		}
	})
}
