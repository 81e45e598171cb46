package bmctest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ingotmetal/ingot/bmc"
)

// closing is how long, in a bubble, both ends of a TLS connection in memory may
// wait for one another when they close.
const closing = 10 * time.Second

// lawTime bounds one law in one scene.
const lawTime = 10 * time.Minute

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

// Judge checks the laws one after the other and reports what came of each. It
// ends early when ctx does; what is left is then not run. Told hears each result
// when it is there; it may be nil.
func Judge(ctx context.Context, s Subject, told func(Result)) Report {
	report := Report{Driver: s.Driver.Info()}
	for _, law := range s.laws() {
		for _, scene := range law.scenes() {
			r := s.judge(ctx, law, scene)
			report.Results = append(report.Results, r)
			if told != nil {
				told(r)
			}
		}
	}
	return report
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
	ctx, cancel := context.WithTimeout(ctx, lawTime)
	defer cancel()
	err := s.check(ctx, law, scene)
	r.Took = time.Since(began)
	un, notRun := errors.AsType[*unfit](err)
	switch {
	case notRun:
		r.State, r.Why = NotRun, un.why
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
	return t.on(ctx, scene, func(t *try) error { return law.check(ctx, t) })
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
