package ingot_test

import (
	"fmt"
	"go/ast"
	"go/doc"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
)

// The longest a function and a file may be, in lines.
const (
	maxFunc = 80
	maxFile = 600
)

// lengths holds functions and files, tests included, to their bounds.
func lengths(t *tree) []finding {
	var out []finding
	for _, p := range t.pkgs() {
		for _, f := range p.all() {
			if f.lines > maxFile {
				out = append(out, finding{"lengths", f.path, fmt.Sprintf("%d lines, at most %d", f.lines, maxFile)})
			}
			for _, d := range f.ast.Decls {
				fn, ok := d.(*ast.FuncDecl)
				if !ok {
					continue
				}
				if n := t.fset.Position(fn.End()).Line - t.fset.Position(fn.Pos()).Line + 1; n > maxFunc {
					out = append(out, finding{"lengths", t.at(fn.Pos()), fmt.Sprintf("%s has %d lines, at most %d", fn.Name.Name, n, maxFunc)})
				}
			}
		}
	}
	return out
}

// packageDocs wants a package comment that begins as godoc expects, in
// exactly one file.
func packageDocs(t *tree) []finding {
	var out []finding
	for _, p := range t.pkgs() {
		if len(p.code) == 0 {
			continue
		}
		want := "Package " + p.code[0].ast.Name.Name + " "
		if p.main() {
			want = "Command "
		}
		var docs []string
		for _, f := range p.code {
			if f.ast.Doc != nil {
				docs = append(docs, f.ast.Doc.Text())
			}
		}
		switch {
		case len(docs) != 1:
			out = append(out, finding{"package-docs", p.dir, fmt.Sprintf("%d package comments, want one", len(docs))})
		case !strings.HasPrefix(docs[0], want):
			out = append(out, finding{"package-docs", p.dir, fmt.Sprintf("the package comment does not begin with %q", want)})
		}
	}
	return out
}

// exampleFunctions wants from every core package that declares anything an
// example that runs, that is, one with an Output comment.
func exampleFunctions(t *tree) []finding {
	var out []finding
	for _, p := range t.pkgs() {
		if roleOf(p.dir) != core || !declares(p) || internal(p.dir) {
			continue
		}
		var tests []*ast.File
		for _, f := range p.tests {
			tests = append(tests, f.ast)
		}
		runs := func(e *doc.Example) bool { return e.Output != "" || e.EmptyOutput }
		if !slices.ContainsFunc(doc.Examples(tests...), runs) {
			out = append(out, finding{"example-functions", p.dir, "no runnable Example"})
		}
	}
	return out
}

// declares reports whether the package holds more than its comment.
func declares(p *pkg) bool {
	return slices.ContainsFunc(p.code, func(f *file) bool { return len(f.ast.Decls) > 0 })
}

func internal(dir string) bool { return slices.Contains(strings.Split(dir, "/"), "internal") }

// licence wants the whole Apache License 2.0 at the root.
func licence(t *tree) []finding {
	text := t.texts["LICENSE"]
	for _, part := range []string{"Apache License", "Version 2.0, January 2004", "END OF TERMS AND CONDITIONS"} {
		if !strings.Contains(text, part) {
			return []finding{{"licence", "LICENSE", "lacks " + part}}
		}
	}
	return nil
}

var (
	// docLink is a link of a doc comment to a package of ours.
	docLink = regexp.MustCompile(`\[` + regexp.QuoteMeta(module) + `/([\w/]+)\]`)
	// fileLink is the target of a Markdown link, without its fragment.
	fileLink = regexp.MustCompile(`\]\(([^)#\s]+)[^)]*\)`)
)

// links wants every link of a doc comment to lead to a package, every
// relative link of a page to a file, and the root's comment to name every
// family.
func links(t *tree) []finding {
	var out []finding
	toured := map[string]bool{}
	for _, p := range slices.Sorted(maps.Keys(t.texts)) {
		switch path.Ext(p) {
		case ".go":
			for _, m := range docLink.FindAllStringSubmatch(t.texts[p], -1) {
				toured[m[1]] = toured[m[1]] || p == "doc.go"
				if t.dirs[m[1]] == nil {
					out = append(out, finding{"links", p, "links to the package " + m[1] + ", which is not there"})
				}
			}
		case ".md":
			for _, m := range fileLink.FindAllStringSubmatch(t.texts[p], -1) {
				if target := path.Join(path.Dir(p), m[1]); !strings.Contains(m[1], "://") && !t.has(target) {
					out = append(out, finding{"links", p, "links to " + target + ", which is not there"})
				}
			}
		}
	}
	for _, f := range families {
		if t.dirs[f] != nil && !toured[f] {
			out = append(out, finding{"links", "doc.go", "the tour does not name " + f})
		}
	}
	return out
}

// has reports whether p is a file or a folder with a file in it.
func (t *tree) has(p string) bool {
	for file := range t.texts {
		if within(file, p) {
			return true
		}
	}
	return false
}

// foreignWords are what no file of the project says: paths of somebody's
// machine, hosts it was fetched from, numbers of somebody's list of work, and
// promises. They are written so that this file does not say them either.
var foreignWords = map[string]*regexp.Regexp{
	"a folder beside the project": regexp.MustCompile(`[.][.]/shared`),
	"an absolute path":            regexp.MustCompile(`(^|[^\w.])/(?:work|home|root|Users)/\w`),
	"a registry host":             regexp.MustCompile(`(proxy|sum)[.]golang[.]org|registry[.]npmjs|pypi[.]org|deb[.]debian[.]org`),
	"a number on a list of work":  regexp.MustCompile(`(?i)\b(issue|ticket)s? #?\d`),
	"an unkept promise":           regexp.MustCompile(`\b(TO[D]O|FIX[M]E)\b`),
}

// ownWords is the law that the project speaks of itself alone.
func ownWords(t *tree) []finding {
	var out []finding
	for _, p := range slices.Sorted(maps.Keys(t.texts)) {
		for n, line := range strings.Split(t.texts[p], "\n") {
			for _, what := range slices.Sorted(maps.Keys(foreignWords)) {
				if foreignWords[what].MatchString(line) {
					out = append(out, finding{"own-words", fmt.Sprintf("%s:%d", p, n+1), "names " + what})
				}
			}
		}
	}
	return out
}
