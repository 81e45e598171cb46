package run_test

import (
	"errors"
	"testing"
	"time"

	sm "github.com/ingotmetal/ingot/statemachine"
	"github.com/ingotmetal/ingot/statemachine/run"
)

// device is a run axis with a clock and an epoch counter of its own.
type device struct {
	run.Record
	now  time.Time
	last uint64
}

type edit = func(*run.Event)

func newDevice() *device { return &device{Record: run.New(), now: start} }

// try steps one event that everything is ready for; edits change what it
// brings. Reports name the newest attempt unless an edit says otherwise.
func (d *device) try(on run.Kind, edits ...edit) error {
	e := run.Event{Event: sm.Event[run.Kind]{On: on, Next: d.last + 1}, Facts: run.Pin, Action: run.Provision, Serial: "S1", Why: "no boot"}
	if run.Table.Reports(on) {
		e.Epoch = d.Epoch
	}
	for _, edit := range edits {
		edit(&e)
	}
	next, err := run.Step(d.Record, e, d.now)
	d.Record, d.last = next, max(d.last, next.Epoch)
	return err
}

// do is try for steps that must succeed.
func (d *device) do(t *testing.T, on run.Kind, edits ...edit) *device {
	t.Helper()
	if err := d.try(on, edits...); err != nil {
		t.Fatal(err)
	}
	return d
}

// refused demands a refusal with a code, by which nothing changes.
func (d *device) refused(t *testing.T, code sm.Code, on run.Kind, edits ...edit) {
	t.Helper()
	before := d.Record
	err := d.try(on, edits...)
	if codeOf(err) != string(code) {
		t.Errorf("%s in %s: %v, want %s", on, before.State, err, code)
	}
	if d.Record != before {
		t.Errorf("%s was refused and changed the axis:\n%+v\n%+v", on, before, d.Record)
	}
}

func codeOf(err error) string {
	if coded, ok := errors.AsType[interface {
		error
		Code() string
	}](err); ok {
		return coded.Code()
	}
	return ""
}

// retire steps the retirement likewise.
func (d *device) retire(t *testing.T, on run.RetireKind, edits ...func(*run.RetireEvent)) *device {
	t.Helper()
	if err := d.tryRetire(on, edits...); err != nil {
		t.Fatal(err)
	}
	return d
}

func (d *device) tryRetire(on run.RetireKind, edits ...func(*run.RetireEvent)) error {
	e := run.RetireEvent{Event: sm.Event[run.RetireKind]{On: on, Next: d.last + 1}, Serial: "S1"}
	if run.Retirement.Reports(on) {
		e.Epoch = d.Retire.Epoch
	}
	for _, edit := range edits {
		edit(&e)
	}
	next, err := run.StepRetire(d.Record, e, d.now)
	d.Record, d.last = next, max(d.last, next.Retire.Epoch)
	return err
}

func (d *device) refusedRetire(t *testing.T, code sm.Code, on run.RetireKind, edits ...func(*run.RetireEvent)) {
	t.Helper()
	before := d.Record
	if err := d.tryRetire(on, edits...); codeOf(err) != string(code) || d.Record != before {
		t.Errorf("%s in %s: %v, want %s; now %+v", on, before.Retire.State, err, code, d.Record)
	}
}

// The edits of this package's tests.
func ask(a run.Action) edit { return func(e *run.Event) { e.Action = a } }

func facts(g sm.Guard) edit { return func(e *run.Event) { e.Facts = g } }

func serial(s string) edit { return func(e *run.Event) { e.Serial = s } }

func epoch(n uint64) edit { return func(e *run.Event) { e.Epoch = n } }

func held(e *run.RetireEvent) { e.Facts |= run.SlotHeld }

// The usual ways to a state.
func waiting(t *testing.T, a run.Action) *device {
	t.Helper()
	return newDevice().do(t, run.Request, ask(a))
}

func running(t *testing.T, a run.Action) *device { t.Helper(); return waiting(t, a).do(t, run.Begin) }

func wiping(t *testing.T) *device { t.Helper(); return newDevice().retire(t, run.Decommission) }

func evicting(t *testing.T) *device {
	t.Helper()
	return wiping(t).retire(t, run.Wiped).retire(t, run.OffConfirmed)
}

func offline(t *testing.T) *device {
	t.Helper()
	return evicting(t).retire(t, run.Evicted).retire(t, run.Cleaned)
}

// holds demands the run's fields.
func (d *device) holds(t *testing.T, s run.State, a, next run.Action, reason, disk string) {
	t.Helper()
	if d.State != s || d.Action != a || d.Next != next || d.Reason != reason || d.Serial != disk {
		t.Errorf("%s, %q then %q because %q, disk %q; want %s, %q then %q because %q, disk %q",
			d.State, d.Action, d.Next, d.Reason, d.Serial, s, a, next, reason, disk)
	}
}

// RUN-1: one run at a time; the current action asked again is consumed,
// another waits for the end, and the owner may take it back.
func TestRequests(t *testing.T) {
	for _, d := range []*device{waiting(t, run.Provision), running(t, run.Provision)} {
		state, disk := d.State, d.Serial
		d.do(t, run.Request, ask(run.Provision)).holds(t, state, run.Provision, "", "", disk)
		d.do(t, run.Request, ask(run.Attest)).holds(t, state, run.Provision, run.Attest, "", disk)
		d.do(t, run.Request, ask(run.Wipe)).holds(t, state, run.Provision, run.Wipe, "", disk)
		d.do(t, run.Request, ask(run.Provision)).holds(t, state, run.Provision, "", "", disk)
	}
	d := running(t, run.Provision).do(t, run.Request, ask(run.Wipe)).do(t, run.Succeed)
	d.holds(t, run.Succeeded, run.Provision, run.Wipe, "", "S1")
	d.do(t, run.Request, ask(d.Next)).holds(t, run.Waiting, run.Wipe, "", "", "S1")
	d = running(t, run.Provision).do(t, run.Request, ask(run.Wipe)).do(t, run.Fail)
	d.holds(t, run.Failed, run.Provision, run.Wipe, "no boot", "S1")
	d.do(t, run.Request, ask(run.Provision)).holds(t, run.Waiting, run.Provision, "", "", "S1")
}

// RUN-3, RUN-4, MACH-3, PROV-13: what a run waits for, by its action.
func TestWhatARunWaitsFor(t *testing.T) {
	for name, c := range map[string]struct {
		action run.Action
		edits  []edit
		code   sm.Code
	}{
		"provision":                  {run.Provision, nil, ""},
		"provision without serial":   {run.Provision, []edit{serial("")}, sm.Conflict},
		"provision without pin":      {run.Provision, []edit{facts(0)}, sm.Conflict},
		"provision when allocated":   {run.Provision, []edit{facts(run.Pin | run.Allocated)}, sm.Conflict},
		"provision when held":        {run.Provision, []edit{facts(run.Pin | run.Held)}, sm.Conflict},
		"the fact is not the serial": {run.Provision, []edit{serial(""), facts(run.Pin | run.Serial)}, sm.Conflict},
		"wipe":                       {run.Wipe, []edit{facts(0)}, ""},
		"wipe without serial":        {run.Wipe, []edit{serial("")}, sm.Conflict},
		"wipe when allocated":        {run.Wipe, []edit{facts(run.Allocated)}, sm.Conflict},
		"attest writes nothing":      {run.Attest, []edit{serial(""), facts(run.Allocated)}, ""},
		"attest when held":           {run.Attest, []edit{facts(run.Held)}, sm.Conflict},
	} {
		t.Run(name, func(t *testing.T) {
			d := waiting(t, c.action)
			if c.code != "" {
				d.refused(t, c.code, run.Begin, c.edits...)
				return
			}
			if d.do(t, run.Begin, c.edits...); d.State != run.Running || d.Epoch != 1 {
				t.Errorf("%+v", d.At)
			}
		})
	}
}

// MACH-5: each action has its own deadline, unless a site has one.
func TestDeadlines(t *testing.T) {
	for a, want := range map[run.Action]time.Duration{run.Provision: 90 * time.Minute, run.Attest: 30 * time.Minute, run.Wipe: 24 * time.Hour} {
		if got := running(t, a).Deadline.Sub(start); got != want {
			t.Errorf("%s is due in %s, want %s", a, got, want)
		}
		if got := waiting(t, a).do(t, run.FoundRunning, ask(a)).Deadline.Sub(start); got != want {
			t.Errorf("a found %s is due in %s, want %s", a, got, want)
		}
		d := waiting(t, a).do(t, run.Begin, func(e *run.Event) { e.Within = time.Hour })
		if got := d.Deadline.Sub(start); got != time.Hour {
			t.Errorf("the site's %s is due in %s, want 1h", a, got)
		}
	}
}

// RUN-2: a run of the engine's whose begin was lost is adopted by the request
// that waits for it, and never duplicates one that was; what waited meanwhile
// still waits.
func TestFoundRuns(t *testing.T) {
	d := waiting(t, run.Provision).do(t, run.FoundRunning)
	if d.holds(t, run.Running, run.Provision, "", "", "S1"); !run.Table.Open(d.At) || d.Epoch != d.last {
		t.Errorf("%+v", d.At)
	}
	for _, on := range []run.Kind{run.FoundRunning, run.FoundSucceeded, run.FoundFailed} {
		before := d.Record
		if d.do(t, on, ask(run.Wipe), serial("S2")); d.Record != before {
			t.Errorf("%s duplicated a run: %+v", on, d.Record)
		}
	}
	waiting(t, run.Provision).do(t, run.FoundSucceeded).holds(t, run.Succeeded, run.Provision, "", "", "")
	waiting(t, run.Provision).do(t, run.FoundFailed).holds(t, run.Failed, run.Provision, "", "no boot", "")
	waiting(t, run.Provision).do(t, run.Request, ask(run.Attest)).do(t, run.FoundRunning).holds(t, run.Running, run.Provision, run.Attest, "", "S1")
}

// MACH-7, RUN-2, RUN-3, RUN-4, RUN-9, PROV-13: a found run needs an accepted
// request and what that needs to begin. Where none stands it is the engine's to
// stop, and one that ended is history.
func TestFoundRunsNeedTheirRequest(t *testing.T) {
	for name, d := range map[string]*device{"idle": newDevice(), "after a success": running(t, run.Provision).do(t, run.Succeed),
		"after a failure": running(t, run.Provision).do(t, run.Fail), "another waits": waiting(t, run.Wipe)} {
		d.refused(t, sm.Conflict, run.FoundRunning)
		for _, on := range []run.Kind{run.FoundSucceeded, run.FoundFailed} {
			before := d.Record
			if d.do(t, on); d.Record != before {
				t.Errorf("%s, %s: %+v", name, on, d.Record)
			}
		}
	}
	for _, lack := range []edit{facts(run.Pin | run.Held), facts(run.Pin | run.Allocated), serial(""), facts(0)} {
		waiting(t, run.Provision).refused(t, sm.Conflict, run.FoundRunning, lack)
	}
	waiting(t, run.Provision).retire(t, run.Decommission).refused(t, sm.Conflict, run.FoundRunning)
	attest := waiting(t, run.Attest).do(t, run.FoundRunning, ask(run.Attest), serial(""), facts(run.Allocated))
	attest.holds(t, run.Running, run.Attest, "", "", "")
}

// RUN-9: how a run ends, and that it is not repeated by itself.
func TestEnds(t *testing.T) {
	running(t, run.Wipe).do(t, run.Fail).holds(t, run.Failed, run.Wipe, "", "no boot", "S1")
	d := running(t, run.Wipe)
	d.now = d.Deadline
	d.do(t, run.Expired).holds(t, run.Failed, run.Wipe, "", "the run did not end before its deadline", "S1")
	d.refused(t, sm.InvalidState, run.Begin)
	d.do(t, run.End).holds(t, run.Idle, "", "", "", "")
	running(t, run.Wipe).refused(t, sm.Conflict, run.End)
	waiting(t, run.Wipe).do(t, run.Request).do(t, run.End).holds(t, run.Idle, "", "", "", "")
}

// RUN-6: retirement takes the run away, and none begins or is asked for while
// it lasts, or after.
func TestRetirementInterrupts(t *testing.T) {
	running(t, run.Wipe).do(t, run.Interrupt).holds(t, run.Failed, run.Wipe, "", "retirement took the machine over", "S1")
	waiting(t, run.Wipe).do(t, run.Interrupt).holds(t, run.Idle, "", "", "", "")
	// What waited for the run's end goes too, or it would begin after a retirement (RUN-1).
	running(t, run.Wipe).do(t, run.Request, ask(run.Attest)).do(t, run.Interrupt).holds(t, run.Failed, run.Wipe, "", "retirement took the machine over", "S1")
	for name, d := range map[string]*device{"wiping": wiping(t), "offline": offline(t)} {
		if d.Retire.State != run.RetireStep(name) {
			t.Fatal(d.Retire.State)
		}
		d.refused(t, sm.Conflict, run.Request)
	}
	waiting(t, run.Wipe).retire(t, run.Decommission).refused(t, sm.Conflict, run.Begin)
	if d := running(t, run.Provision).retire(t, run.Decommission, held); d.Retire.State != run.Interrupting {
		t.Errorf("a held machine goes to %s", d.Retire.State)
	}
}

// A found run says nothing of the disk that a retirement erases.
func TestFoundRunLeavesRetirementsDisk(t *testing.T) {
	d := wiping(t).do(t, run.FoundFailed, serial(""))
	if got := d.Disk(); len(got) != 1 || got[0] != "S1" {
		t.Errorf("the retirement's disk is %q", got)
	}
}

// RUN-5, RUN-9: the steps in their order, each with the deadline of MACH-5.
func TestRetirementSteps(t *testing.T) {
	d := newDevice()
	d.refusedRetire(t, sm.Conflict, run.Decommission, func(e *run.RetireEvent) { e.Serial, e.Facts = "", run.HasSerial })
	d.retire(t, run.Decommission, held)
	if len(d.Disk()) != 1 || d.Disk()[0] != "S1" || !d.Retiring() {
		t.Errorf("%+v", d.Record)
	}
	due := map[run.RetireStep]time.Duration{run.Wiping: 24 * time.Hour, run.Evicting: 10 * time.Minute}
	for _, s := range []struct {
		step run.RetireStep
		by   run.RetireKind
	}{
		{run.Interrupting, run.OffConfirmed}, {run.Wiping, run.WipeFailed}, {run.Interrupting, run.OffConfirmed}, {run.Wiping, run.Wiped},
		{run.AwaitingOff, run.OffConfirmed}, {run.Evicting, run.Evicted}, {run.Cleaning, run.Cleaned},
	} {
		if d.Retire.State != s.step || !d.Unfinished() {
			t.Fatalf("%s, want %s", d.Retire.State, s.step)
		}
		want := time.Time{}
		if due[s.step] > 0 {
			want = start.Add(due[s.step])
		}
		if !d.Retire.Deadline.Equal(want) {
			t.Errorf("%s is due at %s, want %s", s.step, d.Retire.Deadline, want)
		}
		d.refusedRetire(t, sm.Conflict, run.EndSteps)
		before := d.Record
		if d.retire(t, run.Decommission); d.Record != before {
			t.Errorf("asked again in %s: %+v", s.step, d.Record)
		}
		d.retire(t, s.by)
	}
	if d.Retire.State != run.Offline || d.Retiring() || d.Unfinished() {
		t.Errorf("ended as %+v", d.Record)
	}
	if d.retire(t, run.EndSteps); d.Record != run.New() {
		t.Errorf("left: %+v", d.Record)
	}
}

// RUN-5, RUN-9: an overdue wipe starts over from confirmed off; an overdue
// eviction goes on.
func TestRetirementExpires(t *testing.T) {
	d := wiping(t)
	d.refusedRetire(t, sm.Conflict, run.StepExpired)
	d.now = d.Retire.Deadline
	if d.retire(t, run.StepExpired); d.Retire.State != run.Interrupting {
		t.Errorf("an overdue wipe goes to %s", d.Retire.State)
	}
	d = evicting(t)
	d.now = d.Retire.Deadline
	if d.retire(t, run.StepExpired); d.Retire.State != run.Cleaning {
		t.Errorf("an overdue eviction goes to %s", d.Retire.State)
	}
}

// MACH-5: evicting is 10 minutes, whatever the event brings; a site may
// change the wipe's.
func TestEvictingIsFixed(t *testing.T) {
	long := func(e *run.RetireEvent) { e.Within = time.Hour }
	d := wiping(t).retire(t, run.Wiped).retire(t, run.OffConfirmed, long)
	if got := d.Retire.Deadline.Sub(start); got != 10*time.Minute {
		t.Errorf("evicting is due in %s", got)
	}
	if got := newDevice().retire(t, run.Decommission, long).Retire.Deadline.Sub(start); got != time.Hour {
		t.Errorf("the site's wipe is due in %s", got)
	}
}

// None may be left out of a record.
func TestZeroRetirementIsNone(t *testing.T) {
	d := newDevice()
	d.Retire.State = ""
	if d.Retiring() || d.Unfinished() {
		t.Error("it retires")
	}
	d.do(t, run.Request, ask(run.Attest)).do(t, run.Begin)
	if d.retire(t, run.Decommission, held); d.Retire.State != run.Interrupting {
		t.Error(d.Retire.State)
	}
}

// Reports that come late, again or out of order (MACH-4, EDGE-6, EDGE-7).
func TestReportsOfPastAttempts(t *testing.T) {
	overdue := running(t, run.Wipe)
	overdue.now = overdue.Deadline
	late := running(t, run.Wipe)
	late.now = late.Deadline.Add(time.Hour)
	for _, s := range []struct {
		name   string
		device *device
		report run.Kind
		epoch  uint64
		code   sm.Code // empty: success without effect
	}{
		{"succeeded, again", running(t, run.Wipe).do(t, run.Succeed), run.Succeed, 1, ""},
		{"succeeded, then failed", running(t, run.Wipe).do(t, run.Succeed), run.Fail, 1, sm.Conflict},
		{"failed, again", running(t, run.Wipe).do(t, run.Fail), run.Fail, 1, ""},
		{"failed, then succeeded", running(t, run.Wipe).do(t, run.Fail), run.Succeed, 1, sm.Conflict},
		{"expired, then failed", overdue.do(t, run.Expired), run.Fail, 1, ""},
		{"succeeded late, again", late.do(t, run.Succeed), run.Succeed, 1, ""},
		{"interrupted, then failed", running(t, run.Wipe).do(t, run.Interrupt), run.Fail, 1, ""},
		{"interrupted, then succeeded", running(t, run.Wipe).do(t, run.Interrupt), run.Succeed, 1, sm.Conflict},
		{"the last run's failure, again in this one", running(t, run.Wipe).do(t, run.Fail).do(t, run.Request).do(t, run.Begin), run.Fail, 1, ""},
		{"the last run's failure as a success in this one", running(t, run.Wipe).do(t, run.Fail).do(t, run.Request).do(t, run.Begin), run.Succeed, 1, sm.Conflict},
		{"the last run's, while the next waits", running(t, run.Wipe).do(t, run.Fail).do(t, run.Request), run.Fail, 1, ""},
		{"ended, then again", running(t, run.Wipe).do(t, run.Fail).do(t, run.End), run.Fail, 1, sm.Conflict},
		{"no attempt named", running(t, run.Wipe), run.Succeed, 0, sm.Conflict},
		{"an attempt that never was", running(t, run.Wipe), run.Succeed, 2, sm.Conflict},
		{"never begun", waiting(t, run.Wipe), run.Succeed, 0, sm.Conflict},
	} {
		t.Run(s.name, func(t *testing.T) {
			if s.code != "" {
				s.device.refused(t, s.code, s.report, epoch(s.epoch))
				return
			}
			before := s.device.Record
			if s.device.do(t, s.report, epoch(s.epoch)); s.device.Record != before {
				t.Errorf("the repeat had an effect:\n%+v\n%+v", before, s.device.Record)
			}
		})
	}
}

// The same for the retirement's reports.
func TestReportsOfPastSteps(t *testing.T) {
	of := func(n uint64) func(*run.RetireEvent) { return func(e *run.RetireEvent) { e.Epoch = n } }
	for name, d := range map[run.RetireKind]*device{
		run.Wiped: wiping(t).retire(t, run.Wiped), run.WipeFailed: wiping(t).retire(t, run.WipeFailed), run.Evicted: evicting(t).retire(t, run.Evicted),
	} {
		before := d.Record
		if d.retire(t, name); d.Record != before {
			t.Errorf("a repeated %s changed %+v", name, d.Record)
		}
	}
	again := wiping(t).retire(t, run.WipeFailed).retire(t, run.OffConfirmed)
	again.refusedRetire(t, sm.Conflict, run.Wiped, of(1))
	again.refusedRetire(t, sm.Conflict, run.Wiped, of(0))
	before := again.Record
	if again.retire(t, run.WipeFailed, of(1)); again.Record != before {
		t.Errorf("the repeated failure of the wipe before changed %+v", again.Record)
	}
	again.retire(t, run.WipeFailed).retire(t, run.OffConfirmed).refusedRetire(t, sm.Conflict, run.WipeFailed, of(1))
	evicting(t).refusedRetire(t, sm.Conflict, run.Evicted, of(1))
	evicting(t).refusedRetire(t, sm.Conflict, run.WipeFailed, of(1))
	wiping(t).retire(t, run.WipeFailed).refusedRetire(t, sm.Conflict, run.Wiped)
}

// RUN-1, RUN-10: the actions, and which of them write.
func TestActions(t *testing.T) {
	for a, writes := range map[run.Action]bool{"provision": true, "attest": false, "wipe": true} {
		if !a.Valid() || a.Writes() != writes {
			t.Errorf("%s: valid %t, writes %t", a, a.Valid(), a.Writes())
		}
	}
	for _, a := range []run.Action{"", "Wipe", "decommission"} {
		if a.Valid() || !a.Writes() {
			t.Errorf("%q: valid %t, writes %t; what nobody knows may write", a, a.Valid(), a.Writes())
		}
	}
}

// RUN-1: what is unfinished keeps a node from being deleted (EDGE-23).
func TestUnfinished(t *testing.T) {
	for want, all := range map[bool][]*device{
		true:  {waiting(t, run.Wipe), running(t, run.Wipe), wiping(t), evicting(t)},
		false: {newDevice(), running(t, run.Wipe).do(t, run.Succeed), running(t, run.Wipe).do(t, run.Fail), offline(t)},
	} {
		for _, d := range all {
			if d.Unfinished() != want {
				t.Errorf("%s, %s: unfinished %t", d.State, d.Retire.State, !want)
			}
		}
	}
	if d := newDevice(); d.Disk() != nil {
		t.Errorf("nothing may write %q", d.Disk())
	}
}

// EDGE-18: a state of a newer version is left alone.
func TestUnknownStateIsLeftAlone(t *testing.T) {
	for on := range run.Table.Events() {
		d := running(t, run.Wipe)
		d.State = "paused"
		d.refused(t, sm.InvalidState, on)
	}
	for on := range run.Retirement.Events() {
		d := wiping(t)
		d.Retire.State = "shredding"
		d.refusedRetire(t, sm.InvalidState, on)
	}
}
