package explore_test

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/ingotmetal/ingot/statemachine/explore"
)

// The files told_*_test.go are what GoTest writes for two planted faults, so
// the compiler reads them with the package. In a usual run they face the sound
// lock and pass; TestToldTestsFail plants the fault and demands that they fail.

var update = flag.Bool("update", false, "write told_*_test.go anew")

const plant = "EXPLORE_PLANT"

// planted is f in a process that TestToldTestsFail started, else sound.
func planted(f fault) fault {
	if os.Getenv(plant) == "" {
		return sound
	}
	return f
}

var told = []struct {
	file, test, law string
	length          int
	fault           fault
	model           string
}{
	{"told_lock_test.go", "TestToldLock", "one inside", 6, keepTurn, "peterson(planted(keepTurn))"},
	{"told_deadlock_test.go", "TestToldDeadlock", explore.Settles, 2, noTurn, "peterson(planted(noTurn))"},
}

func TestToldTestsAreWhatGoTestWrites(t *testing.T) {
	for _, c := range told {
		got, err := broken(t, peterson(c.fault), c.law, c.length).GoTest(explore.Source[act]{
			Package: "explore_test", Test: c.test, Model: c.model,
		})
		if err != nil {
			t.Fatal(err)
		}
		if *update {
			if err := os.WriteFile(c.file, []byte(got), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(c.file)
		if err != nil {
			t.Fatal(err)
		}
		if got != string(want) {
			t.Errorf("%s differs; GoTest writes:\n%s", c.file, got)
		}
	}
}

func TestToldTestsFail(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range told {
		cmd := exec.Command(self, "-test.run=^"+c.test+"$")
		cmd.Env = append(os.Environ(), plant+"=1")
		out, err := cmd.CombinedOutput()
		if exit, ok := errors.AsType[*exec.ExitError](err); !ok || exit.ExitCode() != 1 {
			t.Errorf("%s with the fault planted: got %v, want exit code 1\n%s", c.test, err, out)
		}
		if want := fmt.Sprintf("peterson breaks %q", c.law); !strings.Contains(string(out), want) {
			t.Errorf("%s does not say that %s:\n%s", c.test, want, out)
		}
	}
}

func TestGoTestHooks(t *testing.T) {
	m := counter(11)
	m.Name = "counter\nof ten"
	m.Start = []int{0, 9}
	c := broken(t, m, "at most 10", 1)
	got, err := c.GoTest(explore.Source[int]{
		Package: "count", Test: "TestCount", Model: "model.New()", Type: "model.Step",
		Imports: []string{"example.org/model", "errors"},
		Input:   func(in int) string { return fmt.Sprintf("model.By(%d)", in) },
	})
	if err != nil {
		t.Fatal(err)
	}
	const want = `package count

import (
	"testing"

	"errors"
	"example.org/model"
	"github.com/ingotmetal/ingot/statemachine/explore"
)

// TestCount tells again how counter of ten broke "at most 10": counted to 11.
func TestCount(t *testing.T) {
	history := explore.History[model.Step]{
		Start: 1,
		Law:   "at most 10",
		Inputs: []model.Step{
			model.By(2), // 11
		},
	}
	if err := explore.Retell(model.New(), history); err != nil {
		t.Fatal(err)
	}
}
`
	if got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}

func TestGoTestRefusesBadSources(t *testing.T) {
	c := broken(t, counter(11), "at most 10", 6)
	for name, src := range map[string]explore.Source[int]{
		"no package": {Test: "TestIt", Model: "m()"},
		"no model":   {Package: "p", Test: "TestIt"},
		"no test":    {Package: "p", Test: "It", Model: "m()"},
		"not Go":     {Package: "p", Test: "TestIt", Model: "m("},
	} {
		if got, err := c.GoTest(src); got != "" || err == nil || !strings.Contains(err.Error(), "counter") {
			t.Errorf("%s: got %q, %v", name, got, err)
		}
	}
}
