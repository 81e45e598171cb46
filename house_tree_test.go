package ingot_test

import (
	"bytes"
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
)

// module is the path that every import of ours begins with.
const module = "github.com/ingotmetal/ingot"

// A tree is the house as the laws see it: parsed, never compiled, so that a
// law can be judged while a package does not build.
type tree struct {
	fset  *token.FileSet
	dirs  map[string]*pkg   // by slash path below the root; "." is the root
	texts map[string]string // every text file by path, nested modules included
}

// A pkg is one folder of Go files, its tests beside it.
type pkg struct {
	dir         string
	code, tests []*file
}

// A file is one parsed Go file.
type file struct {
	path  string
	lines int
	test  bool
	ast   *ast.File
}

// A finding is one place where a law does not hold.
type finding struct{ law, where, what string }

func (f finding) String() string { return f.law + ": " + f.where + ": " + f.what }

// skipped names the folders no law looks into: version control, build output,
// and the planted trees that break the laws on purpose.
func skipped(p string) bool {
	return p == ".git" || p == "bin" || p == "testdata/house"
}

// load reads a tree. Folders named testdata and modules of their own hold no
// packages of ours; their text is read all the same.
func load(fsys fs.FS) (*tree, error) {
	t := &tree{fset: token.NewFileSet(), dirs: map[string]*pkg{}, texts: map[string]string{}}
	foreign := map[string]bool{}
	err := fs.WalkDir(fsys, ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if skipped(p) {
				return fs.SkipDir
			}
			foreign[p] = foreign[path.Dir(p)] && p != "." || isForeign(fsys, p)
			return nil
		}
		return t.read(fsys, p, foreign[path.Dir(p)])
	})
	return t, err
}

// isForeign reports whether no Go file below dir belongs to the module.
func isForeign(fsys fs.FS, dir string) bool {
	if dir == "." {
		return false
	}
	_, err := fs.Stat(fsys, path.Join(dir, "go.mod"))
	return err == nil || path.Base(dir) == "testdata"
}

func (t *tree) read(fsys fs.FS, p string, foreign bool) error {
	b, err := fs.ReadFile(fsys, p)
	if err != nil || bytes.IndexByte(b, 0) >= 0 {
		return err
	}
	t.texts[p] = string(b)
	if foreign || path.Ext(p) != ".go" {
		return nil
	}
	parsed, err := parser.ParseFile(t.fset, p, b, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return fmt.Errorf("house: %w", err)
	}
	dir := path.Dir(p)
	if t.dirs[dir] == nil {
		t.dirs[dir] = &pkg{dir: dir}
	}
	f := &file{path: p, lines: bytes.Count(b, []byte("\n")), test: strings.HasSuffix(p, "_test.go"), ast: parsed}
	if f.test {
		t.dirs[dir].tests = append(t.dirs[dir].tests, f)
	} else {
		t.dirs[dir].code = append(t.dirs[dir].code, f)
	}
	return nil
}

// pkgs returns the packages in the order of their folders.
func (t *tree) pkgs() []*pkg {
	var all []*pkg
	for _, p := range t.dirs {
		all = append(all, p)
	}
	slices.SortFunc(all, func(a, b *pkg) int { return cmp.Compare(a.dir, b.dir) })
	return all
}

// at renders a position as path:line.
func (t *tree) at(pos token.Pos) string {
	p := t.fset.Position(pos)
	return fmt.Sprintf("%s:%d", p.Filename, p.Line)
}

// all is the package's code and then its tests.
func (p *pkg) all() []*file { return slices.Concat(p.code, p.tests) }

// main reports whether the package is a program.
func (p *pkg) main() bool { return len(p.code) > 0 && p.code[0].ast.Name.Name == "main" }

// An imported is one import declaration, split into ours and others'.
type imported struct {
	path string // as written
	own  string // folder below the root when the package is ours, else ""
	pos  token.Pos
}

func (f *file) imports() []imported {
	var out []imported
	for _, spec := range f.ast.Imports {
		name, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			continue // the parser has refused it already
		}
		i := imported{path: name, pos: spec.Pos()}
		if name == module {
			i.own = "."
		} else if rest, ok := strings.CutPrefix(name, module+"/"); ok {
			i.own = rest
		}
		out = append(out, i)
	}
	return out
}

// std reports whether an import belongs to the standard library: its first
// element names no host.
func (i imported) std() bool {
	first, _, _ := strings.Cut(i.path, "/")
	return !strings.Contains(first, ".")
}

// within reports whether a slash path is root or lies below it.
func within(p, root string) bool { return p == root || strings.HasPrefix(p, root+"/") }

// hollow is an importer that knows every package and nothing in it. With it
// the type checker resolves which names are packages, package variables and
// locals; everything else it says is an error nobody reads.
type hollow struct{}

func (hollow) Import(p string) (*types.Package, error) {
	name := path.Base(p)
	if len(name) > 1 && name[0] == 'v' && strings.Trim(name[1:], "0123456789") == "" {
		name = path.Base(path.Dir(p))
	}
	out := types.NewPackage(p, name)
	out.MarkComplete()
	return out, nil
}

// resolve says what each name in files means, as far as their package alone
// can tell.
func (t *tree) resolve(files []*file) (*types.Package, *types.Info) {
	info := &types.Info{Uses: map[*ast.Ident]types.Object{}, Defs: map[*ast.Ident]types.Object{}}
	conf := types.Config{Importer: hollow{}, Error: func(error) {}}
	var parsed []*ast.File
	for _, f := range files {
		parsed = append(parsed, f.ast)
	}
	out, _ := conf.Check("p", t.fset, parsed, info) // errors are expected: imports are hollow
	return out, info
}
