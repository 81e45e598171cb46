package vmlab

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ingotmetal/ingot/cmd/api"
	"github.com/ingotmetal/ingot/cmd/internal/pause"
)

// Limits of a setup that was cut. A machine that lost its power after it was handed its
// keys leaves an attempt that only its deadline ends (SET-12, EDGE-6), 45 minutes after
// its approval.
const (
	endWait     = time.Hour
	maxAttempts = 6
)

// Cuts cuts the power of a setup once for each seed from first on, and goes on until the
// machine is set up right, or says what did not come right. Each ending is kept in
// dir/cuts.json as soon as it is there, and a seed that has a right one is not lived
// again. The folder may be there; o.Dir is not used.
func Cuts(ctx context.Context, o Options, dir string, way Boot, first uint64, seeds int) ([]Ending, error) {
	if seeds < 1 || first < 1 {
		return nil, &Invalid{"seeds", "at least one, the first at least 1"}
	}
	if err := way.check(); err != nil {
		return nil, err
	}
	all, err := readEndings(dir)
	if err != nil {
		return nil, err
	}
	if o.Dir, err = newFolder(dir); err != nil {
		return nil, err
	}
	o.Images = filepath.Join(o.Dir, "images")
	l, err := Open(ctx, o)
	if err != nil {
		return nil, err
	}
	defer l.Close()
	w := &cutting{lab: l, way: way, dir: dir, all: all, slot: make(chan struct{}, 1)}
	err = w.run(ctx, first, seeds)
	return sorted(all), errors.Join(err, l.report(w.results))
}

// cutting is a run over seeds. One machine at a time has the slot, in which machines
// boot, are set up and cut; while one waits for a deadline, others have it.
type cutting struct {
	lab  *Lab
	way  Boot
	dir  string
	slot chan struct{}

	mu      sync.Mutex
	all     map[uint64]Ending
	results []Result
	errs    []error
}

// run lives the seeds that have no right ending yet, those first that wait longest.
func (w *cutting) run(ctx context.Context, first uint64, seeds int) error {
	var due []Cut
	for seed := first; seed < first+uint64(seeds); seed++ {
		if e, ok := w.all[seed]; ok && e.Error == "" {
			w.lab.say("site", "known", fmt.Sprintf("seed %d ended right before: %s", seed, e.Cut))
			continue
		}
		due = append(due, cutOf(seed))
	}
	slices.SortStableFunc(due, func(a, b Cut) int {
		return -cmp.Compare(strings.Count(a.Victim, machine), strings.Count(b.Victim, machine))
	})
	var wait sync.WaitGroup
	for _, c := range due {
		if w.take(ctx) != nil {
			break
		}
		m, err := w.lab.plain(ctx, w.way)
		if err != nil {
			<-w.slot
			w.failed(err)
			break
		}
		wait.Go(func() { w.live(ctx, m, c) })
	}
	wait.Wait()
	w.lab.say("site", "cuts", fmt.Sprintf("%d seeds are done", len(w.results)))
	return errors.Join(append(w.errs, context.Cause(ctx))...)
}

func (w *cutting) failed(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.errs = append(w.errs, err)
}

// take waits for the slot.
func (w *cutting) take(ctx context.Context) error {
	select {
	case w.slot <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// live lives one seed, and keeps its ending. It has the slot, and gives it back.
func (w *cutting) live(ctx context.Context, m *Machine, c Cut) {
	e := Ending{Cut: c}
	r, err := w.lab.one(ctx, fmt.Sprintf("cut %d", c.Seed), m, func(ctx context.Context, m *Machine) error {
		how, err := w.cutOnce(ctx, m, c)
		e.How = strings.Join(how, "; ")
		return err
	})
	<-w.slot
	e.Error, e.Seconds = r.Error, r.Seconds
	w.mu.Lock()
	defer w.mu.Unlock()
	w.results, w.errs = append(w.results, r), append(w.errs, err)
	if ctx.Err() != nil {
		return // the seed is lived anew the next time
	}
	w.all[c.Seed] = e
	w.errs = append(w.errs, writeEndings(w.dir, w.all))
}

// cutOnce has a machine enroll; its setup is cut, and it comes to a right ending.
func (w *cutting) cutOnce(ctx context.Context, m *Machine, c Cut) (how []string, err error) {
	l := w.lab
	l.say(m.Name, "seed", fmt.Sprintf("%d: %s", c.Seed, c))
	return how, l.steps(ctx, m, []step{
		{"power on", time.Minute, func(context.Context) error { return m.On() }},
		{"its first announce", announceWait, func(ctx context.Context) error { return l.announces(ctx, m) }},
		{"approving its setup", time.Minute, func(ctx context.Context) error { return l.approve(ctx, m) }},
		{"its setup until the cut", 5 * setupWait, func(ctx context.Context) error { return l.cut(ctx, m, c) }},
		{"coming back", endWait, func(ctx context.Context) error {
			if c.Victim != machine {
				return nil
			}
			return w.parked(ctx, m)
		}},
		{"the ending", endWait, func(ctx context.Context) error { return w.ends(ctx, m, &how) }},
		{"its boot as a machine of the site", announceWait, func(ctx context.Context) error { return l.shown(ctx, m) }},
		{"looking at its disk", 2 * time.Minute, func(ctx context.Context) error { return l.checkDisk(ctx, m, m.Drives[0].Path) }},
	})
}

// cut waits for its moment, takes the victim's power, and gives it back.
func (l *Lab) cut(ctx context.Context, m *Machine, c Cut) error {
	if _, err := m.Await(ctx, c.reached()...); err != nil {
		return err
	}
	if !pause.For(ctx, c.After) {
		return context.Cause(ctx)
	}
	off, on := m.Off, func(context.Context) error { return m.On() }
	switch p := map[string]*program{ingotd: l.plane, booterd: l.booter}[c.Victim]; {
	case p != nil:
		off, on = p.kill, p.start
	case c.Victim != machine:
		return &Invalid{"victim " + c.Victim, "one of " + machine + ", " + ingotd + ", " + booterd}
	}
	off()
	l.say(m.Name, "cut", c.Victim+" has no power")
	if !pause.For(ctx, c.Away) {
		return context.Cause(ctx)
	}
	return on(ctx)
}

// ends follows the row after a cut. An attempt ends well, or it is given up with a
// reason; then it is approved anew, as an operator does who reads that.
func (w *cutting) ends(ctx context.Context, m *Machine, how *[]string) error {
	l := w.lab
	for attempt := 1; ; attempt++ {
		if err := l.rests(ctx, m, "approved", "awaiting_setup"); err != nil {
			return err
		}
		row, err := api.RegistrationShow.Call(ctx, l.operator, &api.RegistrationRef{Server: m.UUID})
		switch {
		case err != nil:
			return err
		case row.State == "approved":
			*how = append(*how, fmt.Sprintf("attempt %d ended right", attempt))
			return nil
		case row.LastSetupError == "":
			return fmt.Errorf("attempt %d was given up, and no reason is said", attempt)
		case attempt == maxAttempts:
			return fmt.Errorf("attempt %d was given up as all before: %s", attempt, row.LastSetupError)
		}
		*how = append(*how, fmt.Sprintf("attempt %d was given up: %s", attempt, row.LastSetupError))
		if err := l.approve(ctx, m); err != nil {
			return err
		}
	}
}

// parked waits, without the slot, for the deadline of an attempt whose machine came
// back without its keys.
func (w *cutting) parked(ctx context.Context, m *Machine) error {
	line, err := m.Await(ctx, "msg=announced", "the control plane took the key")
	if err != nil || !strings.Contains(line.Text, "state=setting_up") {
		return err
	}
	w.lab.say(m.Name, "waits", "for the deadline of the attempt that lost its power")
	<-w.slot
	err = w.lab.rests(ctx, m, "approved", "awaiting_setup")
	w.slot <- struct{}{} // whoever has it gives it back, also at the end
	return err
}

// newFolder is the next folder in dir for a lab.
func newFolder(dir string) (string, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	for n := 1; ; n++ {
		path := filepath.Join(dir, fmt.Sprintf("lab%d", n))
		if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
			return path, nil
		} else if err != nil {
			return "", err
		}
	}
}
