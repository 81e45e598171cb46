package metrics

import (
	"github.com/prometheus/client_golang/prometheus"
)

// A reading is one value, read at a scrape.
type reading struct {
	desc   *prometheus.Desc
	kind   prometheus.ValueType
	value  float64
	labels []string
}

// A source yields readings that belong together, so that one scrape asks once.
type source struct {
	descs []*prometheus.Desc
	read  func() []reading
}

// Describe is for prometheus.Collector.
func (s source) Describe(out chan<- *prometheus.Desc) {
	for _, d := range s.descs {
		out <- d
	}
}

// Collect is for prometheus.Collector.
func (s source) Collect(out chan<- prometheus.Metric) {
	for _, r := range s.read() {
		out <- prometheus.MustNewConstMetric(r.desc, r.kind, r.value, r.labels...)
	}
}

func desc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("ingot_"+name, help, labels, nil)
}

func gauge(d *prometheus.Desc, v float64, labels ...string) reading {
	return reading{d, prometheus.GaugeValue, v, labels}
}

func count(d *prometheus.Desc, v uint64, labels ...string) reading {
	return reading{d, prometheus.CounterValue, float64(v), labels}
}

// sources returns a collector for each source that c has.
func sources(c Config) []prometheus.Collector {
	var out []prometheus.Collector
	if c.Store != nil {
		out = append(out, storeSource(c.Store), commits{c.Store, desc("store_commit_duration_seconds", "Time of a durable commit, from its begin until it is on disk.")})
	}
	if c.Server != nil {
		out = append(out, serverSource(c.Server))
	}
	if c.Needs != nil {
		out = append(out, needsSource(c.Needs, listed(c.Verbs)))
	}
	if c.Late != nil {
		out = append(out, single(desc("sweep_late_seconds", "How far the sweeper is behind the oldest deadline that has passed."), func() float64 { return c.Late().Seconds() }))
	}
	if c.Sessions != nil {
		out = append(out, single(desc("sessions", "Sessions of agents and booters that are open."), func() float64 { return float64(c.Sessions()) }))
	}
	if c.Certificate != nil {
		out = append(out, single(desc("certificate_end_timestamp_seconds", "When the certificate that is shown ends."), func() float64 { return float64(c.Certificate().Unix()) }))
	}
	return out
}

// single is a gauge with one value.
func single(d *prometheus.Desc, read func() float64) source {
	return source{[]*prometheus.Desc{d}, func() []reading { return []reading{gauge(d, read())} }}
}

// build says what runs.
func build(version string) source {
	d := desc("build_info", "The program; always 1.", "version")
	return source{[]*prometheus.Desc{d}, func() []reading { return []reading{gauge(d, 1, version)} }}
}

func storeSource(read func() Store) source {
	file := desc("store_file_bytes", "Size of the store's file.")
	free := desc("store_free_pages", "Pages of the store's file that hold nothing.")
	oldest := desc("store_oldest_reader_seconds", "Age of the oldest view that still reads; a long one makes the file grow.")
	rev := desc("store_revision", "Revision of the newest row of the log.")
	updates := desc("store_updates_total", "Updates that commits made durable; several share one.")
	return source{[]*prometheus.Desc{file, free, oldest, rev, updates}, func() []reading {
		s := read()
		return []reading{
			gauge(file, float64(s.FileBytes)), gauge(free, float64(s.FreePages)),
			gauge(oldest, s.OldestReader.Seconds()), gauge(rev, float64(s.Revision)), count(updates, s.Updates),
		}
	}}
}

// commits is how long the store's commits took, as it counted them.
type commits struct {
	read func() Store
	desc *prometheus.Desc
}

// Describe is for prometheus.Collector.
func (c commits) Describe(out chan<- *prometheus.Desc) { out <- c.desc }

// Collect is for prometheus.Collector.
func (c commits) Collect(out chan<- prometheus.Metric) {
	h := c.read().Commits
	buckets := map[float64]uint64{}
	for i, bound := range h.Bounds {
		buckets[bound.Seconds()] = h.Counts[i]
	}
	out <- prometheus.MustNewConstHistogram(c.desc, h.Count, h.Sum.Seconds(), buckets)
}
