package booting

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/ingotmetal/ingot/booter"
	"github.com/ingotmetal/ingot/booter/bootscript"
	"github.com/ingotmetal/ingot/statemachine/statemachinetest"
)

func scrape(t *testing.T, d *Desk) string {
	t.Helper()
	w := httptest.NewRecorder()
	d.Metrics().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	if w.Code != http.StatusOK {
		t.Fatalf("%d: %s", w.Code, w.Body)
	}
	return w.Body.String()
}

func TestMetrics(t *testing.T) {
	c := &clock{at: noon}
	d := newDesk(t, place(), c.now, fleet()...)
	d.Answer(came(message(mac(known), 1, pxe...)))
	d.Answer(came(message(mac(known), 1)))
	d.Answer(came(message(numbered(9), 1, pxe...)))
	_, _ = fetched(d, stageHTTP, path(d, known, bootscript.Path{Leaf: bootscript.Script}), nobody)
	_, _ = fetched(d, stageTFTP, "x", nobody)
	_, _ = fetched(d, stageTFTP, "x", us.Next().Next().Next().Next().Next().Next().Next().Next())
	d.Heard()
	c.add(90 * time.Second)
	d.sessions.Store(3)
	d.served.Dropped = 4
	got := scrape(t, d)
	for _, want := range []string{
		`packets_total{outcome="answered"} 1`, `packets_total{outcome="not-pxe"} 1`, `packets_total{outcome="no-record"} 1`, `packets_total{outcome="boot-loop"} 0`,
		`requests_total{outcome="answered",protocol="http"} 1`, `requests_total{outcome="stranger",protocol="tftp"} 1`, `requests_total{outcome="absent",protocol="tftp"} 1`,
		`requests_total{outcome="failed",protocol="http"} 0`, `records 5`, `revision 7`, `feed_age_seconds 90`, `sightings 1`, `sessions 3`, `boots_dropped_total 4`,
	} {
		if !strings.Contains(got, "\ningot_booter_"+want+"\n") {
			t.Errorf("no %s in\n%s", want, got)
		}
	}
}

// The series are the same before the first packet and after a flood.
func TestSeriesAreBounded(t *testing.T) {
	d := newDesk(t, place(), still)
	count := func() (n int) {
		for line := range strings.Lines(scrape(t, d)) {
			if strings.HasPrefix(line, "ingot_booter_") {
				n++
			}
		}
		return n
	}
	before := count()
	for n := range 3000 {
		d.Answer(came(message(numbered(n), byte(n%9), pxe...)))
		_, _ = fetched(d, stageTFTP, fmt.Sprint("x", n), nobody)
	}
	if after := count(); after != before || before > 80 {
		t.Errorf("%d series, then %d", before, after)
	}
}

func TestMetricsLintAndPage(t *testing.T) {
	r := newDesk(t, place(), still).registry()
	if problems, err := testutil.GatherAndLint(r); err != nil || len(problems) != 0 {
		t.Errorf("%v, %v", problems, err)
	}
	families, err := r.Gather()
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	b.WriteString("# Metrics of booterd\n\nMade from the registry by the tests of cmd/internal/booting; do not edit.\n\n" +
		"They are served at GET /metrics on booterd's Unix socket, and on the address of `metrics` where\nthat is set. Beside these there are the `go_` and `process_` metrics of Prometheus's Go client.\nNo label takes its values from a machine.\n\n" +
		"| name | kind | labels | meaning |\n|---|---|---|---|\n")
	for _, f := range families {
		if !strings.HasPrefix(f.GetName(), "ingot_") {
			continue
		}
		var labels []string
		for _, l := range f.GetMetric()[0].GetLabel() {
			labels = append(labels, l.GetName())
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", f.GetName(), strings.ToLower(f.GetType().String()), strings.Join(labels, ", "), f.GetHelp())
	}
	b.WriteString("\nReasons of silence, the first that applies:\n\n| outcome | requirement | meaning | what would change it |\n|---|---|---|---|\n")
	for _, r := range booter.Reasons() {
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", r.Silence, r.Req, r.Means, r.Change)
	}
	statemachinetest.Golden(t, filepath.Join("..", "..", "..", "docs", "booterd-metrics.md"), b.String())
}
