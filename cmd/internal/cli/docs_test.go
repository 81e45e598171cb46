package cli_test

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ingotmetal/ingot/cmd/internal/cli"
	"github.com/ingotmetal/ingot/statemachine/statemachinetest"
)

func TestReferencePages(t *testing.T) {
	statemachinetest.Golden(t, "../../../docs/cli.md", cli.Reference())
	statemachinetest.Golden(t, "../../../docs/exit-codes.md", cli.ExitCodes())
}

// The help of the exit codes is the map, code by code.
func TestExitCodesAreAllTold(t *testing.T) {
	f := newFake(t)
	got := f.run("help", "exit-codes")
	n := 0
	for code, means := range cli.Exits() {
		if int(code) != n || !strings.Contains(got.out, means) {
			t.Errorf("%d (%s) is not told", code, means)
		}
		n++
	}
	if n != 11 || got.code != 0 {
		t.Errorf("%d codes, %d", n, got.code)
	}
}

// constants are how the code names what programs read: a Reason of a refusal, or a
// code of a failure.
var constants = regexp.MustCompile(`\bReason: "([A-Z_]+)"|(?m)^\t[A-Z]\w+ += "([A-Z_]{4,})"$`)

// Every constant that an answer may carry is explained.
func TestEveryConstantIsExplained(t *testing.T) {
	f := newFake(t)
	found := map[string]bool{}
	for _, dir := range []string{"statemachine/lifecycle", "statemachine/provision", "cmd/internal/server", "cmd/internal/control"} {
		files, err := filepath.Glob("../../../" + dir + "/*.go")
		must(t, err)
		for _, name := range files {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			raw, err := os.ReadFile(name)
			must(t, err)
			for _, m := range constants.FindAllStringSubmatch(string(raw), -1) {
				found[m[1]+m[2]] = true
			}
		}
	}
	for _, want := range []string{"MAC_CLAIMED", "NEEDS_BATCH", "UNVERIFIED_WIPE"} {
		if !found[want] {
			t.Errorf("the search does not find %s", want)
		}
	}
	for _, code := range slices.Sorted(maps.Keys(found)) {
		if got := f.run("explain", code); got.code != 0 || !strings.HasPrefix(got.out, code+": ") {
			t.Errorf("%s: %s", code, got.err)
		}
	}
}

// The tables answer without a server.
func TestLifecycle(t *testing.T) {
	f := newFake(t)
	for line, want := range map[string]string{
		"lifecycle show registration":                                          "awaiting_setup",
		"lifecycle show boot --mermaid":                                        "stateDiagram-v2",
		"lifecycle show provision -o json":                                     `"schema": "ingot.lifecycle.show/1"`,
		"lifecycle why registration pending approve-setup":                     "is refused in pending with",
		"lifecycle why registration pending approve-setup -q .rules[].refused": "CONFLICT",
		"lifecycle path registration pending approved":                         "1. register takes pending to approved, when window",
		"lifecycle path registration pending pending":                          "it is there already",
		"lifecycle why scheduling open cordon":                                 "cordon takes open to cordoned",
		"explain mac-claimed":                                                  "MAC_CLAIMED",
		"explain CONFLICT -q .exit":                                            "5",
		"version":                                                              "ingot devel",
	} {
		if got := f.run(strings.Fields(line)...); got.code != 0 || !strings.Contains(got.out, want) {
			t.Errorf("%s: %d\n%s%s", line, got.code, got.out, got.err)
		}
	}
	if f.count() != 0 {
		t.Error("a server was asked")
	}
}
