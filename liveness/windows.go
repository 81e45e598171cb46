package liveness

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"time"
)

// Windows holds the durations and limits that turn silence into a verdict. A
// zero field takes its default, so the zero Windows is what ships. The numbers
// of LIVE-1 and LIVE-2 come from there; the others are this package's own.
type Windows struct {
	Heartbeat time.Duration // a node beats this often; default 10s (LIVE-1)
	Flush     time.Duration // a gateway flushes ages this often; default 15s (LIVE-1)
	Lease     time.Duration // silence that a node may keep; default 40s (LIVE-1)
	Sweep     time.Duration // the observer sweeps this often; default 5s

	GatewayGrace time.Duration // after a gateway is lost; default 120s (LIVE-2)
	OutageGrace  time.Duration // after controller or store come back; default 5m (LIVE-2)
	OutageAfter  time.Duration // an absence longer than this earns OutageGrace; default 20s (LIVE-2)
	GraceMax     time.Duration // what one chain of faults can earn in all; default 15m

	DomainShare int // percent of a failure domain; more, silent at once, freezes it; default 50, 100 is off
	DomainMin   int // fewer silent nodes than this never freeze a domain; default 3
}

const (
	longest  = 24 * time.Hour // of any window: a limit that keeps sums from overflow
	minBeats = 3              // in a lease: one lost beat, or two, convict nobody
)

// filled returns w with its defaults in place.
func (w Windows) filled() Windows {
	return Windows{
		Heartbeat:    cmp.Or(w.Heartbeat, 10*time.Second),
		Flush:        cmp.Or(w.Flush, 15*time.Second),
		Lease:        cmp.Or(w.Lease, 40*time.Second),
		Sweep:        cmp.Or(w.Sweep, 5*time.Second),
		GatewayGrace: cmp.Or(w.GatewayGrace, 2*time.Minute),
		OutageGrace:  cmp.Or(w.OutageGrace, 5*time.Minute),
		OutageAfter:  cmp.Or(w.OutageAfter, 20*time.Second),
		GraceMax:     cmp.Or(w.GraceMax, 15*time.Minute),
		DomainShare:  cmp.Or(w.DomainShare, 50),
		DomainMin:    cmp.Or(w.DomainMin, 3),
	}
}

// Slack is what is left of a lease when a healthy node's beat is due and one
// flush was missed. It is 0 with the defaults: a gateway must repeat a failed
// flush at once.
func (w Windows) Slack() time.Duration {
	w = w.filled()
	return w.Lease - w.Heartbeat - 2*w.Flush
}

// Validate reports every field out of range, joined, each an [*Invalid]. If all
// are in range it reports every sum that does not fit, defaults included: a
// window that is fine alone may still convict a healthy node together with
// another.
func (w Windows) Validate() error {
	if err := w.ranges(); err != nil {
		return err
	}
	return w.filled().sums()
}

func (w Windows) ranges() error {
	var errs []error
	for _, f := range []struct {
		name  string
		value time.Duration
	}{
		{"Heartbeat", w.Heartbeat}, {"Flush", w.Flush}, {"Lease", w.Lease}, {"Sweep", w.Sweep},
		{"GatewayGrace", w.GatewayGrace}, {"OutageGrace", w.OutageGrace},
		{"OutageAfter", w.OutageAfter}, {"GraceMax", w.GraceMax},
	} {
		if f.value < 0 || f.value > longest {
			errs = append(errs, config(f.name, f.value.String(), "0 to "+longest.String()))
		}
	}
	if w.DomainShare < 0 || w.DomainShare > 100 {
		errs = append(errs, config("DomainShare", strconv.Itoa(w.DomainShare), "0 to 100"))
	}
	if w.DomainMin < 0 {
		errs = append(errs, config("DomainMin", strconv.Itoa(w.DomainMin), "0 or more"))
	}
	return errors.Join(errs...)
}

// sums checks w, filled, as a whole.
func (w Windows) sums() error {
	var errs []error
	for _, s := range []struct {
		name       string
		sum, limit time.Duration
		of         string
	}{
		{"Heartbeat + 2*Flush", w.Heartbeat + 2*w.Flush, w.Lease, "Lease"},
		{fmt.Sprintf("%d*Heartbeat", minBeats), minBeats * w.Heartbeat, w.Lease, "Lease"},
		{"2*Sweep", 2 * w.Sweep, w.OutageAfter, "OutageAfter"},
		{"GatewayGrace", w.GatewayGrace, w.GraceMax, "GraceMax"},
		{"OutageGrace", w.OutageGrace, w.GraceMax, "GraceMax"},
	} {
		if s.sum > s.limit {
			errs = append(errs, config(s.name, s.sum.String(), fmt.Sprintf("at most %s, %s", s.of, s.limit)))
		}
	}
	return errors.Join(errs...)
}

func config(field, got, want string) *Invalid {
	req := "LIVE-1"
	switch field {
	case "GatewayGrace", "OutageGrace", "OutageAfter", "GraceMax", "2*Sweep", "DomainShare", "DomainMin":
		req = "LIVE-2"
	}
	return &Invalid{Field: field, Got: got, Want: want, Req: req, code: codeConfig}
}
