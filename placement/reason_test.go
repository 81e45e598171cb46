package placement_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/ingotmetal/ingot/placement"
	"pgregory.net/rapid"
)

// invalid fails unless err is the refusal that the wire calls INVALID_INPUT
// and that names the requirement.
func invalid(t interface {
	Helper()
	Errorf(string, ...any)
}, err error, req string) {
	t.Helper()
	e, ok := errors.AsType[*placement.Invalid](err)
	if !ok || e.Code() != "INVALID_INPUT" || e.Req != req {
		t.Errorf("got %v, want INVALID_INPUT of %s", err, req)
	}
}

func TestTenantGrammar(t *testing.T) {
	long := strings.Repeat("a", 129)
	for _, c := range []struct {
		in               string
		legal, dedicable bool
	}{
		{"acme", true, true},
		{"A.b_c:d-9", true, true},
		{".acme", true, true},
		{"acme.", true, false},
		{"-", true, false},
		{long[:118], true, true},
		{long[:119], true, false},
		{long[:117] + "-", true, false},
		{long[:128], true, false},
		{long, false, false},
		{"", false, false},
		{"a/b", false, false},
		{"a=b", false, false},
		{"a b", false, false},
		{"käse", false, false},
		{"a\x00", false, false},
		{"acme\n", false, false},
	} {
		got, err := placement.ParseTenant(c.in)
		switch {
		case c.legal && (err != nil || string(got) != c.in):
			t.Errorf("%q: got %q, %v", c.in, got, err)
		case !c.legal && got != "":
			t.Errorf("%q: refused and yet returned %q", c.in, got)
		}
		if !c.legal {
			invalid(t, err, "API-5")
		}
		if d := placement.Tenant(c.in).Dedicable(); d != c.dedicable {
			t.Errorf("%q: dedicable %t", c.in, d)
		}
	}
}

func TestTaintGrammar(t *testing.T) {
	long := strings.Repeat("k", 129)
	for in, legal := range map[string]bool{
		"x": true, "burn-in": true, "a.b_c/d=e:f-g": true, "9": true, long[:128]: true,
		"": false, long: false, "-a": false, "a-": false, "a b": false, "a+b": false, "ä": false,
		"a\xc3": false, "dedicated=": false, "a,b": false, "=": false,
	} {
		r, err := placement.Taint(in)
		if !legal {
			invalid(t, err, "TAINT-1")
		}
		if legal && (err != nil || r != placement.Reason("taint:"+in) || r.Owner() != placement.Operator) {
			t.Errorf("%q: got %q, %v", in, r, err)
		}
	}
}

func TestEachKeyHasOneOwner(t *testing.T) {
	for key, want := range map[string]placement.Owner{
		"taint:x":           placement.Operator,
		"taint:draining":    placement.Operator,
		"taint:unreachable": placement.Operator,
		"draining":          placement.Drain,
		"unreachable":       placement.Connectivity,
		"conditions":        placement.Health,
		"Draining":          placement.Nobody,
		"draining2":         placement.Nobody,
		"tainted:x":         placement.Nobody,
	} {
		r, err := placement.ParseReason(key)
		if err != nil || r.Owner() != want {
			t.Errorf("%q: owner %v, %v; want %v", key, r.Owner(), err, want)
		}
	}
}

func TestParseReasonRefuses(t *testing.T) {
	for _, in := range []string{"", "taint:", "taint:-x", " draining", "draining ", "taint:" + strings.Repeat("x", 129), strings.Repeat("x", 129), "a\x00b"} {
		_, err := placement.ParseReason(in)
		invalid(t, err, "TAINT-1")
		_, err = placement.ParseReasons("draining", in)
		invalid(t, err, "TAINT-1")
	}
}

func TestDedication(t *testing.T) {
	for in, want := range map[string]struct {
		tenant placement.Tenant
		ok     bool
	}{
		"taint:dedicated=acme": {"acme", true},
		"taint:dedicated=.a":   {".a", true},
		"taint:dedicated=a/b":  {"", true},
		"taint:dedicated=a=b":  {"", true},
		"taint:dedicated":      {"", false},
		"taint:Dedicated=acme": {"", false},
		"dedicated=acme":       {"", false},
		"draining":             {"", false},
	} {
		if got, ok := placement.Reason(in).Dedication(); got != want.tenant || ok != want.ok {
			t.Errorf("%q: got %q, %t", in, got, ok)
		}
	}
}

// Whoever can be dedicated to gets a reason that names exactly them, and
// whoever cannot is refused.
func TestDedicatedToRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tenant := placement.Tenant(rapid.StringMatching(`[A-Za-z0-9._:-]{1,128}`).Draw(t, "tenant"))
		r, err := placement.DedicatedTo(tenant)
		last := tenant[len(tenant)-1:]
		if want := len(tenant) <= 118 && !strings.Contains("._:-", string(last)); want != (err == nil) {
			t.Fatalf("dedicable %t, got %v", want, err)
		}
		if err != nil {
			invalid(t, err, "TAINT-1")
			return
		}
		if _, err := placement.ParseReason(string(r)); err != nil {
			t.Fatalf("made a reason that does not parse: %v", err)
		}
		if got, ok := r.Dedication(); !ok || got != tenant {
			t.Fatalf("dedicated to %q", got)
		}
	})
}

func TestReasonsAreAnOrderedSet(t *testing.T) {
	s, err := placement.ParseReasons("unreachable", "taint:b", "draining", "taint:a", "taint:b")
	want := []placement.Reason{"draining", "taint:a", "taint:b", "unreachable"}
	if got := slices.Collect(s.All()); err != nil || !slices.Equal(got, want) || s.Len() != 4 {
		t.Errorf("got %q, %v", got, err)
	}
	if !s.Has("taint:a") || s.Has("taint:c") {
		t.Error("Has is wrong")
	}
}

func TestReasonsRefuseWhole(t *testing.T) {
	s, _ := placement.ParseReasons("draining", "taint:a")
	for name, call := range map[string]func() (placement.Reasons, error){
		"operator adds a controller's":       func() (placement.Reasons, error) { return s.With(placement.Operator, "taint:b", "unreachable") },
		"operator removes a controller's":    func() (placement.Reasons, error) { return s.Without(placement.Operator, "draining") },
		"controller adds an operator's":      func() (placement.Reasons, error) { return s.With(placement.Drain, "taint:draining") },
		"controller removes an operator's":   func() (placement.Reasons, error) { return s.Without(placement.Drain, "draining", "taint:a") },
		"controller removes another's":       func() (placement.Reasons, error) { return s.Without(placement.Health, "draining") },
		"nobody adds an unknown one":         func() (placement.Reasons, error) { return s.With(placement.Nobody, "newer") },
		"operator removes an unknown one":    func() (placement.Reasons, error) { return s.Without(placement.Operator, "newer") },
		"an owner adds what is not a reason": func() (placement.Reasons, error) { return s.With(placement.Operator, "taint:") },
	} {
		got, err := call()
		invalid(t, err, "TAINT-1")
		if got.Len() != 0 || s.Len() != 2 {
			t.Errorf("%s: not refused whole: %v", name, got)
		}
	}
}

func TestReasonsHaveABound(t *testing.T) {
	var s placement.Reasons
	for i := range placement.MaxReasons {
		var err error
		if s, err = s.With(placement.Operator, taintNumber(i)); err != nil {
			t.Fatalf("reason %d: %v", i, err)
		}
	}
	if _, err := s.With(placement.Operator, taintNumber(0)); err != nil {
		t.Errorf("adding what is there: %v", err)
	}
	_, err := s.With(placement.Drain, placement.Draining)
	invalid(t, err, "TAINT-1")
}

func taintNumber(i int) placement.Reason {
	return placement.Reason("taint:k" + strings.Repeat("x", i/10) + string(rune('0'+i%10)))
}

// Whatever owners do in whatever order, each moves its own reasons alone, and
// the set equals a plain map's (P11, P15).
func TestOwnersNeverCross(t *testing.T) {
	owners := []placement.Owner{placement.Operator, placement.Drain, placement.Connectivity, placement.Health, placement.Nobody}
	pool := []placement.Reason{"taint:a", "taint:dedicated=acme", "taint:draining", "draining", "unreachable", "conditions", "newer"}
	rapid.Check(t, func(t *rapid.T) {
		s, _ := placement.ParseReasons("newer")
		twin := map[placement.Reason]bool{"newer": true}
		t.Repeat(map[string]func(*rapid.T){
			"move": func(t *rapid.T) {
				by := rapid.SampledFrom(owners).Draw(t, "by")
				list := rapid.SliceOfN(rapid.SampledFrom(pool), 1, 3).Draw(t, "list")
				add := rapid.Bool().Draw(t, "add")
				before := slices.Collect(s.All())
				move := s.Without
				if add {
					move = s.With
				}
				next, err := move(by, list...)
				mine := by != placement.Nobody && !slices.ContainsFunc(list, func(r placement.Reason) bool { return r.Owner() != by })
				if mine != (err == nil) {
					t.Fatalf("%v moves %q: %v", by, list, err)
				}
				if !slices.Equal(before, slices.Collect(s.All())) {
					t.Fatal("the old value changed")
				}
				if err != nil {
					return
				}
				for _, r := range list {
					if twin[r] = add; !add {
						delete(twin, r)
					}
				}
				s = next
			},
			"": func(t *rapid.T) {
				if s.Len() != len(twin) || !slices.IsSorted(slices.Collect(s.All())) {
					t.Fatalf("got %v, want %v", slices.Collect(s.All()), twin)
				}
				for r := range twin {
					if !s.Has(r) {
						t.Fatalf("lost %q", r)
					}
				}
			},
		})
	})
}

// Doing a move twice is doing it once, and adding then removing what was not
// there is doing nothing (P11).
func TestMovesAreIdempotent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		keys := rapid.SliceOfDistinct(rapid.SampledFrom([]string{"taint:a", "taint:b", "draining", "taint:dedicated=acme"}), rapid.ID[string]).Draw(t, "keys")
		s, _ := placement.ParseReasons(keys...)
		r := rapid.SampledFrom([]placement.Reason{"taint:a", "taint:dedicated=acme", "taint:new"}).Draw(t, "r")
		once, _ := s.With(placement.Operator, r)
		twice, err := once.With(placement.Operator, r)
		if err != nil || !once.Equal(twice) || s.Has(r) != s.Equal(once) {
			t.Fatalf("adding %q twice to %q: %v", r, keys, err)
		}
		back, err := twice.Without(placement.Operator, r)
		again, _ := back.Without(placement.Operator, r)
		if err != nil || !back.Equal(again) || back.Has(r) || !s.Has(r) && !back.Equal(s) {
			t.Fatalf("removing %q from %q: %v", r, keys, err)
		}
	})
}

func FuzzReason(f *testing.F) {
	for _, seed := range []string{"draining", "taint:dedicated=acme", "taint:dedicated=a/b", "taint:", "\xff", "taint:x"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, in string) {
		r, err := placement.ParseReason(in)
		if err != nil {
			if len(err.Error()) > 500 {
				t.Fatalf("an error of %d bytes", len(err.Error()))
			}
			return
		}
		if string(r) != in || len(in) > placement.MaxTaint+len("taint:") {
			t.Fatalf("accepted %q as %q", in, r)
		}
		if to, ok := r.Dedication(); ok && to != "" {
			if back, err := placement.DedicatedTo(to); err != nil || back != r {
				t.Fatalf("%q is dedicated to %q, whose reason is %q, %v", r, to, back, err)
			}
		}
	})
}
