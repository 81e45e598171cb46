package ingot_test

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// hidden are the names through which core code would read a clock, draw
// randomness or write somewhere. A list that starts with "only" names what is
// allowed instead.
var hidden = map[string][]string{
	"time":           {"Now", "Since", "Until", "Sleep", "After", "AfterFunc", "Tick", "NewTimer", "NewTicker", "Local", "LoadLocation"},
	"context":        {"WithTimeout", "WithTimeoutCause", "WithDeadline", "WithDeadlineCause"},
	"math/rand":      {"only", "New", "NewSource", "NewZipf", "Rand", "Source", "Source64", "Zipf"},
	"math/rand/v2":   {"only", "New", "NewPCG", "NewChaCha8", "NewZipf", "Rand", "Source", "PCG", "ChaCha8", "Zipf"},
	"hash/maphash":   {"MakeSeed", "Hash"},
	"crypto/ecdsa":   {"GenerateKey"},
	"crypto/ed25519": {"GenerateKey"},
	"crypto/rsa":     {"GenerateKey", "GenerateMultiPrimeKey"},
	"fmt":            {"Print", "Printf", "Println", "Scan", "Scanf", "Scanln"},
	"log/slog": {
		"Debug", "DebugContext", "Info", "InfoContext", "Warn", "WarnContext", "Error", "ErrorContext",
		"Log", "LogAttrs", "Default", "SetDefault", "With",
	},
}

// reached are the names by which a daemon would open the outside world by
// itself instead of being handed it.
var reached = map[string][]string{
	"net": {
		"Listen", "ListenConfig", "ListenIP", "ListenPacket", "ListenTCP", "ListenUDP", "ListenUnix",
		"ListenUnixgram", "ListenMulticastUDP", "Dial", "DialTimeout", "DialIP", "DialTCP", "DialUDP",
		"DialUnix", "Dialer",
	},
	"net/http": {
		"ListenAndServe", "ListenAndServeTLS", "Get", "Head", "Post", "PostForm", "DefaultClient",
		"DefaultTransport",
	},
	"crypto/tls":  {"Listen", "Dial", "DialWithDialer"},
	"crypto/rand": {"Reader", "Read", "Int", "Prime", "Text"},
}

// banned reports whether name of the package p stands in list.
func banned(list map[string][]string, p, name string) bool {
	names, ok := list[p]
	if ok && names[0] == "only" {
		return !slices.Contains(names[1:], name)
	}
	return slices.Contains(names, name)
}

// selectors reports every use of a banned name in code of the packages that
// in accepts. It sees through import names and is not fooled by a local
// variable named like a package.
func (t *tree) selectors(law string, list map[string][]string, in func(*pkg) bool) []finding {
	var out []finding
	for _, p := range t.pkgs() {
		if !in(p) {
			continue
		}
		_, info := t.resolve(p.code)
		inspect(p.code, func(n ast.Node) {
			sel, ok := n.(*ast.SelectorExpr)
			if !ok {
				return
			}
			if from := packageOf(info, sel.X); banned(list, from, sel.Sel.Name) {
				out = append(out, finding{law, t.at(sel.Pos()), p.dir + " uses " + from + "." + sel.Sel.Name})
			}
		})
	}
	return out
}

// packageOf returns the path of the package that x names, or "".
func packageOf(info *types.Info, x ast.Expr) string {
	id, ok := x.(*ast.Ident)
	if !ok {
		return ""
	}
	name, ok := info.Uses[id].(*types.PkgName)
	if !ok {
		return ""
	}
	return name.Imported().Path()
}

func inspect(files []*file, visit func(ast.Node)) {
	for _, f := range files {
		ast.Inspect(f.ast, func(n ast.Node) bool {
			if n != nil {
				visit(n)
			}
			return true
		})
	}
}

// coreCalls is law 1: no clock, no global randomness, no printing.
func coreCalls(t *tree) []finding {
	return t.selectors("core-calls", hidden, func(p *pkg) bool { return roleOf(p.dir) == core })
}

// daemonCalls is law 6: what a daemon is made of listens and dials nowhere,
// so that the whole can run in one bubble. Only a main opens the world, and what
// only tests import.
func daemonCalls(t *tree) []finding {
	return t.selectors("daemons", reached, func(p *pkg) bool {
		return !p.main() && roleOf(p.dir) != kit && (within(p.dir, "cmd/daemon") || within(p.dir, "cmd/internal"))
	})
}

// statements is law 1 for what is no call: no goroutine in core code; and for
// every package no init, no dot import and no package-level lock.
func statements(t *tree) []finding {
	var out []finding
	add := func(n ast.Node, what string) { out = append(out, finding{"statements", t.at(n.Pos()), what}) }
	for _, p := range t.pkgs() {
		inspect(p.code, func(n ast.Node) {
			switch n := n.(type) {
			case *ast.GoStmt:
				if roleOf(p.dir) == core {
					add(n, "core starts a goroutine")
				}
			case *ast.FuncDecl:
				if n.Name.Name == "init" && n.Recv == nil {
					add(n, "init runs before main and cannot be called")
				}
			case *ast.ImportSpec:
				if n.Name != nil && n.Name.Name == "." {
					add(n, "a dot import hides where names come from")
				}
			}
		})
		for _, v := range locks(p) {
			add(v, "a package variable holds a lock")
		}
	}
	return out
}

// locks returns the package variables declared with a type of sync or
// sync/atomic: state that changes without being assigned.
func locks(p *pkg) []ast.Node {
	var out []ast.Node
	for _, f := range p.code {
		for _, d := range f.ast.Decls {
			g, ok := d.(*ast.GenDecl)
			if !ok || g.Tok != token.VAR {
				continue
			}
			for _, s := range g.Specs {
				if v := s.(*ast.ValueSpec); isLock(v.Type) {
					out = append(out, v)
				}
			}
		}
	}
	return out
}

func isLock(x ast.Expr) bool {
	if index, ok := x.(*ast.IndexExpr); ok { // atomic.Pointer[T]
		x = index.X
	}
	sel, ok := x.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	id, ok := sel.X.(*ast.Ident)
	return ok && (id.Name == "sync" || id.Name == "atomic")
}

// assignments is law 1 for every package: a package variable keeps the value
// of its declaration. It sees =, op=, ++, range, delete, clear and copy, on
// the variable or on anything below it, by tests and by other packages too.
func assignments(t *tree) []finding {
	var out []finding
	for _, p := range t.pkgs() {
		for _, files := range units(p) {
			own, info := t.resolve(files)
			inspect(files, func(n ast.Node) {
				for _, x := range targets(info, n) {
					if name := t.packageVar(own, info, x); name != "" {
						out = append(out, finding{"assignments", t.at(x.Pos()), "the package variable " + name + " is changed after its declaration"})
					}
				}
			})
		}
	}
	return out
}

// units splits a folder into what compiles together: the package with its own
// tests, and the external tests.
func units(p *pkg) [][]*file {
	own, external := slices.Clone(p.code), []*file(nil)
	for _, f := range p.tests {
		if strings.HasSuffix(f.ast.Name.Name, "_test") {
			external = append(external, f)
		} else {
			own = append(own, f)
		}
	}
	return [][]*file{own, external}
}

// targets returns the expressions that a statement changes.
func targets(info *types.Info, n ast.Node) []ast.Expr {
	switch n := n.(type) {
	case *ast.AssignStmt:
		return n.Lhs // what := declares is no package variable
	case *ast.IncDecStmt:
		return []ast.Expr{n.X}
	case *ast.RangeStmt:
		return slices.DeleteFunc([]ast.Expr{n.Key, n.Value}, func(x ast.Expr) bool { return x == nil })
	case *ast.CallExpr:
		id, ok := n.Fun.(*ast.Ident)
		if !ok || len(n.Args) == 0 {
			return nil
		}
		_, builtin := info.Uses[id].(*types.Builtin)
		if builtin && slices.Contains([]string{"delete", "clear", "copy"}, id.Name) {
			return n.Args[:1]
		}
	}
	return nil
}

// packageVar returns the name of the package variable that x is a part of, or
// "". A variable that a test file declares is the test's own.
func (t *tree) packageVar(own *types.Package, info *types.Info, x ast.Expr) string {
	for {
		switch e := x.(type) {
		case *ast.ParenExpr:
			x = e.X
		case *ast.StarExpr:
			x = e.X
		case *ast.IndexExpr:
			x = e.X
		case *ast.SliceExpr:
			x = e.X
		case *ast.SelectorExpr:
			if from := packageOf(info, e.X); within(from, module) {
				return from + "." + e.Sel.Name
			}
			x = e.X
		case *ast.Ident:
			v, ok := info.Uses[e].(*types.Var)
			if !ok || v.Parent() != own.Scope() || strings.HasSuffix(t.fset.Position(v.Pos()).Filename, "_test.go") {
				return ""
			}
			return v.Name()
		default:
			return ""
		}
	}
}
