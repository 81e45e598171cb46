package ingot_test

import (
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
)

const (
	behaviour = "docs/behaviour.md"
	decided   = "docs/decided.md"
	later     = "later: "
)

var (
	// definition is a line of behaviour.md that gives a requirement its name:
	// a list item, or a row of the table of joints.
	definition = regexp.MustCompile(`(?m)^(?:- |\| )([A-Z]+-[0-9]+) `)
	// mention is what looks like a requirement's name anywhere in Go code.
	mention = regexp.MustCompile(`\b([A-Z]{2,})-([0-9]+)\b`)
	// row is a line of a two-column table in decided.md.
	row = regexp.MustCompile(`(?m)^\| ([^|]+?) \| ([^|]+?) \|$`)
)

// defined returns the names of behaviour.md in its order, repeats included.
func defined(t *tree) []string {
	var names []string
	for _, m := range definition.FindAllStringSubmatch(t.texts[behaviour], -1) {
		names = append(names, m[1])
	}
	return names
}

// requirements wants every name defined once, and nothing cited in Go code
// that is not defined.
func requirements(t *tree) []finding {
	names := defined(t)
	if len(names) == 0 {
		return []finding{{"requirements", behaviour, "defines no requirement"}}
	}
	var out []finding
	known, groups := map[string]bool{}, map[string]bool{}
	for _, n := range names {
		if known[n] {
			out = append(out, finding{"requirements", behaviour, n + " is defined twice"})
		}
		group, _, _ := strings.Cut(n, "-")
		known[n], groups[group] = true, true
	}
	for _, p := range slices.Sorted(maps.Keys(t.texts)) {
		if path.Ext(p) != ".go" {
			continue
		}
		for n, line := range strings.Split(t.texts[p], "\n") {
			for _, m := range mention.FindAllStringSubmatch(line, -1) {
				if groups[m[1]] && !known[m[0]] {
					out = append(out, finding{"requirements", fmt.Sprintf("%s:%d", p, n+1), m[0] + " is not in " + behaviour})
				}
			}
		}
	}
	return out
}

// decisions holds decided.md to behaviour.md and to the code: each name once
// and in order, each package cites it outside tests, each later part is known.
func decisions(t *tree) []finding {
	var out []finding
	add := func(format string, args ...any) {
		out = append(out, finding{"decided", decided, fmt.Sprintf(format, args...)})
	}
	cited, parts := citations(t), map[string]bool{}
	var names []string
	for _, m := range row.FindAllStringSubmatch(t.texts[decided], -1) {
		name, cell := m[1], m[2]
		if mention.FindString(name) != name {
			parts[name] = true // a row of the table of later parts
			continue
		}
		names = append(names, name)
		for _, where := range strings.Split(cell, ", ") {
			part, isLater := strings.CutPrefix(where, later)
			switch {
			case isLater && !parts[part]:
				add("%s: %q is no later part", name, part)
			case !isLater && !slices.Contains(cited[name], where):
				add("%s: %s does not cite it (cited in %v)", name, where, cited[name])
			}
		}
	}
	if want := defined(t); !slices.Equal(names, want) {
		add("has not exactly the names of %s in its order: %s", behaviour, difference(names, want))
	}
	return out
}

// citations returns, for each requirement, the folders whose code cites it.
func citations(t *tree) map[string][]string {
	out := map[string][]string{}
	for _, p := range t.pkgs() {
		for _, f := range p.code {
			for _, name := range mention.FindAllString(t.texts[f.path], -1) {
				if !slices.Contains(out[name], p.dir) {
					out[name] = append(out[name], p.dir)
				}
			}
		}
	}
	return out
}

// difference names the first place where two lists part.
func difference(got, want []string) string {
	for i := range max(len(got), len(want)) {
		switch {
		case i >= len(got):
			return want[i] + " is missing"
		case i >= len(want):
			return got[i] + " is too much"
		case got[i] != want[i]:
			return fmt.Sprintf("row %d is %s, want %s", i+1, got[i], want[i])
		}
	}
	return "none"
}
