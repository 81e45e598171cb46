package command_test

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ingotmetal/ingot/cmd/internal/agent"
	"github.com/ingotmetal/ingot/cmd/internal/agent/command"
	"github.com/ingotmetal/ingot/cmd/internal/program"
)

// rows are the rows of the table of the page whose head begins with a word.
func rows(t *testing.T, head string) [][]string {
	t.Helper()
	raw, err := os.ReadFile("../../../../docs/noded.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok := strings.Cut(string(raw), "\n| "+head+" |")
	if !ok {
		t.Fatalf("no table has a column %q first", head)
	}
	var out [][]string
	for i, line := range strings.Split(rest, "\n") {
		if i < 2 {
			continue // the rest of the head, and its rule
		}
		if !strings.HasPrefix(line, "|") {
			break
		}
		var cells []string
		for _, c := range strings.Split(strings.Trim(line, "|"), "|") {
			cells = append(cells, strings.TrimSpace(c))
		}
		out = append(out, cells)
	}
	return out
}

// column is one column.
func column(rows [][]string, n int) []string {
	var out []string
	for _, r := range rows {
		out = append(out, r[n])
	}
	return out
}

func TestPageHasTheKernelsArguments(t *testing.T) {
	if got, want := column(rows(t, "argument"), 0), agent.Words(); !slices.Equal(got, want) {
		t.Errorf("the page has %q, the agent reads %q", got, want)
	}
}

func TestPageHasTheSettings(t *testing.T) {
	var want, flags []string
	s := reflect.TypeFor[command.Settings]()
	for i := range s.NumField() {
		name, _, _ := strings.Cut(s.Field(i).Tag.Get("json"), ",")
		want, flags = append(want, name), append(flags, "--"+strings.ReplaceAll(name, "_", "-"))
	}
	if got := rows(t, "field"); !slices.Equal(column(got, 0), want) || !slices.Equal(column(got, 1), flags) {
		t.Errorf("the page has %q and %q, the settings are %q", column(got, 0), column(got, 1), want)
	}
	help := command.Command((newRig(t)).world()).PersistentFlags()
	for _, f := range flags {
		if help.Lookup(strings.TrimPrefix(f, "--")) == nil {
			t.Errorf("there is no %s", f)
		}
	}
}

// coded is any error with a code.
type coded string

func (c coded) Error() string { return string(c) }
func (c coded) Code() string  { return string(c) }

func TestPageHasTheExitCodes(t *testing.T) {
	all := rows(t, "code")
	for i, r := range all {
		if r[0] != strconv.Itoa(i) {
			t.Errorf("row %d is of code %s", i, r[0])
		}
		for _, name := range regexp.MustCompile(`[A-Z_]+`).FindAllString(r[1], -1) {
			if got := program.ExitCode(coded(name)); got != i {
				t.Errorf("%s ends with %d, the page says %d", name, got, i)
			}
		}
	}
	if n := len(regexp.MustCompile(`[A-Z]+_?[A-Z]+`).FindAllString(fmt.Sprint(column(all, 1)), -1)); n != 10 {
		t.Errorf("the page has %d codes of errors, there are 10", n)
	}
}

// The page tells where the key is on a disk as the code has it.
func TestPageHasThePlacesOfTheKey(t *testing.T) {
	kept := fmt.Sprint(rows(t, "what"))
	for _, want := range []string{fmt.Sprintf("%d KiB each", agent.KeepSize>>10), fmt.Sprintf("%d KiB and %d KiB", agent.KeepFirst>>10, agent.KeepSecond>>10)} {
		if !strings.Contains(kept, want) {
			t.Errorf("%q is not in %s", want, kept)
		}
	}
}

// What the page says that noded says, some code of it does say.
func TestPageHasTheFailures(t *testing.T) {
	var code strings.Builder
	for _, pattern := range []string{"../*.go", "../host/*.go", "../../sessions/*.go", "../../pin/*.go"} {
		names, err := filepath.Glob(pattern)
		if err != nil || len(names) == 0 {
			t.Fatalf("%s: %v", pattern, err)
		}
		for _, name := range names {
			raw, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			code.Write(raw)
		}
	}
	code.WriteString("connection refused, no route to host") // the kernel says so
	for _, cell := range column(rows(t, "what it says"), 0) {
		for part := range strings.SplitSeq(cell, "...") {
			if part = strings.TrimSpace(part); !strings.Contains(code.String(), part) {
				t.Errorf("nothing says %q", part)
			}
		}
	}
}
