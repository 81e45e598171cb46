package bmctest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ingotmetal/ingot/bmc"
)

// closing is how long, in a bubble, both ends of a TLS connection in memory may
// wait for one another when they close.
const closing = 10 * time.Second

// lawTime bounds one law in one scene, and hardTime one that drives real hardware
// through all its states.
const (
	lawTime  = 10 * time.Minute
	hardTime = 2 * time.Hour
)

func (l Law) time() time.Duration {
	if l.Level == Destructive {
		return hardTime
	}
	return lawTime
}

// Run checks every law that applies in a subtest, and each of its scenes in one
// below. A law that could not be checked is a skip.
func Run(t *testing.T, s Subject) {
	for _, law := range s.laws() {
		for _, r := range law.scenes() {
			t.Run(law.title(r), func(t *testing.T) {
				var is Result
				if s.Bubble {
					synctest.Test(t, func(t *testing.T) {
						is = s.judge(t.Context(), law, r)
						time.Sleep(closing)
					})
				} else {
					is = s.judge(t.Context(), law, r)
				}
				switch is.State {
				case Broken:
					t.Error(is.Why)
				case NotRun:
					t.Skip(is.Why)
				}
			})
		}
	}
}

// Judge checks the laws, [Subject.Parallel] at once but for those that measure what
// others beside them would disturb, and reports what came of each
// by number. It ends early when ctx does; what is left is then not run. Told hears
// each result when it is there, one at a time; it may be nil.
func Judge(ctx context.Context, s Subject, told func(Result)) Report {
	checks := s.checks()
	report := Report{Driver: s.Driver.Info(), Results: make([]Result, len(checks))}
	var (
		telling sync.Mutex
		ends    sync.WaitGroup
	)
	judge := func(i int) {
		r := s.fresh().judge(ctx, checks[i].law, checks[i].scene)
		telling.Lock()
		defer telling.Unlock()
		report.Results[i] = r
		if told != nil {
			told(r)
		}
	}
	together := func(c check) bool { return s.Parallel > 1 && !c.law.alone() }
	free := make(chan struct{}, max(s.Parallel, 1))
	for i, c := range checks {
		if !together(c) {
			continue
		}
		free <- struct{}{}
		ends.Go(func() {
			defer func() { <-free }()
			judge(i)
		})
	}
	ends.Wait()
	for i, c := range checks {
		if !together(c) {
			judge(i)
		}
	}
	return report
}

// alone reports whether a law measures the process, or times so short that others
// beside it would break it: what is logged, what a body without end allocates, how
// soon a caller is let go, the interval between requests.
func (l Law) alone() bool { return slices.Contains([]int{6, 12, 15, 23}, l.Number) }

// Checks is how many results a [Judge] of s will have.
func (s Subject) Checks() int { return len(s.checks()) }

// A check is one law in one scene.
type check struct {
	law   Law
	scene Scene
}

func (s Subject) checks() []check {
	var out []check
	for _, law := range s.laws() {
		for _, scene := range law.scenes() {
			out = append(out, check{law, scene})
		}
	}
	return out
}

// fresh is s with a driver and a stage of its own, where it has such.
func (s Subject) fresh() Subject {
	if s.Fresh != nil {
		s.Driver, s.Stage = s.Fresh()
	}
	return s
}

// laws are those of the subject's levels, by number.
func (s Subject) laws() []Law {
	levels := s.Levels
	if len(levels) == 0 {
		levels = []Level{Pure, Simulated, Recorded}
	}
	var out []Law
	for _, l := range Laws() {
		if slices.Contains(levels, l.Level) && (s.Only == 0 || s.Only == l.Number) {
			out = append(out, l)
		}
	}
	slices.SortStableFunc(out, func(a, b Law) int { return a.Number - b.Number })
	return out
}

// scenes are those of a law; one without a name for a law that needs none.
func (l Law) scenes() []Scene {
	if len(l.Scenes) == 0 {
		return []Scene{""}
	}
	return l.Scenes
}

// title names a law in a scene.
func (l Law) title(s Scene) string {
	name := fmt.Sprintf("%02d %s", l.Number, l.Name)
	if len(l.Scenes) > 1 {
		name += " (" + string(s) + ")"
	}
	return strings.ReplaceAll(name, "/", "-")
}

// judge checks one law in one scene.
func (s Subject) judge(ctx context.Context, law Law, scene Scene) Result {
	r := Result{Law: law, Scene: scene}
	if err := ctx.Err(); err != nil {
		r.State, r.Why = NotRun, err.Error()
		return r
	}
	began := time.Now()
	within, cancel := context.WithTimeout(ctx, law.time())
	defer cancel()
	err := s.check(within, law, scene)
	r.Took = time.Since(began)
	switch over := ctx.Err(); {
	case over != nil: // what it saw says nothing of the driver
		r.State, r.Why = NotRun, errors.Join(over, err).Error()
	case err != nil && lacking(err):
		r.State, r.Why = NotRun, err.Error()
	case err != nil:
		r.State, r.Why = Broken, err.Error()
	default:
		r.State = Kept
	}
	return r
}

func (s Subject) check(ctx context.Context, law Law, scene Scene) error {
	declares := s.Driver.Info().Declares
	if len(law.Needs) > 0 && !slices.ContainsFunc(law.Needs, func(f bmc.Feature) bool { return slices.Contains(declares, f) }) {
		return &unfit{fmt.Sprintf("the driver declares none of %v", law.Needs)}
	}
	t := &try{Subject: s}
	if scene == "" {
		return law.check(ctx, t)
	}
	return t.on(ctx, scene, func(t *try) error {
		if law.Level == Simulated { // it may turn the machine off, and log in with wrong passwords
			if _, err := t.sim(); err != nil {
				return err
			}
		}
		return law.check(ctx, t)
	})
}

// on sets a scene for a check, and takes it down.
func (t *try) on(ctx context.Context, scene Scene, check func(*try) error) (err error) {
	if t.Stage == nil {
		return &unfit{"the subject has no stage"}
	}
	stage, err := t.Subject.Stage(ctx, scene)
	if errors.Is(err, ErrNoScene) {
		return &unfit{"the stage does not show " + string(scene)}
	}
	if err != nil {
		return fmt.Errorf("the stage for %s: %w", scene, err)
	}
	defer func() { err = errors.Join(err, stage.Close()) }()
	limits, err := bmc.LimitsOf(t.Driver, t.Options)
	if err != nil {
		return fmt.Errorf("the limits of the subject's options: %w", err)
	}
	return check(&try{Subject: t.Subject, Scene: scene, stage: stage, gate: newGate(limits), creds: &source{now: stage.Credentials()}})
}
