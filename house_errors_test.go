package ingot_test

import (
	"go/ast"
	"go/token"
	"maps"
	"slices"
	"strconv"
)

// errorCodes wants a method Code beside every method Error of core code, and
// a name of API-3 wherever a code is written out: returned by a method Code,
// or given to a field named code, Code or Refuse.
func errorCodes(t *tree) []finding {
	var out []finding
	add := func(n ast.Node, what string) { out = append(out, finding{"error-codes", t.at(n.Pos()), what}) }
	for _, p := range t.pkgs() {
		if roleOf(p.dir) != core {
			continue
		}
		coded := methods(p, "Code")
		failing := methods(p, "Error")
		for _, name := range slices.Sorted(maps.Keys(failing)) {
			if coded[name] == nil && !embeds(p, name, coded) {
				add(failing[name], "the error "+name+" has no Code")
			}
		}
		inspect(p.code, func(n ast.Node) {
			for _, lit := range codeLiterals(n) {
				if code, err := strconv.Unquote(lit.Value); err != nil || !slices.Contains(codes, code) {
					add(lit, lit.Value+" is no code of API-3")
				}
			}
		})
	}
	return out
}

// methods returns the methods of a package that take nothing, have this name
// and return one value, by the name of their receiver's type.
func methods(p *pkg, name string) map[string]*ast.FuncDecl {
	out := map[string]*ast.FuncDecl{}
	for _, f := range p.code {
		for _, d := range f.ast.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if ok && fn.Recv != nil && fn.Name.Name == name && fn.Type.Params.NumFields() == 0 && fn.Type.Results.NumFields() == 1 {
				out[receiver(fn.Recv.List[0].Type)] = fn
			}
		}
	}
	return out
}

// embeds reports whether the struct name takes its Code from a field without
// a name: a type of the package that has one, or another package's.
func embeds(p *pkg, name string, coded map[string]*ast.FuncDecl) bool {
	found := false
	inspect(p.code, func(n ast.Node) {
		spec, ok := n.(*ast.TypeSpec)
		if !ok || spec.Name.Name != name {
			return
		}
		body, ok := spec.Type.(*ast.StructType)
		if !ok {
			return
		}
		for _, f := range body.Fields.List {
			base := receiver(f.Type)
			found = found || f.Names == nil && (base == "" || coded[base] != nil)
		}
	})
	return found
}

// receiver returns the name of a receiver's type, whether it is a pointer or
// has type parameters.
func receiver(x ast.Expr) string {
	switch e := x.(type) {
	case *ast.StarExpr:
		return receiver(e.X)
	case *ast.IndexExpr:
		return receiver(e.X)
	case *ast.IndexListExpr:
		return receiver(e.X)
	case *ast.Ident:
		return e.Name
	}
	return ""
}

// codeLiterals returns the string literals that n uses as codes. The empty
// string is none: it stands for "not refused".
func codeLiterals(n ast.Node) []*ast.BasicLit {
	var out []*ast.BasicLit
	take := func(x ast.Expr) {
		if lit, ok := x.(*ast.BasicLit); ok && lit.Kind == token.STRING && lit.Value != `""` {
			out = append(out, lit)
		}
	}
	switch n := n.(type) {
	case *ast.KeyValueExpr:
		if id, ok := n.Key.(*ast.Ident); ok && slices.Contains([]string{"code", "Code", "Refuse"}, id.Name) {
			take(n.Value)
		}
	case *ast.FuncDecl:
		if n.Recv == nil || n.Name.Name != "Code" || n.Body == nil {
			return nil
		}
		ast.Inspect(n.Body, func(n ast.Node) bool {
			if r, ok := n.(*ast.ReturnStmt); ok {
				for _, x := range r.Results {
					take(x)
				}
			}
			return true
		})
	}
	return out
}
