package lifecycle_test

import (
	"errors"
	"runtime"
	"runtime/debug"
	"slices"
	"testing"
	"time"

	"github.com/ingotmetal/ingot/statemachine/explore"
	"github.com/ingotmetal/ingot/statemachine/lifecycle"
)

// lifeA is registration, two NICs, rescue mode and identity, with every fault
// of reports.
func lifeA(step stepper) *life {
	return &life{name: "A", step: step, pairs: true, acts: slices.Concat(registrationActs(), setupMails(), nicActs(true), identityActs(), acceptanceActs())}
}

// lifeC is registration with its codes, tokens and windows, and every fault of
// reports.
func lifeC(step stepper) *life {
	return &life{name: "C", step: step, codes: true, acts: slices.Concat(registrationActs(), windowActs(), setupMails())}
}

// lifeB is provision, power, what is observed of it, and identity, with every
// fault of reports.
func lifeB(step stepper) *life {
	return &life{name: "B", step: step, metal: true, acts: slices.Concat(metalActs(), flowMails(), powerActs(), identityActs(), expireAct())}
}

// wholeLife is all of them together, but for rescue mode, the faults of
// reports, what must always be refused, and what the product does not tell
// apart (tidyCoarse).
func wholeLife(step stepper) *life {
	l := &life{name: "product", step: step, metal: true, coarse: true, pairs: true,
		acts: slices.Concat(registrationActs(), setupReports(), nicActs(false), identityActs(), metalActs(), flowReports(), powerActs())}
	l.acts = slices.DeleteFunc(l.acts, func(d do) bool {
		return d.class == fault && d.name != "the reading is stale" || slices.Contains(neverAccepted, d.name) || slices.Contains([]string{"cordon", "uncordon", "clear maintenance", "the retirement's ramdisk reports"}, d.name)
	})
	return l
}

// TestModels walks the models to their fixed points.
func TestModels(t *testing.T) {
	for _, l := range []*life{lifeA(lifecycle.Step), lifeB(lifecycle.Step), lifeC(lifecycle.Step)} {
		t.Run(l.name, func(t *testing.T) { closes(t, l) })
	}
}

// TestProduct walks all axes together, which takes half a minute.
func TestProduct(t *testing.T) {
	closes(t, wholeLife(lifecycle.Step))
}

// maxModel bounds the memory of a walk, with the collector's slack within
// 4 GiB.
const maxModel = 3 << 30

// closes demands that the model is walked to its fixed point and breaks no
// law, and that only the acts which must always be refused are.
func closes(t *testing.T, l *life) {
	defer debug.SetGCPercent(debug.SetGCPercent(400))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	start := time.Now()
	r, err := explore.Run(l.model(), explore.Limits{MaxBytes: maxModel})
	took := time.Since(start)
	runtime.ReadMemStats(&after)
	steps := float64(r.Steps)
	t.Logf("%v; %.0f ns, %.1f allocations and %.0f B a step", r, float64(took.Nanoseconds())/steps,
		float64(after.Mallocs-before.Mallocs)/steps, float64(after.TotalAlloc-before.TotalAlloc)/steps)
	if c, ok := errors.AsType[*explore.Counterexample[place, act]](err); ok {
		for i, in := range c.Inputs {
			t.Logf("%d. %s", i+1, l.acts[in].name)
		}
		t.Fatalf("breaks %q: %v", c.Law, c.Why)
	}
	if err != nil || !r.Closed {
		t.Fatal("not closed:", err)
	}
	for _, name := range r.Dead() {
		if !slices.Contains(neverAccepted, name) {
			t.Errorf("no place accepts %q", name)
		}
	}
}

// neverAccepted are the acts that every place must refuse.
var neverAccepted = []string{
	"approve with a wrong code", "drain with another key", "factory-reset without an image", "renew",
	"retire with an open allocation", "wipe evidence by an old identity",
	"setup-complete of an older attempt arrives", // after completing only a reset leads to a new setup, and forgets
}
