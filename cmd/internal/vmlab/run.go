package vmlab

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// Ways are the ways of booting that a run can take.
func Ways() []Boot { return []Boot{PXE, HTTP, BIOS, Secure} }

// diskSize is that of a machine's disk, a sparse file.
const diskSize = 4 << 30

// guestMemory is a machine's, in MiB.
const guestMemory = 512

// A Result is what came of one machine's scenario.
type Result struct {
	Machine   string  `json:"machine"`
	Way       Boot    `json:"way"`
	Seconds   float64 `json:"seconds"`
	Announced float64 `json:"announced,omitempty"` // from power on to the first announce, in seconds
	Error     string  `json:"error,omitempty"`
}

// Run lives a machine's life for each way of booting, one after the other, since each
// changes the site's policy for a moment, and writes a report into the lab's folder. A
// life that fails does not keep the others from being lived. The error joins those of
// the machines that failed.
func Run(ctx context.Context, o Options, ways []Boot) (results []Result, err error) {
	if err := known(ways); err != nil {
		return nil, err
	}
	l, err := Open(ctx, o)
	if err != nil {
		return nil, err
	}
	defer l.Close()
	var errs []error
	for i, way := range ways {
		m, err := l.plain(ctx, i, way)
		if err != nil {
			return results, errors.Join(append(errs, err, l.report(results))...)
		}
		r, err := l.one(ctx, m)
		results, errs = append(results, r), append(errs, err)
	}
	return results, errors.Join(append(errs, l.report(results))...)
}

// known refuses ways that there are not.
func known(ways []Boot) error {
	if len(ways) == 0 {
		return &Invalid{"no way of booting", oneOf()}
	}
	for _, w := range ways {
		if !slices.Contains(Ways(), w) {
			return &Invalid{"way " + string(w), oneOf()}
		}
	}
	return nil
}

func oneOf() string {
	var out []string
	for _, w := range Ways() {
		out = append(out, string(w))
	}
	return strings.Join(out, ", ")
}

// plain adds a machine with one NVMe disk.
func (l *Lab) plain(ctx context.Context, i int, way Boot) (*Machine, error) {
	disk := filepath.Join(l.Dir, fmt.Sprintf("disk%d", i+1))
	if err := blank(disk, diskSize); err != nil {
		return nil, err
	}
	return l.Add(ctx, Spec{Name: fmt.Sprintf("m%d", i+1), UUID: fmt.Sprintf("1ab00000-0000-4000-8000-%012x", i+1), Serial: fmt.Sprintf("LAB%04d", i+1), MAC: fmt.Sprintf("52:54:00:1a:b0:%02x", i+1),
		Boot: way, Memory: guestMemory, Drives: []Drive{{disk, fmt.Sprintf("NVME%04d", i+1), NVMe}}})
}

// one lives one life.
func (l *Lab) one(ctx context.Context, m *Machine) (Result, error) {
	began := l.Now()
	err := l.Life(ctx, m)
	m.Off()
	r := Result{Machine: m.Name, Way: m.Boot, Seconds: l.Now().Sub(began).Seconds(), Announced: m.announced.Seconds()}
	if err != nil {
		r.Error = err.Error()
		l.say(m.Name, "failed", r.Error)
	} else {
		l.say(m.Name, "well", fmt.Sprintf("the whole life took %.0f s", r.Seconds))
	}
	return r, err
}

// Table is results as a table.
func Table(results []Result) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%-8s  %-12s  %-6s  %9s  %s\n", "MACHINE", "WAY", "RESULT", "ANNOUNCED", "LIFE")
	for _, r := range results {
		how := "good"
		if r.Error != "" {
			how = "FAILED"
		}
		fmt.Fprintf(&b, "%-8s  %-12s  %-6s  %7.1f s  %.0f s\n", r.Machine, r.Way, how, r.Announced, r.Seconds)
	}
	return b.String()
}
