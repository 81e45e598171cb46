package metrics

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ingotmetal/ingot/cmd/internal/serve"
	"github.com/ingotmetal/ingot/statemachine/statemachinetest"
	"github.com/prometheus/client_golang/prometheus/testutil"
)

// full has every source.
func full() Config {
	return Config{
		Version: "v1", Operations: []string{"node.list", "node.get"}, Verbs: []string{"power", "boot"}, Actions: []string{"compute:nodes:read"},
		Store: func() Store {
			return Store{FileBytes: 1 << 20, FreePages: 3, OldestReader: time.Second / 2, Revision: 42, Updates: 7, Commits: Histogram{Bounds: []time.Duration{4 * time.Millisecond}, Counts: []uint64{1}, Count: 1, Sum: 3 * time.Millisecond}}
		},
		Server: func() serve.Stats {
			return serve.Stats{Open: 4, Running: 1, Full: 2, Crowded: 5, Slow: 6, Resets: 7, Panics: 8, LeftOut: 9}
		},
		Needs:       func() map[string]int { return map[string]int{"power": 2, "x1": 3, "x2": 4} },
		Late:        func() time.Duration { return 1500 * time.Millisecond },
		Sessions:    func() int { return 11 },
		Certificate: func() time.Time { return time.Unix(1e9, 0) },
	}
}

// used is a full Metrics with something in each series.
func used() *Metrics {
	m := New(full())
	m.Request("node.list", 200, 20*time.Millisecond)
	m.Request("node.list", 404, 20*time.Millisecond)
	m.Request("/no/such", 0, time.Hour)
	m.Request("/no/such", 101, time.Hour)
	m.Request("/no/such", 503, time.Minute)
	m.Denied("compute:nodes:read")
	m.Denied("whatever a client says")
	return m
}

func scrape(t *testing.T, m *Metrics) string {
	t.Helper()
	w := httptest.NewRecorder()
	m.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	if w.Code != http.StatusOK {
		t.Fatalf("%d: %s", w.Code, w.Body)
	}
	return w.Body.String()
}

func TestValues(t *testing.T) {
	got := scrape(t, used())
	for _, want := range []string{
		`ingot_http_requests_total{code="2xx",operation="node.list"} 1`,
		`ingot_http_requests_total{code="4xx",operation="node.list"} 1`,
		`ingot_http_requests_total{code="cut",operation="other"} 1`,
		`ingot_http_request_duration_seconds_bucket{operation="node.list",le="0.025"} 2`,
		`ingot_http_request_duration_seconds_sum{operation="other"} 60`,
		`ingot_denied_total{action="compute:nodes:read"} 1`,
		`ingot_denied_total{action="other"} 1`,
		`ingot_store_commit_duration_seconds_bucket{le="0.004"} 1`,
		`ingot_store_commit_duration_seconds_count 1`, `ingot_store_commit_duration_seconds_sum 0.003`, `ingot_store_updates_total 7`,
		`ingot_store_file_bytes 1.048576e+06`, `ingot_store_free_pages 3`, `ingot_store_oldest_reader_seconds 0.5`, `ingot_store_revision 42`,
		`ingot_http_connections 4`, `ingot_http_requests_in_flight 1`,
		`ingot_http_connections_refused_total{cause="full"} 2`, `ingot_http_connections_refused_total{cause="source"} 5`,
		`ingot_http_cut_total{cause="body"} 6`, `ingot_http_cut_total{cause="resets"} 7`, `ingot_http_panics_total 8`, `ingot_log_lines_left_out 9`,
		`ingot_needs_unserved{verb="power"} 2`, `ingot_needs_unserved{verb="boot"} 0`, `ingot_needs_unserved{verb="other"} 7`,
		`ingot_sweep_late_seconds 1.5`, `ingot_sessions 11`, `ingot_certificate_end_timestamp_seconds 1e+09`,
		`ingot_build_info{version="v1"} 1`, `go_goroutines `, `process_open_fds `,
	} {
		if !strings.Contains(got, "\n"+want) {
			t.Errorf("no %s in:\n%s", want, got)
		}
	}
}

func TestLint(t *testing.T) {
	problems, err := testutil.GatherAndLint(used().registry)
	if err != nil || len(problems) != 0 {
		t.Errorf("%v, %v", problems, err)
	}
}

// Every name is ours or one of the two standard collectors'.
func TestNames(t *testing.T) {
	families, err := used().registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		prefix, _, _ := strings.Cut(f.GetName(), "_")
		if !slices.Contains([]string{"ingot", "go", "process"}, prefix) {
			t.Error(f.GetName())
		}
	}
}

// The most series that can be, with more operations than there are, stay below
// two thousand.
func TestSeriesAreBounded(t *testing.T) {
	c := full()
	for i := range 120 {
		c.Operations = append(c.Operations, fmt.Sprint("op", i))
		c.Actions = append(c.Actions, fmt.Sprint("action", i))
	}
	m := New(c)
	for _, op := range append(c.Operations, "u1", "u2") {
		for _, status := range []int{0, 200, 303, 404, 500, 999, -1} {
			m.Request(op, status, time.Second)
		}
	}
	for i := range 1000 {
		m.Denied(fmt.Sprint("action", i))
	}
	n := 0
	for line := range strings.Lines(scrape(t, m)) {
		if !strings.HasPrefix(line, "#") {
			n++
		}
	}
	if n > 2000 {
		t.Errorf("%d series", n)
	}
	t.Logf("%d series with %d operations", n, len(c.Operations))
}

// Without sources there are the program's own series, and no others.
func TestWithoutSources(t *testing.T) {
	got := scrape(t, New(Config{}))
	if strings.Contains(got, "ingot_store_file") || !strings.Contains(got, "ingot_build_info") {
		t.Error(got)
	}
}

func TestPage(t *testing.T) {
	families, err := used().registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	b.WriteString("# Metrics of ingotd\n\nMade from the registry by the tests of cmd/internal/server/metrics; do not edit.\n\n" +
		"Beside these there are the `go_` and `process_` metrics of Prometheus's Go client.\nNo label takes its values from a client.\n\n" +
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
	statemachinetest.Golden(t, filepath.Join("..", "..", "..", "..", "docs", "metrics.md"), b.String())
}
