package bmctest_test

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/xml"
	"log"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ingotmetal/ingot/bmc"
	"github.com/ingotmetal/ingot/bmc/bmctest"
)

// A driver without a BMC to try it on: what needs none is checked, and the rest
// is said to be not run.
func report(t *testing.T) bmctest.Report {
	t.Helper()
	var told int
	r := bmctest.Judge(t.Context(), bmctest.Subject{Driver: naive{}}, func(bmctest.Result) { told++ })
	if told != len(r.Results) || r.OK() || r.Count(bmctest.Broken) == 0 || r.Count(bmctest.NotRun) == 0 {
		t.Fatalf("told %d of %d; broken %d, not run %d", told, len(r.Results), r.Count(bmctest.Broken), r.Count(bmctest.NotRun))
	}
	for _, one := range r.Results {
		if one.State != bmctest.Kept && one.Why == "" {
			t.Errorf("%s says not why", one)
		}
	}
	return r
}

func TestReportForms(t *testing.T) {
	r := report(t)
	var text, doc, junit bytes.Buffer
	for _, err := range []error{r.Text(&text), r.JSON(&doc), r.JUnit(&junit)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if !strings.Contains(text.String(), "broken  P 01 options over 1 KiB are refused: ") || !strings.Contains(text.String(), "not-run S 16 ") {
		t.Errorf("text:\n%s", &text)
	}
	var in struct {
		Driver string
		Broken int
		Laws   []struct{ State, Why string }
	}
	if err := json.Unmarshal(doc.Bytes(), &in); err != nil || in.Driver != "naive" || in.Broken != r.Count(bmctest.Broken) || len(in.Laws) != len(r.Results) {
		t.Errorf("JSON: %v\n%s", err, &doc)
	}
	var suite struct {
		Tests    int `xml:"tests,attr"`
		Failures int `xml:"failures,attr"`
		Skipped  int `xml:"skipped,attr"`
		Cases    []struct {
			Failure *struct{} `xml:"failure"`
		} `xml:"testcase"`
	}
	if err := xml.Unmarshal(junit.Bytes(), &suite); err != nil || suite.Failures != r.Count(bmctest.Broken) || suite.Skipped != r.Count(bmctest.NotRun) || len(suite.Cases) != suite.Tests {
		t.Errorf("JUnit: %v\n%s", err, &junit)
	}
}

// A run that ends early says of what is left that it was not checked well, and
// never that it was kept.
func TestJudgeEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	sim := &bmctest.Simulator{}
	r := bmctest.Judge(ctx, bmctest.Subject{Driver: good(sim), Stage: sim.Stage, Levels: []bmctest.Level{bmctest.Simulated}}, nil)
	if n := r.Count(bmctest.Kept); n != 0 {
		t.Errorf("%d laws are kept", n)
	}
	if len(r.Results) == 0 {
		t.Error("no results")
	}
}

// Every law has a number, a name and a level of its own.
func TestLawsAreNamed(t *testing.T) {
	numbers, names := map[int]bool{}, map[string]bool{}
	for _, l := range bmctest.Laws() {
		if numbers[l.Number] || names[l.Name] || l.Name == "" || l.Level == "" {
			t.Errorf("law %d, %q, level %q", l.Number, l.Name, l.Level)
		}
		numbers[l.Number], names[l.Name] = true, true
		for _, f := range l.Needs {
			if !slices.Contains(bmc.Features(), f) {
				t.Errorf("law %d needs %s, which is no feature", l.Number, f)
			}
		}
	}
	for n := 1; n <= 62; n++ {
		if ipmi := n >= 54 && n <= 58; numbers[n] == ipmi {
			t.Errorf("law %d: there %t", n, numbers[n])
		}
	}
}

// The process's loggers are as they were when a run is over, many at once too.
func TestJudgeLeavesTheLoggers(t *testing.T) {
	was, to, flags := slog.Default(), log.Writer(), log.Flags()
	synctest.Test(t, func(t *testing.T) {
		sim := &bmctest.Simulator{}
		r := bmctest.Judge(t.Context(), bmctest.Subject{Driver: good(sim), Stage: sim.Stage, Only: 6, Parallel: 4}, nil)
		if !r.OK() {
			t.Errorf("%+v", r.Results)
		}
		time.Sleep(10 * time.Second) // both ends of a connection in memory close
	})
	if slog.Default() != was || log.Writer() != to || log.Flags() != flags {
		t.Errorf("the loggers differ: %t %t %d", slog.Default() == was, log.Writer() == to, log.Flags())
	}
}

// A law is not run where all of it lacks something, and broken where a part is.
func TestJudgeTellsLackFromBreak(t *testing.T) {
	all := func() []bmctest.Recording { return bmctest.Recordings()[:3] }
	sim := &bmctest.Simulator{}
	shows := func(none ...string) func(context.Context, bmctest.Scene) (bmctest.Stage, error) {
		return func(ctx context.Context, s bmctest.Scene) (bmctest.Stage, error) {
			if name, _, _ := s.Recording(); slices.Contains(none, name) {
				return nil, bmctest.ErrNoScene
			}
			return sim.Stage(ctx, s)
		}
	}
	names := []string{all()[0].Name, all()[1].Name, all()[2].Name}
	refuses := &bent{Driver: good(sim), session: func(s *session) {
		s.probe = func(context.Context) (bmc.Probed, error) {
			return bmc.Probed{}, &bmc.Error{Kind: bmc.Protocol, Op: "probe"}
		}
	}}
	stops, stop := context.WithCancel(t.Context())
	leaves := &bent{Driver: good(sim), session: func(s *session) {
		s.probe = func(context.Context) (bmc.Probed, error) { stop(); return bmc.Probed{}, stops.Err() }
	}}
	for name, c := range map[string]struct {
		ctx        context.Context
		driver     bmc.Driver
		recordings func() []bmctest.Recording
		none       []string
		want       bmctest.State
	}{
		"all there":            {t.Context(), good(sim), all, nil, bmctest.Kept},
		"none there":           {t.Context(), good(sim), all, names, bmctest.NotRun},
		"one there and broken": {t.Context(), refuses, all, names[:2], bmctest.Broken},
		"no recordings":        {t.Context(), good(sim), func() []bmctest.Recording { return nil }, nil, bmctest.NotRun},
		"the caller goes":      {stops, leaves, all, nil, bmctest.NotRun},
	} {
		r := bmctest.Judge(c.ctx, bmctest.Subject{Driver: c.driver, Stage: shows(c.none...), Recordings: c.recordings, Only: 51}, nil)
		if is := r.Results[0]; is.State != c.want || is.State == bmctest.NotRun && is.Why == "" {
			t.Errorf("%s: %s, want %s", name, is, c.want)
		}
	}
}
