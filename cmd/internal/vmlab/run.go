package vmlab

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"
)

// diskSize is that of a machine's disk, a sparse file.
const diskSize = 4 << 30

// guestMemory is a machine's, in MiB.
const guestMemory = 512

// life is the scenario of one machine's life on a way of booting.
func life(way Boot) func(*Lab, context.Context) ([]Result, error) {
	return func(l *Lab, ctx context.Context) ([]Result, error) {
		m, err := l.plain(ctx, way)
		if err != nil {
			return nil, err
		}
		r, err := l.one(ctx, string(way), m, l.Life)
		return []Result{r}, err
	}
}

// plain adds a machine with one NVMe disk.
func (l *Lab) plain(ctx context.Context, way Boot) (*Machine, error) {
	s := l.spec(way)
	d, err := l.drive(s.Name, 0, diskSize, NVMe)
	if err != nil {
		return nil, err
	}
	s.Drives = []Drive{d}
	if way != BIOS {
		s.TPM = filepath.Join(l.Dir, s.Name, "tpm.sock")
	}
	return l.Add(ctx, s)
}

// spec is that of the next machine, without disks.
func (l *Lab) spec(way Boot) Spec {
	n := len(l.machines) + 1
	return Spec{Name: fmt.Sprintf("m%d", n), UUID: fmt.Sprintf("1ab00000-0000-4000-8000-%012x", n), Serial: fmt.Sprintf("LAB%04d", n), MAC: fmt.Sprintf("52:54:00:1a:b0:%02x", n), Boot: way, Memory: guestMemory}
}

// drive makes a machine's nth disk, empty, with a serial of its own.
func (l *Lab) drive(machine string, n int, size int64, bus Bus) (Drive, error) {
	path := filepath.Join(l.Dir, fmt.Sprintf("%s-disk%d", machine, n))
	return Drive{path, strings.ToUpper(fmt.Sprintf("%s%s-%d", bus, machine, n)), bus}, blank(path, size)
}

// one has one machine live its part, and takes its power at the end.
func (l *Lab) one(ctx context.Context, scenario string, m *Machine, live func(context.Context, *Machine) error) (Result, error) {
	began := l.Now()
	err := live(ctx, m)
	m.Off()
	return l.result(scenario, m, began, err), brief(err)
}

// result says what came of a machine's part.
func (l *Lab) result(scenario string, m *Machine, began time.Time, err error) Result {
	r := Result{Scenario: scenario, Machine: m.Name, Seconds: l.Now().Sub(began).Seconds(), Announced: m.announced.Seconds()}
	if err != nil {
		r.Error = err.Error()
		l.say(m.Name, "failed", r.Error)
	} else {
		l.say(m.Name, "well", fmt.Sprintf("%s took %.0f s", scenario, r.Seconds))
	}
	return r
}

// brief is an error without the console, which was shown.
func brief(err error) error {
	f, ok := errors.AsType[*Failed](err)
	if !ok {
		return err
	}
	b := *f
	b.Console = nil
	return &b
}

// Table is results as a table.
func Table(results []Result) string {
	var b strings.Builder
	wide := len("SCENARIO")
	for _, r := range results {
		wide = max(wide, len(r.Scenario))
	}
	fmt.Fprintf(&b, "%-8s  %-*s  %-6s  %9s  %s\n", "MACHINE", wide, "SCENARIO", "RESULT", "ANNOUNCED", "WHOLE")
	for _, r := range results {
		how := "good"
		if r.Error != "" {
			how = "FAILED"
		}
		fmt.Fprintf(&b, "%-8s  %-*s  %-6s  %7.1f s  %.0f s\n", r.Machine, wide, r.Scenario, how, r.Announced, r.Seconds)
	}
	return b.String()
}
