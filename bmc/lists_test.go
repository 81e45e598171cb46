package bmc_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/ingotmetal/ingot/bmc"
)

// constants are the values of the constants that the package declares with a
// type, as its source spells them.
func constants(t *testing.T, typ string) []string {
	t.Helper()
	names, err := fs.Glob(os.DirFS("."), "*.go")
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if spec, ok := n.(*ast.ValueSpec); ok {
				if id, ok := spec.Type.(*ast.Ident); ok && id.Name == typ {
					s, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
					if err != nil {
						t.Fatal(err)
					}
					out = append(out, s)
				}
			}
			return true
		})
	}
	return out
}

func spelled[T ~string](list []T) []string {
	var out []string
	for _, s := range list {
		out = append(out, string(s))
	}
	return out
}

// A list that is said to hold all of them does.
func TestListsAreComplete(t *testing.T) {
	for typ, list := range map[string][]string{
		"Feature": spelled(bmc.Features()), "Verb": spelled(bmc.Verbs()), "Action": spelled(bmc.Actions()),
	} {
		if declared := constants(t, typ); !sameSet(declared, list) {
			t.Errorf("%s: the list has %v, the package declares %v", typ, list, declared)
		}
	}
	if want := []string{"on", "off", "graceful-off", "reset", "graceful-restart", "cycle", "nmi"}; !sameSet(want, spelled(bmc.Verbs())) {
		t.Errorf("the verbs are not those of PROV-7: %v", bmc.Verbs())
	}
}

// Each action has a feature of its own, and each verb names it when it is all that
// is lacking.
func TestActionsNeedTheirFeature(t *testing.T) {
	seen := map[bmc.Feature]bool{}
	for _, a := range bmc.Actions() {
		if seen[a.Feature()] {
			t.Errorf("%s shares the feature %s", a, a.Feature())
		}
		seen[a.Feature()] = true
		p := able()
		delete(p.Supports, a.Feature())
		for _, v := range bmc.Verbs() {
			uses := false
			for _, b := range v.Actions() {
				uses = uses || a == b
			}
			if s := v.Support(p); (s.Level == bmc.Unsupported) != uses || uses && s.Why != string(a)+": not reported" {
				t.Errorf("%s without %s: %+v", v, a, s)
			}
		}
	}
}
