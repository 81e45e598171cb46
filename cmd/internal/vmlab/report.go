package vmlab

import (
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"errors"
	"html/template"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

//go:embed report.html
var reportPage string

// A shownReport is the page.
type shownReport struct {
	Began      string
	Failure    string // why the lab was abandoned
	Lived, Bad int    // parts in scenarios, and how many failed
	Rows       []shownRow
	Site       []shownMoment
	Machines   []shownMachine
}

// A shownRow is a line of the table on top: a machine's part in a scenario, or a machine
// that had none.
type shownRow struct {
	Result
	Cycles int
}

// A shownMachine is a machine in the report.
type shownMachine struct {
	Spec
	Lived, Bad int
	Failures   []string
	Screen     template.URL // data of its last picture, where it failed
	Moments    []shownMoment
	Boots      []shownBoot
}

// A shownMoment is a line of a timeline.
type shownMoment struct {
	Moment
	After float64 // since the line before; 0 is not worth a word
	More  string  // what is behind the first line of the detail
}

// A shownBoot is one power cycle, with its console.
type shownBoot struct {
	N     int
	Lines int
	Text  string
}

// maxShown is how much of a console the page has, in bytes; the file has all of it.
const maxShown = 200 << 10

// report writes report.html and report.json.
func (l *Lab) report(results []Result) error {
	l.mu.Lock()
	moments := slices.Clone(l.moments)
	l.mu.Unlock()
	all := map[string]any{"results": results, "moments": moments}
	if l.failure != nil {
		all["failure"] = l.failure.Error()
	}
	raw, err := json.MarshalIndent(all, "", "  ")
	if err != nil {
		return err
	}
	page, err := l.page(results, moments)
	if err != nil {
		return err
	}
	return errors.Join(os.WriteFile(filepath.Join(l.Dir, "report.json"), append(raw, '\n'), 0o600), os.WriteFile(filepath.Join(l.Dir, "report.html"), []byte(page), 0o600))
}

// page is report.html.
func (l *Lab) page(results []Result, moments []Moment) (string, error) {
	page := shownReport{Began: l.began.UTC().Format("2006-01-02 15:04:05 MST"), Site: timeline(moments, "site"), Lived: len(results), Bad: failures(results)}
	if l.failure != nil {
		page.Failure = l.failure.Error()
	}
	for _, m := range l.machines {
		s, err := m.shown(results, moments)
		if err != nil {
			return "", err
		}
		page.Machines = append(page.Machines, s)
		for _, r := range results {
			if r.Machine == m.Name {
				page.Rows = append(page.Rows, shownRow{r, m.boots})
			}
		}
		if s.Lived == 0 {
			page.Rows = append(page.Rows, shownRow{Result{Machine: m.Name}, m.boots})
		}
	}
	for _, r := range results { // of no machine of ours
		if !slices.ContainsFunc(l.machines, func(m *Machine) bool { return m.Name == r.Machine }) {
			page.Rows = append(page.Rows, shownRow{Result: r})
		}
	}
	t, err := template.New("report").Funcs(template.FuncMap{"first": first, "rest": rest}).Parse(reportPage)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	err = t.Execute(&b, page)
	return b.String(), err
}

// shown is a machine's part of the page.
func (m *Machine) shown(results []Result, moments []Moment) (shownMachine, error) {
	s := shownMachine{Spec: m.Spec, Moments: timeline(moments, m.Name)}
	for _, r := range results {
		if r.Machine != m.Name {
			continue
		}
		if s.Lived++; r.Error != "" {
			s.Bad++
			s.Failures = append(s.Failures, r.Error)
		}
	}
	if png, err := os.ReadFile(m.screenFile()); s.Bad > 0 && err == nil {
		s.Screen = template.URL("data:image/png;base64," + base64.StdEncoding.EncodeToString(png))
	}
	for n := 1; n <= m.boots; n++ {
		text, err := os.ReadFile(m.consoleFile(n))
		if err != nil {
			return s, err
		}
		s.Boots = append(s.Boots, shownBoot{n, strings.Count(string(text), "\n"), clip(string(text))})
	}
	return s, nil
}

func failures(results []Result) (n int) {
	for _, r := range results {
		if r.Error != "" {
			n++
		}
	}
	return n
}

// noticed is how long must lie between two lines for the page to say so, in seconds.
const noticed = 0.05

// timeline are the lines of one.
func timeline(all []Moment, who string) (out []shownMoment) {
	before := -1.0
	for _, m := range all {
		if m.Who != who {
			continue
		}
		s := shownMoment{Moment: m, More: rest(m.Detail)}
		if gap := m.Seconds - before; before >= 0 && gap >= noticed {
			s.After = gap
		}
		before = m.Seconds
		out = append(out, s)
	}
	return out
}

// first is a text's first line.
func first(text string) string { line, _, _ := strings.Cut(text, "\n"); return line }

// rest is what is behind it.
func rest(text string) string { _, more, _ := strings.Cut(text, "\n"); return more }

// clip leaves out the middle of a long text.
func clip(s string) string {
	if len(s) <= maxShown {
		return s
	}
	return s[:maxShown/2] + "\n ... the file has the rest ...\n" + s[len(s)-maxShown/2:]
}
