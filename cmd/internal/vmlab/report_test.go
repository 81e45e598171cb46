package vmlab

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// reported is the report of a lab with a good machine, one that failed, and one of which
// nothing was asked.
func reported(t *testing.T, failure error) string {
	l := &Lab{Options: Options{Dir: t.TempDir()}, began: time.Date(2026, 11, 30, 6, 36, 4, 0, time.UTC), failure: failure}
	for i, name := range []string{"m1", "m2", "m3"} {
		m := &Machine{Spec: Spec{Name: name, Boot: BIOS, Memory: 512, Drives: []Drive{{"d", "N1", NVMe}}}, lab: l, dir: filepath.Join(l.Dir, name), boots: min(i, 1)}
		must(t, os.Mkdir(m.dir, 0o700))
		if m.boots > 0 {
			must(t, os.WriteFile(m.consoleFile(1), []byte("    1.000  <script>alert(1)</script>\n    2.000  Kernel panic\n"), 0o600))
		}
		l.machines = append(l.machines, m)
	}
	must(t, os.WriteFile(l.machines[1].screenFile(), []byte("\x89PNG"), 0o600))
	must(t, os.WriteFile(l.machines[0].screenFile(), []byte("an old one"), 0o600))
	l.moments = []Moment{{0, "site", "built", "kernel"}, {10, "m1", "power", "on"}, {10.01, "m2", "power", "on"}, {52.5, "m1", "approve", "ada approves:\nplan <b>\nlayout"}}
	must(t, l.report([]Result{{"bios-ipxe", "m1", 207, 24, ""}, {"other", "m2", 90, 0, "m2: its first announce: too long\n    | Kernel panic"}}))
	raw, err := os.ReadFile(filepath.Join(l.Dir, "report.html"))
	must(t, err)
	var back struct {
		Results []Result
		Moments []Moment
		Failure string
	}
	data, err := os.ReadFile(filepath.Join(l.Dir, "report.json"))
	must(t, errors.Join(err, json.Unmarshal(data, &back)))
	if len(back.Results) != 2 || len(back.Moments) != 4 || (back.Failure != "") != (failure != nil) {
		t.Errorf("%+v", back)
	}
	return string(raw)
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// The page has all that matters, says at once what failed, and runs nothing.
func TestReport(t *testing.T) {
	page := reported(t, nil)
	for _, want := range []string{
		"<title>1 failed: ingot lab", "1 of 2 failed", `<section id="m2" class="bad">`, "<strong>m2: its first announce: too long</strong><pre>    | Kernel panic</pre>",
		"data:image/png;base64,iVBORw==", "<summary>ada approves:</summary><pre>plan &lt;b&gt;\nlayout</pre>", "+42.5", "none asked", "Console of power cycle 1, 2 lines", "&lt;script&gt;alert",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q", want)
		}
	}
	if strings.Contains(page, "<script") || strings.Contains(page, "http") || strings.Count(page, "data:image") != 1 || strings.Contains(page, "not opened") {
		t.Errorf("%s", page)
	}
}

// What could not be opened says why, first of all.
func TestReportOfWhatWasNotOpened(t *testing.T) {
	page := reported(t, &Failed{Step: "booterd starts", Err: errors.New("it does not answer"), Console: []string{"no such interface"}})
	if i, j := strings.Index(page, "booterd starts: it does not answer\n    | no such interface"), strings.Index(page, "The site"); i < 0 || j < i || !strings.Contains(page, "not opened") {
		t.Errorf("%s", page)
	}
}

// A long console loses its middle.
func TestClip(t *testing.T) {
	long := "begin" + strings.Repeat("x", maxShown) + "end"
	if got := clip(long); len(got) > maxShown+100 || !strings.HasPrefix(got, "begin") || !strings.HasSuffix(got, "end") || clip("short") != "short" {
		t.Errorf("%d bytes", len(got))
	}
}
