// Package conformance runs the laws of package bmc/bmctest for `ingot bmc
// conformance`: on simulated BMCs in memory, or on one that is there. It is the
// one program that leans on a kit.
package conformance

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"slices"
	"strings"

	"github.com/ingotmetal/ingot/bmc"
	"github.com/ingotmetal/ingot/bmc/bmctest"
)

// A Dial opens connections, as [net.Dialer.DialContext] does.
type Dial func(ctx context.Context, network, address string) (net.Conn, error)

// A Run is what is to be checked.
type Run struct {
	// Driver makes the driver under test, which must reach its BMCs by dial alone.
	Driver  func(dial Dial) bmc.Driver
	Options json.RawMessage // that are valid for it; may be empty
	Law     int             // the one to check; 0: all
	// Parallel is how many checks run at once on simulated BMCs, so that they wait
	// together; default 8. A live BMC gets one.
	Parallel int
	Live     *Live // nil: simulated BMCs

	levels []bmctest.Level // default P, S and R; with Live P and L
}

// Live is a BMC that is there.
type Live struct {
	Dial        Dial
	Endpoint    bmc.Endpoint
	Credentials bmc.Credentials
	Patience    bmc.Patience
}

// parallel lets many checks wait at the same time, and not too many compute.
const parallel = 8

// Waits is about how long the laws of P, S and R take of themselves: the
// waits that 8 of them at once make, and what two cores compute.
const Waits = "90s"

// SetLevels reads a list of levels, such as "P,S,R". The error says what is wanted.
func (r *Run) SetLevels(list string) error {
	known := []bmctest.Level{bmctest.Pure, bmctest.Simulated, bmctest.Recorded, bmctest.Live, bmctest.Destructive}
	r.levels = nil
	for word := range strings.SplitSeq(list, ",") {
		l := bmctest.Level(strings.ToUpper(strings.TrimSpace(word)))
		if !slices.Contains(known, l) || slices.Contains(r.levels, l) {
			return errors.New("want some of P, S, R, L and D, each once, with commas between")
		}
		r.levels = append(r.levels, l)
	}
	return nil
}

// Destroys reports whether the machine is to be turned off.
func (r *Run) Destroys() bool { return slices.Contains(r.levels, bmctest.Destructive) }

// Simulates reports whether there are laws among those to check that want simulated
// or recorded BMCs.
func (r *Run) Simulates() bool {
	return slices.Contains(r.levels, bmctest.Simulated) || slices.Contains(r.levels, bmctest.Recorded)
}

// Destroy adds the laws that turn the machine off.
func (r *Run) Destroy() {
	if len(r.levels) == 0 {
		r.levels = []bmctest.Level{bmctest.Pure, bmctest.Live}
	}
	if !r.Destroys() {
		r.levels = append(r.levels, bmctest.Destructive)
	}
}

// Known reports whether there is a law of that number.
func Known(number int) bool {
	return slices.ContainsFunc(bmctest.Laws(), func(l bmctest.Law) bool { return l.Number == number })
}

// Subject is what package bmctest checks.
func (r Run) Subject() bmctest.Subject {
	s := bmctest.Subject{Options: r.Options, Levels: r.levels, Only: r.Law}
	if r.Live != nil {
		s.Driver, s.Stage, s.Patience = r.Driver(r.Live.Dial), r.Live.stage, r.Live.Patience
		if len(s.Levels) == 0 {
			s.Levels = []bmctest.Level{bmctest.Pure, bmctest.Live}
		}
		return s
	}
	s.Fresh = func() (bmc.Driver, func(context.Context, bmctest.Scene) (bmctest.Stage, error)) {
		sim := &bmctest.Simulator{}
		return r.Driver(sim.Dial), sim.Stage
	}
	s.Driver, s.Stage = s.Fresh()
	s.Recordings, s.Parallel = bmctest.Recordings, r.Parallel
	if s.Parallel == 0 {
		s.Parallel = parallel
	}
	return s
}

// A Report is what came of a run.
type Report struct{ bmctest.Report }

// Broken is how many checks failed.
func (r Report) Broken() int { return r.Count(bmctest.Broken) }

// Judge checks the laws. Told hears each result as a line, with how many there are
// by then and how many there will be; it may be nil.
func (r Run) Judge(ctx context.Context, told func(done, of int, line string, broken bool)) Report {
	s := r.Subject()
	done, of := 0, s.Checks()
	return Report{bmctest.Judge(ctx, s, func(one bmctest.Result) {
		done++
		if told != nil {
			told(done, of, one.String(), one.State == bmctest.Broken)
		}
	})}
}

// Write writes the report in a form: text, json or junit.
func (r Report) Write(w io.Writer, form string) error {
	switch form {
	case "json":
		return r.JSON(w)
	case "junit":
		return r.JUnit(w)
	}
	return r.Text(w)
}

// stage shows the BMC as it is, which is a good one or will not do.
func (l *Live) stage(_ context.Context, s bmctest.Scene) (bmctest.Stage, error) {
	if s != bmctest.Plain {
		return nil, bmctest.ErrNoScene
	}
	return live{l}, nil
}

// live is the stage of a BMC that is there.
type live struct{ *Live }

func (l live) Endpoint() bmc.Endpoint       { return l.Live.Endpoint }
func (l live) Credentials() bmc.Credentials { return l.Live.Credentials }
func (live) Close() error                   { return nil }
