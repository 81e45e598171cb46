package run_test

import (
	"fmt"
	"time"

	sm "github.com/ingotmetal/ingot/statemachine"
	"github.com/ingotmetal/ingot/statemachine/run"
)

// The owner asks for a wipe. It waits until the inventory names the disk.
func ExampleStep() {
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	rec, _ := run.Step(run.New(), run.Event{Event: sm.Event[run.Kind]{On: run.Request}, Action: run.Wipe}, now)

	begin := run.Event{Event: sm.Event[run.Kind]{On: run.Begin, Next: 1}}
	_, err := run.Step(rec, begin, now)
	fmt.Println(rec.State, err)

	begin.Serial = "S6PNNX0T"
	rec, err = run.Step(rec, begin, now)
	fmt.Println(rec.State, rec.Disk(), rec.Deadline.Sub(now), err)
	// Output:
	// waiting run: begin is refused in waiting: install_disk_serial is not set; set it in the inventory (RUN-4); legal: request, begin, found-running, found-succeeded, found-failed, interrupt, end
	// running [S6PNNX0T] 24h0m0s <nil>
}

// A free machine is retired: wiped, off, its workloads gone, forgotten.
func ExampleStepRetire() {
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	rec := run.New()
	for n, on := range []run.RetireKind{run.Decommission, run.Wiped, run.OffConfirmed, run.Evicted, run.Cleaned} {
		e := run.RetireEvent{Event: sm.Event[run.RetireKind]{On: on, Next: uint64(n + 1), Epoch: rec.Retire.Epoch}, Serial: "S6PNNX0T"}
		rec, _ = run.StepRetire(rec, e, now)
		fmt.Println(rec.Retire.State)
	}
	// Output:
	// wiping
	// awaiting-off
	// evicting
	// cleaning
	// offline
}
