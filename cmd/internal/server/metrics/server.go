package metrics

import (
	"github.com/ingotmetal/ingot/cmd/internal/serve"
	"github.com/prometheus/client_golang/prometheus"
)

func serverSource(read func() serve.Stats) source {
	open := desc("http_connections", "Connections that are open.")
	running := desc("http_requests_in_flight", "Requests that are being handled.")
	refused := desc("http_connections_refused_total", "Connections closed at once, by cause: full (no room), source (its share is used up).", "cause")
	cut := desc("http_cut_total", "Requests and connections cut for what their client did, by cause: body (too slow), resets (too many requests given up).", "cause")
	panics := desc("http_panics_total", "Handlers that panicked; each is in the log.")
	quiet := desc("log_lines_left_out", "Lines of the access log left out since the last one that was written.")
	return source{[]*prometheus.Desc{open, running, refused, cut, panics, quiet}, func() []reading {
		s := read()
		return []reading{
			gauge(open, float64(s.Open)), gauge(running, float64(s.Running)),
			count(refused, s.Full, "full"), count(refused, s.Crowded, "source"),
			count(cut, s.Slow, "body"), count(cut, s.Resets, "resets"),
			count(panics, s.Panics), gauge(quiet, float64(s.LeftOut)),
		}
	}}
}

// needsSource has a value for each verb at every scrape, so that an alert sees a
// zero and not an absence.
func needsSource(read func() map[string]int, verbs known) source {
	d := desc("needs_unserved", "What nodes need from the world and have not got yet, by verb.", "verb")
	return source{[]*prometheus.Desc{d}, func() []reading {
		sums := map[string]int{}
		for v := range verbs {
			sums[v] = 0
		}
		for v, n := range read() {
			sums[verbs.label(v)] += n
		}
		var out []reading
		for v, n := range sums {
			out = append(out, gauge(d, float64(n), v))
		}
		return out
	}}
}
