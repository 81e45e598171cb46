package vmlab

import (
	_ "embed"
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

// A shownMachine is a machine in the report.
type shownMachine struct {
	Result
	Spec
	Moments []Moment
	Boots   []shownBoot
}

// A shownBoot is one power cycle, with its console.
type shownBoot struct {
	N    int
	Text string
}

// maxShown is how much of a console the page has, in bytes; the file has all of it.
const maxShown = 200 << 10

// report writes report.html and report.json.
func (l *Lab) report(results []Result) error {
	l.mu.Lock()
	moments := slices.Clone(l.moments)
	l.mu.Unlock()
	raw, err := json.MarshalIndent(map[string]any{"results": results, "moments": moments}, "", "  ")
	if err != nil {
		return err
	}
	page := struct {
		Began    string
		Site     []Moment
		Machines []shownMachine
		Results  []Result
	}{Results: results, Began: l.began.UTC().Format("2006-01-02 15:04:05 MST"), Site: of(moments, "site")}
	for _, m := range l.machines {
		s := shownMachine{Spec: m.Spec, Moments: of(moments, m.Name)}
		s.Result = resultOf(results, m.Name)
		for n := 1; n <= m.boots; n++ {
			text, err := os.ReadFile(m.consoleFile(n))
			if err != nil {
				return err
			}
			s.Boots = append(s.Boots, shownBoot{n, clip(string(text))})
		}
		page.Machines = append(page.Machines, s)
	}
	t, err := template.New("report").Parse(reportPage)
	if err != nil {
		return err
	}
	var b strings.Builder
	if err := t.Execute(&b, page); err != nil {
		return err
	}
	return errors.Join(os.WriteFile(filepath.Join(l.Dir, "report.json"), append(raw, '\n'), 0o600), os.WriteFile(filepath.Join(l.Dir, "report.html"), []byte(b.String()), 0o600))
}

// resultOf is the first of a machine's results that failed, else its first.
func resultOf(results []Result, machine string) (r Result) {
	for _, o := range results {
		if o.Machine == machine && (r.Machine == "" || r.Error == "" && o.Error != "") {
			r = o
		}
	}
	return r
}

func of(all []Moment, who string) (out []Moment) {
	for _, m := range all {
		if m.Who == who {
			out = append(out, m)
		}
	}
	return out
}

// clip leaves out the middle of a long text.
func clip(s string) string {
	if len(s) <= maxShown {
		return s
	}
	return s[:maxShown/2] + "\n ... the file has the rest ...\n" + s[len(s)-maxShown/2:]
}
