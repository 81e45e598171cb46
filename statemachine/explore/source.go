package explore

import (
	"errors"
	"fmt"
	"go/format"
	"reflect"
	"slices"
	"strings"
)

// Source says how a counterexample becomes a Go test.
type Source[I any] struct {
	Package string   // of the test file. Required
	Test    string   // the function's name, beginning with Test. Required
	Model   string   // a Go expression for the model, such as "newModel()". Required
	Imports []string // paths that Model and the inputs need; testing and this package are added
	// Type is I as the test file writes it. The default is its own name,
	// without the package if that is Package.
	Type string
	// Input writes an input as a Go expression. The default is %#v, fit for
	// inputs without pointers; fields of Package's own types need the hook.
	Input func(in I) string
}

// GoTest writes c as a Go file with a test that takes the same history through
// a model and fails for as long as it breaks the promise; see [Retell]. It
// reports an error if what src says does not make a Go file; whether that
// compiles is for the compiler to say.
func (c *Counterexample[S, I]) GoTest(src Source[I]) (string, error) {
	if src.Package == "" || src.Model == "" || !strings.HasPrefix(src.Test, "Test") {
		return "", &Invalid{Model: c.Model, Why: errors.New("Source needs Package, Model and a Test that begins with Test")}
	}
	file, err := format.Source([]byte(c.goFile(src.orDefaults())))
	if err != nil {
		return "", &Invalid{Model: c.Model, Why: fmt.Errorf("the test is not Go: %w", err)}
	}
	return string(file), nil
}

// goFile writes the file, not yet formatted.
func (c *Counterexample[S, I]) goFile(src Source[I]) string {
	var b strings.Builder
	p := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	p("package %s\n\nimport (\n\"testing\"\n", src.Package)
	for _, path := range slices.Concat(src.Imports, []string{reflect.TypeFor[Limits]().PkgPath()}) {
		p("%q", path) // the formatter sorts them
	}
	p(")\n")
	p("// %s", oneLine(fmt.Sprintf("%s tells again how %s broke %q%s: %v.", src.Test, c.Model, c.Law, c.req(), c.Why)))
	p("func %s(t *testing.T) {", src.Test)
	p("history := explore.History[%s]{", src.Type)
	if c.Start != 0 {
		p("Start: %d,", c.Start)
	}
	p("Law: %q,\nInputs: []%s{", c.Law, src.Type)
	for i, in := range c.Inputs {
		p("%s,%s", src.Input(in), c.comment(i+1))
	}
	p("},\n}")
	p("if err := explore.Retell(%s, history); err != nil {\nt.Fatal(err)\n}\n}", src.Model)
	return b.String()
}

// comment tells the key that input i led to.
func (c *Counterexample[S, I]) comment(i int) string {
	if i >= len(c.shown) {
		return ""
	}
	return " // " + oneLine(c.shown[i])
}

// oneLine keeps text from ending a line comment.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// orDefaults fills in what is zero.
func (src Source[I]) orDefaults() Source[I] {
	own := reflect.TypeFor[I]().String()
	if src.Type == "" {
		src.Type = strings.TrimPrefix(own, src.Package+".")
	}
	if src.Input == nil {
		src.Input = func(in I) string {
			text := fmt.Sprintf("%#v", in)
			if fields, ok := strings.CutPrefix(text, own+"{"); ok {
				return "{" + fields // the slice around it says the type
			}
			return text
		}
	}
	return src
}
