package vmlab

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ingotmetal/ingot/cmd/api"
	"github.com/ingotmetal/ingot/cmd/internal/pause"
)

// Limits of a setup that was cut.
const (
	cutDeadline = 4 * time.Minute  // of an attempt, after which the site gives it up
	endWait     = 15 * time.Minute // from the cut to the right ending
	maxAttempts = 6
)

// An Ending is what came of a cut.
type Ending struct {
	Cut
	How     string  `json:"how"`             // in order: what the site said of each attempt, and its end
	Error   string  `json:"error,omitempty"` // "": it ended right
	Seconds float64 `json:"seconds"`
}

// Cuts cuts the power of a setup once for each seed from first on, and goes on until the
// machine is set up right, or says what did not come right. Each ending is kept in
// dir/cuts.json as soon as it is there, and a seed that has a right one is not lived
// again. The folder may be there; o.Dir is not used.
func Cuts(ctx context.Context, o Options, dir string, way Boot, first uint64, seeds int) ([]Ending, error) {
	if seeds < 1 || first < 1 {
		return nil, &Invalid{"seeds", "at least one, the first at least 1"}
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
	if err := l.impatient(ctx); err != nil {
		return nil, err
	}
	var results []Result
	var errs []error
	for seed := first; seed < first+uint64(seeds) && ctx.Err() == nil; seed++ {
		if e, ok := all[seed]; ok && e.Error == "" {
			l.say("site", "known", fmt.Sprintf("seed %d ended right before: %s", seed, e.Cut))
			continue
		}
		e, r, err := l.cutOnce(ctx, way, cutOf(seed))
		results, errs = append(results, r), append(errs, err)
		all[seed] = e
		if err := writeEndings(dir, all); err != nil {
			return nil, err
		}
	}
	return sorted(all), errors.Join(append(errs, l.report(results), context.Cause(ctx))...)
}

// impatient has the site give up a setup soon.
func (l *Lab) impatient(ctx context.Context) error {
	p, err := api.PolicyShow.Call(ctx, l.operator, &api.Empty{})
	if err != nil {
		return err
	}
	in := api.SetPolicy{Body: p.Policy}
	in.Body.Deadlines = map[string]api.Duration{"run-provision": {Duration: cutDeadline}}
	_, err = api.PolicySet.Call(ctx, l.operator, &in)
	return err
}

// cutOnce lives one seed: a machine enrolls, its setup is cut, and it comes to a right
// ending.
func (l *Lab) cutOnce(ctx context.Context, way Boot, c Cut) (Ending, Result, error) {
	e := Ending{Cut: c}
	m, err := l.plain(ctx, way)
	if err != nil {
		return e, Result{}, err
	}
	l.say(m.Name, "cut", fmt.Sprintf("seed %d: %s", c.Seed, c))
	var how []string
	r, err := l.one(ctx, fmt.Sprintf("cut %d", c.Seed), m, func(ctx context.Context, m *Machine) error {
		return l.steps(ctx, m, []step{
			{"power on", time.Minute, func(context.Context) error { return m.On() }},
			{"its first announce", announceWait, func(ctx context.Context) error { return l.announces(ctx, m) }},
			{"approving its setup", time.Minute, func(ctx context.Context) error { return l.approve(ctx, m) }},
			{"its setup until the cut", setupWait, func(ctx context.Context) error { return l.cut(ctx, m, c) }},
			{"the ending", endWait, func(ctx context.Context) error { return l.ends(ctx, m, &how) }},
			{"its boot as a machine of the site", announceWait, func(ctx context.Context) error { return l.shown(ctx, m) }},
			{"looking at its disk", 2 * time.Minute, func(ctx context.Context) error { return l.checkDisk(ctx, m) }},
		})
	})
	e.How, e.Error, e.Seconds = strings.Join(how, "; "), r.Error, r.Seconds
	return e, r, err
}

// cut waits for its moment, takes the victim's power, and gives it back.
func (l *Lab) cut(ctx context.Context, m *Machine, c Cut) error {
	if _, err := m.Await(ctx, c.At); err != nil {
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
func (l *Lab) ends(ctx context.Context, m *Machine, how *[]string) error {
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

// endingsFile is where endings are kept in a folder.
const endingsFile = "cuts.json"

func readEndings(dir string) (map[uint64]Ending, error) {
	all := map[uint64]Ending{}
	raw, err := os.ReadFile(filepath.Join(dir, endingsFile))
	if errors.Is(err, fs.ErrNotExist) {
		return all, nil
	}
	var list []Ending
	if err == nil {
		err = json.Unmarshal(raw, &list)
	}
	if err != nil {
		return nil, &Invalid{filepath.Join(dir, endingsFile) + " (" + err.Error() + ")", "what an earlier run left, or remove it"}
	}
	for _, e := range list {
		all[e.Seed] = e
	}
	return all, nil
}

func writeEndings(dir string, all map[uint64]Ending) error {
	raw, err := json.MarshalIndent(sorted(all), "", "  ")
	if err != nil {
		return err
	}
	path := filepath.Join(dir, endingsFile)
	if err := os.WriteFile(path+".new", append(raw, '\n'), 0o600); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

func sorted(all map[uint64]Ending) (out []Ending) {
	for _, e := range all {
		out = append(out, e)
	}
	slices.SortFunc(out, func(a, b Ending) int { return cmp.Compare(a.Seed, b.Seed) })
	return out
}

// EndingTable lists endings.
func EndingTable(all []Ending) string {
	var b strings.Builder
	right := 0
	for _, e := range all {
		how := "right   "
		if e.Error != "" {
			how = "FAILED  "
		} else {
			right++
		}
		fmt.Fprintf(&b, "%4d  %s %4.0f s  %s\n                   %s\n", e.Seed, how, e.Seconds, e.Cut, e.How)
	}
	fmt.Fprintf(&b, "%d cuts, %d right endings\n", len(all), right)
	return b.String()
}
