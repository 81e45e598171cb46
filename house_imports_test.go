package ingot_test

import (
	"path"
	"slices"
	"strings"
)

// eachImport calls visit for every import in the tree.
func (t *tree) eachImport(visit func(p *pkg, f *file, i imported) string, law string) []finding {
	var out []finding
	for _, p := range t.pkgs() {
		for _, f := range p.all() {
			for _, i := range f.imports() {
				if what := visit(p, f, i); what != "" {
					out = append(out, finding{law, t.at(i.pos), what})
				}
			}
		}
	}
	return out
}

// coreImports is law 1: core code imports the closed part of the standard
// library nowhere, other packages of ours only when they are core, and a
// third party only where pureModules names it.
func coreImports(t *tree) []finding {
	return t.eachImport(func(p *pkg, f *file, i imported) string {
		switch {
		case f.test || roleOf(p.dir) != core:
			return ""
		case i.own != "" && roleOf(i.own) != core:
			return "core imports " + i.path + ", which is not core"
		case i.own != "":
			return ""
		case i.std() && isClosed(i.path):
			return "core imports " + i.path
		case !i.std() && !slices.ContainsFunc(pureModules[p.dir], func(m string) bool { return within(i.path, m) }):
			return "core imports the third party " + i.path
		}
		return ""
	}, "core-imports")
}

func isClosed(p string) bool {
	return !slices.Contains(open, p) &&
		slices.ContainsFunc(closed, func(c string) bool { return within(p, c) })
}

// familyImports is law 2: a family imports no other, tests included, and of
// the machines only lifecycle knows more than itself.
func familyImports(t *tree) []finding {
	return t.eachImport(func(p *pkg, _ *file, i imported) string {
		from, to := familyOf(p.dir), familyOf(i.own)
		switch {
		case from == "" || to == "" || p.dir == i.own:
			return ""
		case from != to && !slices.Contains(doors[from], i.own):
			return from + " imports " + i.own
		case from == to && slices.Contains(machines, i.own) && p.dir != "statemachine/lifecycle":
			return p.dir + " imports the machine " + i.own + "; only lifecycle does"
		}
		return ""
	}, "families")
}

// thirdParties is law 3: every third party stays in the rooms given to it.
func thirdParties(t *tree) []finding {
	return t.eachImport(func(p *pkg, f *file, i imported) string {
		switch {
		case i.std() || i.own != "" || lodged(lodgings, i.path, p.dir):
			return ""
		case f.test && lodged(guests, i.path, p.dir):
			return ""
		case roleOf(p.dir) == kit || roleOf(p.dir) == core && !f.test:
			return "" // laws 4 and 1 judge these
		case f.test && slices.ContainsFunc(pureModules[p.dir], func(m string) bool { return within(i.path, m) }):
			return ""
		}
		return i.path + " has no room in " + p.dir
	}, "third-parties")
}

// kits is law 4: a kit imports its parent, the standard library, rapid and
// porcupine, only tests and kitFronts import a kit, and a kit has tests of its
// own, which hand it the mutants that it must find.
func kits(t *tree) []finding {
	var out []finding
	for _, p := range t.pkgs() {
		if roleOf(p.dir) == kit && len(p.tests) == 0 {
			out = append(out, finding{"kits", p.dir, "the kit is not tested itself"})
		}
	}
	return append(out, kitImports(t)...)
}

func kitImports(t *tree) []finding {
	return t.eachImport(func(p *pkg, f *file, i imported) string {
		switch {
		case f.test:
			return ""
		case i.own != "" && kitFronts[p.dir] == i.own:
			return ""
		case i.own != "" && roleOf(i.own) == kit:
			return "the kit " + i.own + " is imported outside a test"
		case i.path == "testing" && roleOf(p.dir) != kit:
			return "testing is imported outside tests and kits"
		case roleOf(p.dir) != kit || i.std():
			return ""
		case i.own != "" && i.own != path.Dir(p.dir) && !slices.Contains(kitNeeds[p.dir], i.own):
			return "a kit imports " + i.own + ", which is not its parent"
		case i.own == "" && !lodged(kitGuests, i.path, p.dir):
			return "a kit imports " + i.path
		}
		return ""
	}, "kits")
}

// exampleImports is law 5: what a newcomer copies imports the standard
// library and packages that anyone may import.
func exampleImports(t *tree) []finding {
	return t.eachImport(func(p *pkg, f *file, i imported) string {
		switch {
		case !within(p.dir, "examples") || i.std():
			return ""
		case i.own == "":
			if f.test && lodged(guests, i.path, p.dir) {
				return ""
			}
			return "an example imports " + i.path
		case slices.Contains(strings.Split(i.own, "/"), "internal"):
			return "an example imports " + i.own + ", which nobody outside can"
		case t.dirs[i.own] != nil && t.dirs[i.own].main():
			return "an example imports the program " + i.own
		}
		return ""
	}, "examples")
}
