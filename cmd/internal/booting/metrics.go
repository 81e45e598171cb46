package booting

import (
	"net/http"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/ingotmetal/ingot/booter"
)

// Metrics serves what Prometheus reads of a desk, at GET /metrics. The series are known
// before the first packet: no label takes its values from a machine.
func (d *Desk) Metrics() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(d.registry(), promhttp.HandlerOpts{MaxRequestsInFlight: 2}))
	return mux
}

func (d *Desk) registry() *prometheus.Registry {
	r := prometheus.NewRegistry()
	r.MustRegister(newGauges(d), collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return r
}

// gauges collects a desk's account of itself.
type gauges struct {
	desk *Desk

	packets, requests, records, revision, age, sightings, sessions, dropped, unkept, harmed *prometheus.Desc
}

func newGauges(d *Desk) gauges {
	desc := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc("ingot_booter_"+name, help, labels, nil)
	}
	return gauges{desk: d,
		packets:   desc("packets_total", "Packets of DHCP, by outcome: answered, or the reason of silence.", "outcome"),
		requests:  desc("requests_total", "Requests for files, by protocol and outcome: answered, stranger (nobody has that address or token), absent (no such file for this machine), failed (it could not be read), or the reason of silence.", "protocol", "outcome"),
		records:   desc("records", "Boot records that machines are served from."),
		revision:  desc("revision", "Revision of the site that machines are served from."),
		age:       desc("feed_age_seconds", "Time since the control plane was last heard; since the start where it was not. It polls every 30 seconds."),
		sightings: desc("sightings", "MACs that nobody knows, as remembered for 24 hours; at most 256."),
		sessions:  desc("sessions", "Sessions of agents that proved their key."),
		dropped:   desc("boots_dropped_total", "Boots that were not reported, since the control plane was away for too long."),
		unkept:    desc("unkept", "1 while the state folder does not take what must be kept there: the site, for the time when the control plane is away, or bundles, of which none is then drained. Free space in it.", "what"),
		harmed:    desc("images_harmed", "Staged images that are not whole, and are not offered. Stage them again."),
	}
}

// Describe is for prometheus.Collector.
func (g gauges) Describe(out chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{g.packets, g.requests, g.records, g.revision, g.age, g.sightings, g.sessions, g.dropped, g.unkept, g.harmed} {
		out <- d
	}
}

// Collect is for prometheus.Collector.
func (g gauges) Collect(out chan<- prometheus.Metric) {
	s := g.desk.standing()
	for d, v := range map[*prometheus.Desc]float64{g.records: float64(s.records), g.revision: float64(s.revision), g.age: s.age.Seconds(), g.sightings: float64(s.sightings), g.sessions: float64(s.sessions), g.harmed: float64(g.desk.harmed())} {
		out <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v)
	}
	out <- prometheus.MustNewConstMetric(g.dropped, prometheus.CounterValue, float64(s.dropped))
	for _, what := range []string{keepsSite, keepsBundles} {
		out <- prometheus.MustNewConstMetric(g.unkept, prometheus.GaugeValue, s.unkept[what], what)
	}
	for key, n := range g.desk.everyCount() {
		stage, outcome, _ := strings.Cut(key, "/")
		if stage == stageDHCP {
			out <- prometheus.MustNewConstMetric(g.packets, prometheus.CounterValue, float64(n), outcome)
			continue
		}
		out <- prometheus.MustNewConstMetric(g.requests, prometheus.CounterValue, float64(n), stage, outcome)
	}
}

// everyCount is Counts with a zero for what did not happen yet, so that an alert sees
// a zero and not an absence.
func (d *Desk) everyCount() map[string]uint64 {
	out := d.Counts()
	outcomes := []string{Answered}
	for _, r := range booter.Reasons() {
		outcomes = append(outcomes, string(r.Silence))
	}
	for _, stage := range []string{stageDHCP, stageTFTP, stageHTTP} {
		for _, o := range outcomes {
			out[stage+"/"+o] += 0
		}
	}
	for _, stage := range []string{stageTFTP, stageHTTP} {
		for _, o := range []string{Stranger, Absent, Broken} {
			out[stage+"/"+o] += 0
		}
	}
	return out
}

// standing is a desk's account of itself.
type standing struct {
	records, sightings, sessions int
	revision, dropped            uint64
	age                          time.Duration
	unkept                       map[string]float64
}

func (d *Desk) standing() standing {
	now := d.now()
	d.mu.Lock()
	defer d.mu.Unlock()
	unkept := map[string]float64{}
	for what, is := range d.unkept {
		if is {
			unkept[what] = 1
		}
	}
	return standing{unkept: unkept, records: d.world.Len(), sightings: d.seen.Len(), sessions: int(d.sessions.Load()), revision: d.world.Revision, dropped: d.served.Dropped, age: now.Sub(d.heard)}
}

// Heard says that the control plane answered.
func (d *Desk) Heard() {
	now := d.now()
	d.mu.Lock()
	defer d.mu.Unlock()
	d.heard = now
}
