package bmc_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/ingotmetal/ingot/bmc"
	"pgregory.net/rapid"
)

// A run is one course against a model, from its beginning to its end.
type run struct {
	verb   bmc.Verb
	m      *model
	moves  int
	result bmc.Result
	err    error
}

func drive(t *rapid.T, v bmc.Verb, m *model) run {
	c, err := bmc.Begin(v, able(), bmc.Patience{}, m.now)
	if err != nil {
		t.Fatal(err)
	}
	r := run{verb: v, m: m}
	for move := c.Next(); move.Do != bmc.MoveDone; move = c.Next() {
		if r.moves++; r.moves > 5000 {
			t.Fatalf("%s does not end: %+v", v, move)
		}
		if move.At.After(m.now) {
			m.now = move.At
		}
		if move.Do == bmc.MoveSend {
			receipt, err := m.send(t, move)
			c.Answered(receipt, err, m.now)
			continue
		}
		if o, err := m.read(t); err != nil {
			c.Blind(err, m.now)
		} else {
			c.Saw(o, m.now)
		}
	}
	r.result, r.err = c.Result()
	return r
}

// attempts are those of one action, or with none of all.
func (r run) attempts(a bmc.Action, outcomes ...string) []attempt {
	return slices.DeleteFunc(slices.Clone(r.m.sent), func(s attempt) bool {
		return a != "" && s.action != a || len(outcomes) > 0 && !slices.Contains(outcomes, s.outcome)
	})
}

// limit is the longest that a verb may take: its waits, its dwell, a BMC's
// restart, and the last answer and the proof that were under way.
func (r run) limit() time.Duration {
	d := 5*time.Minute + 2*30*time.Second + bmc.ConfirmGap + 3*time.Second
	for i, a := range r.verb.Actions() {
		if i > 0 {
			d += bmc.Dwell + bmc.ConfirmGap + 30*time.Second
		}
		d += 3 * time.Minute
		if a == bmc.SendGraceful {
			d += 7 * time.Minute
		}
	}
	return d
}

// laws are what every course keeps, whatever the machine and its BMC do.
var laws = []struct {
	name string
	kept func(run) bool
}{
	{"it ends in time", func(r run) bool { return r.m.now.Sub(noon) <= r.limit() }},
	{"off is said only of a machine that lost its power after the call (BMC-2)", func(r run) bool {
		return r.err != nil || r.verb != bmc.TurnOff && r.verb != bmc.GracefulOff || r.m.without(noon, r.m.now)
	}},
	{"cycle and graceful-restart: power lost after the call, then on (BMC-1)", func(r run) bool {
		if r.err != nil || r.verb != bmc.Cycle && r.verb != bmc.GracefulRestart {
			return true
		}
		return r.m.without(noon, r.m.now) && r.result.Last.State == bmc.On && r.m.was(true, r.result.Last.Began.Add(-late), r.m.now)
	}},
	{"on is said only of a machine that was on", func(r run) bool {
		return r.err != nil || r.verb != bmc.TurnOn || r.m.was(true, noon.Add(-late), r.m.now)
	}},
	{"reset and nmi are done at most once, and not sent again after a lost answer (BMC-3)", func(r run) bool {
		return len(r.attempts(bmc.SendReset, "accepted", "lost")) <= 1 && len(r.attempts(bmc.SendNMI, "accepted", "lost")) <= 1
	}},
	{"only its own actions: graceful never forces (BMC-1)", func(r run) bool {
		return !slices.ContainsFunc(r.m.sent, func(a attempt) bool { return !slices.Contains(r.verb.Actions(), a.action) })
	}},
	{"in order", func(r run) bool {
		order := r.verb.Actions()
		return slices.IsSortedFunc(r.m.sent, func(a, b attempt) int { return slices.Index(order, a.action) - slices.Index(order, b.action) })
	}},
	{"Once stands on the first try of what cannot be repeated, and nowhere else (BMC-3)", func(r run) bool {
		for i, a := range r.m.sent {
			if a.once != (i == 0 && !r.verb.Repeatable()) {
				return false
			}
		}
		return true
	}},
	{"an accepted action is not sent again", func(r run) bool {
		for _, a := range bmc.Actions() {
			if all := r.attempts(a); len(r.attempts(a, "accepted")) > 1 || len(all) > 1 && slices.ContainsFunc(all[:len(all)-1], func(a attempt) bool { return a.outcome == "accepted" }) {
				return false
			}
		}
		return true
	}},
	{"after a lost answer it looks for a while before it sends again", func(r run) bool {
		for i := 1; i < len(r.m.sent); i++ {
			a, b := r.m.sent[i-1], r.m.sent[i]
			if a.outcome == "lost" && b.action == a.action && b.at.Sub(a.at) < 30*time.Second {
				return false
			}
		}
		return true
	}},
	{"nothing is sent when its time is over", func(r run) bool {
		return !slices.ContainsFunc(r.m.sent, func(a attempt) bool { return a.at.Sub(noon) > r.limit()-2*30*time.Second })
	}},
	{"the result holds every receipt", func(r run) bool {
		return len(r.result.Sent) == len(r.attempts("", "accepted"))
	}},
	{"unchanged is said only where nothing was done", func(r run) bool {
		return r.result.Changed == (len(r.attempts("", "accepted", "lost")) > 0)
	}},
	{"a refusal is ours, and says which verb it ends", func(r run) bool {
		e, ok := errors.AsType[*bmc.Error](r.err)
		return r.err == nil || ok && e.Op != "" && e.Code() != ""
	}},
	{"a failure says that it was sent where it may have been", func(r run) bool {
		e, _ := errors.AsType[*bmc.Error](r.err)
		return e == nil || !r.result.Changed || e.Sent == bmc.SentYes || e.Sent == bmc.SentMaybe
	}},
}

// Courses of every verb against machines that are late, flicker, are busy, lose
// answers and go deaf. Of each verb some succeed, so that the laws are not kept by
// failing.
func TestCourses(t *testing.T) {
	for _, v := range bmc.Verbs() {
		t.Run(string(v), func(t *testing.T) {
			good := 0
			rapid.Check(t, func(t *rapid.T) {
				r := drive(t, v, newModel(t, true))
				for _, l := range laws {
					if !l.kept(r) {
						t.Fatalf("not kept: %s; it ended after %s: %v\nsent: %+v\nhistory: %+v\nresult: %+v", l.name, r.m.now.Sub(noon), r.err, r.m.sent, r.m.history, r.result)
					}
				}
				if r.err == nil {
					good++
				}
			})
			if good == 0 && !testing.Short() { // short tries too few
				t.Error("none succeeded")
			}
		})
	}
}

// A sound machine goes where each verb sends it, or refuses with nothing sent.
func TestCoursesOfSoundMachines(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m, v := newModel(t, false), rapid.SampledFrom(bmc.Verbs()).Draw(t, "verb")
		running := m.on(noon)
		r := drive(t, v, m)
		needs := slices.Contains([]bmc.Verb{bmc.Reset, bmc.GracefulRestart, bmc.NMI}, v)
		e, _ := errors.AsType[*bmc.Error](r.err)
		switch {
		case needs && !running:
			if e == nil || e.Kind != bmc.Conflict || len(m.sent) > 0 {
				t.Fatalf("%s of a machine that is off: %v, sent %+v", v, r.err, m.sent)
			}
			return
		case r.err != nil:
			t.Fatalf("%s: %v", v, r.err)
		}
		want := map[bmc.Verb]int{bmc.TurnOn: 1, bmc.Reset: 1, bmc.GracefulRestart: 2, bmc.Cycle: 1, bmc.NMI: 1}[v]
		if running {
			want = map[bmc.Verb]int{bmc.TurnOff: 1, bmc.GracefulOff: 1, bmc.Reset: 1, bmc.GracefulRestart: 2, bmc.Cycle: 2, bmc.NMI: 1}[v]
		}
		if len(m.sent) != want || r.result.Changed != (want > 0) {
			t.Fatalf("%s, power %v: sent %+v, want %d", v, running, m.sent, want)
		}
		if end := v != bmc.TurnOff && v != bmc.GracefulOff; m.on(m.now) != end {
			t.Fatalf("%s ends with power %v", v, !end)
		}
	})
}

// A script is a machine whose every answer is given.
type step struct {
	want  bmc.MoveKind
	saw   bmc.State
	err   error
	after time.Duration // since the last step, at least; else as soon as the course asks
}

func follow(t *testing.T, v bmc.Verb, steps []step) (*bmc.Course, time.Time) {
	t.Helper()
	c, err := bmc.Begin(v, able(), bmc.Patience{}, noon)
	if err != nil {
		t.Fatal(err)
	}
	now := noon
	for i, s := range steps {
		m := c.Next()
		if m.Do != s.want {
			t.Fatalf("step %d: %+v, want %s", i, m, s.want)
		}
		now = now.Add(s.after)
		if m.At.After(now) {
			now = m.At
		}
		switch {
		case m.Do == bmc.MoveSend:
			c.Answered(bmc.Receipt{Action: m.Send, At: now}, s.err, now)
		case s.err != nil:
			c.Blind(s.err, now)
		default:
			c.Saw(bmc.PowerObservation{State: s.saw, Began: now, Ended: now}, now)
		}
	}
	return c, now
}

// Single stories, each of them once a fault or a near miss.
func TestCourseStories(t *testing.T) {
	const look, send = bmc.MoveRead, bmc.MoveSend
	lost := &bmc.Error{Kind: bmc.Indeterminate, Op: "send", Sent: bmc.SentMaybe}
	gone := &bmc.Error{Kind: bmc.Unreachable, Op: "read"}
	tests := []struct {
		name  string
		verb  bmc.Verb
		steps []step
		kind  bmc.Kind // "": success; "...": it goes on
		sent  bmc.Sent
	}{
		{"a restart whose first request worked, though its answer was lost and the second was refused", bmc.GracefulRestart, []step{
			{want: look, saw: bmc.On}, {want: send, err: lost}, {want: look, saw: bmc.On, after: 31 * time.Second},
			{want: send, err: &bmc.Error{Kind: bmc.Busy, Op: "send"}}, {want: look, saw: bmc.Off},
		}, "...", ""},
		{"a reset of a machine that goes off waits, and is a conflict", bmc.Reset, []step{
			{want: look, saw: bmc.PoweringOff}, {want: look, saw: bmc.Off},
		}, bmc.Conflict, bmc.SentNo},
		{"a reset of a machine that starts waits, and is sent", bmc.Reset, []step{
			{want: look, saw: bmc.PoweringOn}, {want: look, saw: bmc.On}, {want: send},
		}, "", ""},
		{"a reset whose answer is lost on the wire is nobody knows what", bmc.Reset, []step{
			{want: look, saw: bmc.On}, {want: send, err: &bmc.Error{Kind: bmc.Unreachable, Op: "send", Sent: bmc.SentMaybe}},
		}, bmc.Indeterminate, bmc.SentMaybe},
		{"an error that is none of ours may have been sent", bmc.NMI, []step{
			{want: look, saw: bmc.On}, {want: send, err: context.DeadlineExceeded},
		}, bmc.Indeterminate, bmc.SentMaybe},
		{"a BMC that asks for a day does not get it", bmc.TurnOff, []step{
			{want: look, err: &bmc.Error{Kind: bmc.Busy, Op: "read", After: 24 * time.Hour}}, {want: look, err: &bmc.Error{Kind: bmc.Busy, Op: "read"}},
		}, bmc.Busy, bmc.SentNo},
		{"a first answer after the time is over sends nothing", bmc.TurnOff, []step{
			{want: look, saw: bmc.On, after: 4 * time.Minute},
		}, bmc.NotReached, bmc.SentNo},
		{"a dead BMC is unreachable", bmc.Cycle, []step{
			{want: look, err: gone}, {want: look, err: gone, after: 4 * time.Minute},
		}, bmc.Unreachable, bmc.SentNo},
		{"a BMC that restarts for 200 s after it was told", bmc.TurnOff, []step{
			{want: look, saw: bmc.On}, {want: send}, {want: look, err: gone}, {want: look, err: gone, after: 200 * time.Second},
			{want: look, err: &bmc.Error{Kind: bmc.NotFound, Op: "read", Sent: bmc.SentYes}}, {want: look, saw: bmc.Off}, {want: look, saw: bmc.Off},
		}, "", ""},
		{"one that stays away after it was told", bmc.TurnOff, []step{
			{want: look, saw: bmc.On}, {want: send}, {want: look, err: gone}, {want: look, err: gone, after: 8 * time.Minute},
		}, bmc.NotReached, bmc.SentYes},
		{"a system that is not there at all", bmc.TurnOff, []step{
			{want: look, err: &bmc.Error{Kind: bmc.NotFound, Op: "read", Sent: bmc.SentYes}},
		}, bmc.NotFound, bmc.SentYes},
		{"a refused password ends it", bmc.Cycle, []step{
			{want: look, saw: bmc.On}, {want: send}, {want: look, err: &bmc.Error{Kind: bmc.Auth, Op: "read", Sent: bmc.SentYes}},
		}, bmc.Auth, bmc.SentYes},
		{"what is not supported ends it (metal3-io/baremetal-operator#984)", bmc.GracefulOff, []step{
			{want: look, saw: bmc.On}, {want: send, err: &bmc.Error{Kind: bmc.Unsupports, Op: "send"}},
		}, bmc.Unsupports, ""},
		{"On refused just after off is tried again (iDRAC10 409)", bmc.TurnOn, []step{
			{want: look, saw: bmc.Off}, {want: send, err: &bmc.Error{Kind: bmc.Conflict, Op: "send", Sent: bmc.SentYes}},
			{want: look, saw: bmc.Off}, {want: send}, {want: look, saw: bmc.On},
		}, "", ""},
		{"a machine that comes back by itself in the middle of a cycle", bmc.Cycle, []step{
			{want: look, saw: bmc.On}, {want: send}, {want: look, saw: bmc.Off}, {want: look, saw: bmc.Off}, {want: look, saw: bmc.On},
		}, "", ""},
	}
	for _, tt := range tests {
		c, _ := follow(t, tt.verb, tt.steps)
		if goes := c.Next().Do != bmc.MoveDone; goes != (tt.kind == "...") {
			t.Errorf("%s: %+v", tt.name, c.Next())
			continue
		}
		_, err := c.Result()
		e, _ := errors.AsType[*bmc.Error](err)
		switch {
		case tt.kind == "" || tt.kind == "...":
			if err != nil {
				t.Errorf("%s: %v", tt.name, err)
			}
		case e == nil || e.Kind != tt.kind || e.Sent != tt.sent:
			t.Errorf("%s: %+v, want %s, sent %q", tt.name, e, tt.kind, tt.sent)
		}
	}
}

// A course that is done does not move again, whatever it is told.
func TestCourseStaysDone(t *testing.T) {
	c, now := follow(t, bmc.TurnOn, []step{{want: bmc.MoveRead, saw: bmc.On}})
	before, _ := c.Result()
	c.Saw(bmc.PowerObservation{State: bmc.Off, Began: now, Ended: now}, now)
	c.Blind(errors.New("gone"), now)
	c.Answered(bmc.Receipt{}, errors.New("gone"), now)
	if after, err := c.Result(); err != nil || after.Last != before.Last || after.Changed || c.Next().Do != bmc.MoveDone {
		t.Errorf("%+v, %v", after, err)
	}
}

// What was accepted, and did not end, has changed the machine for all that is known.
func TestAcceptedCountsAsChanged(t *testing.T) {
	for _, kind := range []bmc.Kind{bmc.NotReached, bmc.Indeterminate, bmc.Protocol} {
		e := &bmc.Error{Kind: kind, Op: "send", Sent: bmc.SentYes}
		c, _ := follow(t, bmc.Reset, []step{{want: bmc.MoveRead, saw: bmc.On}, {want: bmc.MoveSend, err: e}})
		result, err := c.Result()
		if c.Next().Do != bmc.MoveDone || !errors.Is(err, e) || !result.Changed {
			t.Errorf("%s: %+v, %v", kind, result, err)
		}
	}
}
