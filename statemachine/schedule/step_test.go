package schedule_test

import (
	"errors"
	"reflect"
	"testing"
	"time"

	sm "github.com/ingotmetal/ingot/statemachine"
	"github.com/ingotmetal/ingot/statemachine/schedule"
)

func codeOf(err error) string {
	if coded, ok := errors.AsType[interface {
		error
		Code() string
	}](err); ok {
		return coded.Code()
	}
	return ""
}

// in is a record in a scheduling state.
func in(s schedule.State, f schedule.Force) schedule.Record {
	r := schedule.New()
	r.State, r.Force = s, f
	return r
}

// SCHED-1, SCHED-2, EDGE-3, EDGE-25: what each event leaves, and whether
// there is something to publish.
func TestCordonAndDrain(t *testing.T) {
	later := schedule.Force{By: forced.By.Add(time.Hour)}
	none := schedule.Force{}
	for name, c := range map[string]struct {
		from    schedule.Record
		event   schedule.Event
		want    schedule.Record
		changed bool
		code    sm.Code
	}{
		"cordon":                      {in("open", none), schedule.Event{On: "cordon"}, in("cordoned", none), true, ""},
		"cordon, again":               {in("cordoned", none), schedule.Event{On: "cordon"}, in("cordoned", none), false, ""},
		"cordon a draining node":      {in("draining", forced), schedule.Event{On: "cordon"}, in("draining", forced), false, ""},
		"uncordon":                    {in("cordoned", none), schedule.Event{On: "uncordon"}, in("open", none), true, ""},
		"uncordon an open node":       {in("open", none), schedule.Event{On: "uncordon"}, in("open", none), false, ""},
		"uncordon ends a drain":       {in("draining", forced), schedule.Event{On: "uncordon"}, in("open", none), true, ""},
		"drain":                       {in("open", none), schedule.Event{On: "drain"}, in("draining", none), true, ""},
		"drain a cordoned node":       {in("cordoned", none), schedule.Event{On: "drain"}, in("draining", none), true, ""},
		"drain, with force":           {in("open", none), schedule.Event{On: "drain", Force: forced}, in("draining", forced), true, ""},
		"drain, again":                {in("draining", none), schedule.Event{On: "drain"}, in("draining", none), false, ""},
		"drain, again with force":     {in("draining", none), schedule.Event{On: "drain", Force: forced}, in("draining", forced), true, ""},
		"drain, again without force":  {in("draining", forced), schedule.Event{On: "drain"}, in("draining", forced), false, ""},
		"drain, again, another force": {in("draining", forced), schedule.Event{On: "drain", Force: later}, in("draining", forced), false, ""},
		"drained":                     {in("draining", forced), schedule.Event{On: "drained"}, in("cordoned", none), true, ""},
		"drained, not yet":            {in("draining", forced), schedule.Event{On: "drained", Live: true}, in("draining", forced), false, sm.Conflict},
		"drained, of no drain":        {in("cordoned", none), schedule.Event{On: "drained"}, in("cordoned", none), false, sm.InvalidState},
		"reset ends a drain":          {in("draining", forced), schedule.Event{On: "reset"}, in("cordoned", none), true, ""},
		"reset keeps cordoned":        {in("cordoned", none), schedule.Event{On: "reset"}, in("cordoned", none), false, ""},
		"force is drain's alone":      {in("open", none), schedule.Event{On: "cordon", Force: forced}, in("cordoned", none), true, ""},
		"force without drain again":   {in("draining", none), schedule.Event{On: "cordon", Force: forced}, in("draining", none), false, ""},
		"unknown event":               {in("open", none), schedule.Event{On: "evict"}, in("open", none), false, sm.InvalidInput},
		"unknown state":               {in("frozen", forced), schedule.Event{On: "uncordon"}, in("frozen", forced), false, sm.InvalidState},
	} {
		t.Run(name, func(t *testing.T) {
			got, changed, err := schedule.Step(c.from, c.event)
			if !reflect.DeepEqual(got, c.want) || changed != c.changed || codeOf(err) != string(c.code) {
				t.Errorf("got  %+v, changed %t, %v\nwant %+v, changed %t, %s", got, changed, err, c.want, c.changed, c.code)
			}
		})
	}
}

// EDGE-25: no state is draining without being cordoned.
func TestCordonedFlag(t *testing.T) {
	for s, want := range map[schedule.State]bool{schedule.Open: false, schedule.Cordoned: true, schedule.Draining: true} {
		if r := in(s, schedule.Force{}); r.Cordoned() != want {
			t.Errorf("%s: cordoned %t", s, r.Cordoned())
		}
	}
}

// SCHED-3, SCHED-4, PROV-2, EDGE-25: who sets and clears maintenance, and
// whose reason stays.
func TestMaintenance(t *testing.T) {
	down := func(why string) schedule.Record {
		r := schedule.New()
		r.Service, r.Why = schedule.Maintenance, why
		return r
	}
	for name, c := range map[string]struct {
		from    schedule.Record
		on      schedule.ServiceKind
		why     string
		want    schedule.Record
		changed bool
		code    sm.Code
	}{
		"set":                     {schedule.New(), "set-maintenance", "fan", down("fan"), true, ""},
		"set, again":              {down("fan"), "set-maintenance", "disk", down("fan"), false, ""},
		"set without a reason":    {schedule.New(), "set-maintenance", "", schedule.New(), false, sm.InvalidInput},
		"set again, no reason":    {down("fan"), "set-maintenance", "", down("fan"), false, sm.InvalidInput},
		"clear":                   {down("fan"), "clear-maintenance", "replaced", schedule.New(), true, ""},
		"clear, again":            {schedule.New(), "clear-maintenance", "replaced", schedule.New(), false, ""},
		"clear without a reason":  {down("fan"), "clear-maintenance", "", down("fan"), false, sm.InvalidInput},
		"failure":                 {schedule.New(), "fail", "deploying failed", down("deploying failed"), true, ""},
		"failure without reason":  {schedule.New(), "fail", "", down(""), true, ""},
		"failure in maintenance":  {down("fan"), "fail", "deploying failed", down("fan"), false, ""},
		"remediation":             {schedule.New(), "escalate", "two attempts", down("two attempts"), true, ""},
		"remediation, once more":  {down("fan"), "escalate", "two attempts", down("fan"), false, ""},
		"unknown event":           {down("fan"), "forget", "x", down("fan"), false, sm.InvalidInput},
		"state of a later time":   {schedule.Record{State: "open", Service: "hospice"}, "clear-maintenance", "x", schedule.Record{State: "open", Service: "hospice"}, false, sm.InvalidState},
		"state before its reason": {schedule.Record{State: "open", Service: "hospice"}, "clear-maintenance", "", schedule.Record{State: "open", Service: "hospice"}, false, sm.InvalidState},
	} {
		t.Run(name, func(t *testing.T) {
			got, changed, err := schedule.StepService(c.from, c.on, c.why)
			if !reflect.DeepEqual(got, c.want) || changed != c.changed || codeOf(err) != string(c.code) {
				t.Errorf("got  %+v, changed %t, %v\nwant %+v, changed %t, %s", got, changed, err, c.want, c.changed, c.code)
			}
		})
	}
}

// SCHED-1, SCHED-3: cordon, maintenance and taints move apart.
func TestFlagsAreIndependent(t *testing.T) {
	r, _, err := schedule.StepService(schedule.New(), schedule.FailNode, "failed")
	if err != nil {
		t.Fatal(err)
	}
	r, _, err = schedule.Taint(r, []string{"gpu"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for on := range schedule.Table.Events() {
		for _, s := range []schedule.State{schedule.Open, schedule.Cordoned, schedule.Draining} {
			r.State = s
			got, _, _ := schedule.Step(r, schedule.Event{On: on})
			if got.Service != schedule.Maintenance || got.Why != "failed" || !reflect.DeepEqual(got.Taints, []string{"gpu"}) {
				t.Errorf("%s in %s: %+v", on, s, got)
			}
		}
	}
}
