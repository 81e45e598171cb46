// Package metrics is what Prometheus reads of a control plane: a registry of its
// own, names that begin with ingot_, and no label that a client could choose, so
// that the number of series is known before the first request.
package metrics

import (
	"net/http"
	"time"

	"github.com/ingotmetal/ingot/cmd/internal/serve"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// other stands for a label that was not announced.
const other = "other"

// A Config says what the series are and where values are read. Everything but
// Operations may be left out; what has no source has no series.
type Config struct {
	Version    string   // of the program
	Operations []string // the names of the operation table
	Verbs      []string // what a node may need from the world
	Actions    []string // what may be denied

	Store       func() Store          // asked at each scrape, as all that follow
	Server      func() serve.Stats    // of every listener of the process together
	Needs       func() map[string]int // not served yet, by verb
	Late        func() time.Duration  // how far the sweeper is behind its oldest deadline
	Sessions    func() int
	Certificate func() time.Time // when the certificate that is shown ends
}

// A Store is a store's account of itself.
type Store struct {
	FileBytes    int64         // of the file on disk; 0 where there is none
	FreePages    int64         // of the file
	OldestReader time.Duration // age of the oldest view that still reads
	Revision     uint64        // the newest row of the log
	Commits      Histogram     // how long durable commits took
	Updates      uint64        // that the commits made durable
}

// A Histogram is how long something took, as its owner counted it.
type Histogram struct {
	Bounds []time.Duration // upper bounds of the buckets
	Counts []uint64        // cumulative, one for each bound
	Count  uint64
	Sum    time.Duration
}

// Metrics counts. It is safe for concurrent use.
type Metrics struct {
	registry   *prometheus.Registry
	operations known
	actions    known

	requests *prometheus.CounterVec
	latency  *prometheus.HistogramVec
	denied   *prometheus.CounterVec
}

// New makes the registry.
func New(c Config) *Metrics {
	m := &Metrics{registry: prometheus.NewRegistry(), operations: listed(c.Operations), actions: listed(c.Actions)}
	m.requests = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "ingot_http_requests_total", Help: "Requests that ended, by operation and class of status; 1xx: became a session; cut: without an answer.",
	}, []string{"operation", "code"})
	m.latency = prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "ingot_http_request_duration_seconds", Help: "Time from a request's header to the end of its answer, by operation; sessions are left out.",
		Buckets: []float64{.005, .025, .1, .5, 2.5, 10},
	}, []string{"operation"})
	m.denied = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "ingot_denied_total", Help: "Calls that authorization refused, by action.",
	}, []string{"action"})
	m.registry.MustRegister(m.requests, m.latency, m.denied, build(c.Version),
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	m.registry.MustRegister(sources(c)...)
	return m
}

// Handler serves the registry. Two scrapes at a time are served, others told to
// come again.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{MaxRequestsInFlight: 2})
}

// Request counts a request of an operation. Its status is 0 when it had no answer.
func (m *Metrics) Request(operation string, status int, took time.Duration) {
	operation = m.operations.label(operation)
	m.requests.WithLabelValues(operation, class(status)).Inc()
	if status >= 200 { // a session lasts as long as it likes
		m.latency.WithLabelValues(operation).Observe(took.Seconds())
	}
}

// Denied counts a call that authorization refused.
func (m *Metrics) Denied(action string) { m.denied.WithLabelValues(m.actions.label(action)).Inc() }

// class is a status without what a handler could make of it.
func class(status int) string {
	if status < 100 || status > 599 {
		return "cut"
	}
	return string(rune('0'+status/100)) + "xx"
}

// known are the values that a label may have.
type known map[string]struct{}

func listed(names []string) known {
	k := known{}
	for _, n := range names {
		k[n] = struct{}{}
	}
	return k
}

func (k known) label(name string) string {
	if _, ok := k[name]; ok {
		return name
	}
	return other
}
