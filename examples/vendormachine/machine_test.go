package vendormachine_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/ingotmetal/ingot/examples/vendormachine"
	sm "github.com/ingotmetal/ingot/statemachine"
	"github.com/ingotmetal/ingot/statemachine/render"
	kit "github.com/ingotmetal/ingot/statemachine/statemachinetest"
)

type (
	supply = vendormachine.Supply
	event  = sm.Event[vendormachine.On]
)

// The matrix is written from what the supply must do, never from the table.
func TestMatrix(t *testing.T) {
	kit.Matrix(t, vendormachine.Table, []kit.Row{
		{"current suspect", "flash", "redundant", "flashing"},
		{"current suspect", "flash", "not redundant", "CONFLICT", "PSU-1"},
		{"flashing", "flash", "", "CONFLICT", "PSU-2"},
		{"flashing", "flashed", "", "current"},
		{"flashing", "failed overdue", "", "suspect"},
		{"current suspect", "flashed failed", "", "INVALID_STATE"},
		{"current suspect", "overdue", "", "CONFLICT"},
	})
}

// The laws of every table hold for the record, and every row is taken.
func TestLaws(t *testing.T) {
	kit.Machine(t, kit.Subject[supply, vendormachine.State, vendormachine.On]{
		Table: vendormachine.Table,
		Start: func() supply { return supply{At: sm.At[vendormachine.State, vendormachine.On]{State: "current"}} },
		At:    func(s supply) sm.At[vendormachine.State, vendormachine.On] { return s.At },
		Step: func(s supply, ev event, holds sm.Guard, now time.Time) (supply, error) {
			return s.Step(ev, "v2.bin", holds, now)
		},
		Fields: func(s supply) sm.Fields {
			if s.Image != "" {
				return 1
			}
			return 0
		},
	}).Require(t)
}

func TestPage(t *testing.T) {
	kit.Golden(t, "testdata/psu-firmware.md", render.Page(vendormachine.Table))
}

func Example() {
	psu := supply{At: sm.At[vendormachine.State, vendormachine.On]{State: "current"}}
	noon := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

	_, err := psu.Step(event{On: "flash", Next: 1}, "v2.bin", 0, noon)
	fmt.Println(err)

	psu, _ = psu.Step(event{On: "flash", Next: 1}, "v2.bin", vendormachine.Redundant, noon)
	fmt.Println(psu.State, psu.Image, psu.Deadline.Format(time.TimeOnly))

	psu, _ = psu.Step(event{On: "overdue"}, "", 0, psu.Deadline)
	fmt.Printf("%s %q\n", psu.State, psu.Image)
	// Output:
	// psu-firmware: flash is refused in current: the chassis needs this supply (PSU-1); legal: flash
	// flashing v2.bin 12:20:00
	// suspect ""
}

// The answer to "failed" was lost, and the next flash already runs: the report
// that comes again neither ends it nor touches its image.
func TestRepeatOfTheLastFlash(t *testing.T) {
	noon := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	psu := supply{At: sm.At[vendormachine.State, vendormachine.On]{State: "suspect", Epoch: 1, Ended: "failed"}}
	next, err := psu.Step(event{On: "flash", Next: 2}, "v3.bin", vendormachine.Redundant, noon)
	if err != nil || next.Image != "v3.bin" {
		t.Fatalf("%+v, %v", next, err)
	}
	if again, err := next.Step(event{On: "failed", Epoch: 1}, "v2.bin", 0, noon); err != nil || again != next {
		t.Errorf("the repeat: %+v, %v; want %+v", again, err, next)
	}
	if is, err := next.Step(event{On: "flashed", Epoch: 1}, "", 0, noon); err == nil || is != next {
		t.Errorf("another report of the last flash: %+v, %v", is, err)
	}
}
