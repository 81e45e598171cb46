package explore_test

import (
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/ingotmetal/ingot/statemachine/explore"
)

// A door that locks itself, and should never be locked while it stands open.
func ExampleRun() {
	type door struct{ Open, Locked bool }
	refused := errors.New("not now")
	m := explore.Model[door, string, door]{
		Name:   "door",
		Start:  []door{{}},
		Inputs: func(door) iter.Seq[string] { return slices.Values([]string{"open", "close", "lock", "unlock"}) },
		Step: func(d door, in string) (door, error) {
			switch {
			case in == "open" && !d.Open && !d.Locked:
				return door{Open: true}, nil
			case in == "close" && d.Open:
				return door{Locked: d.Locked}, nil
			case in == "lock" && !d.Locked: // forgets to ask whether it is open
				return door{Open: d.Open, Locked: true}, nil
			case in == "unlock" && d.Locked:
				return door{Open: d.Open}, nil
			}
			return d, refused
		},
		Key: func(d door) door { return d },
		Invariants: []explore.Invariant[door, string]{{
			Name: "locked means shut", Req: "DOOR-1",
			State: func(d door) error {
				if d.Open && d.Locked {
					return errors.New("the bolt is out")
				}
				return nil
			},
		}},
	}
	_, err := explore.Run(m, explore.Limits{})
	fmt.Println(err)
	// Output:
	// explore: door breaks "locked means shut" (DOOR-1) after 2 inputs: the bolt is out
	//   start 0: {Open:false Locked:false}
	//   1. open -> {Open:true Locked:false}
	//   2. lock -> {Open:true Locked:true}
}

// An attempt whose report is lost needs a deadline, or it never ends.
func Example_liveness() {
	_, err := explore.Run(installer(false), explore.Limits{})
	fmt.Println(err)
	result, err := explore.Run(installer(true), explore.Limits{})
	fmt.Println(result, err)
	fmt.Println("dead:", result.Dead())
	// Output:
	// explore: installer breaks "settles" after 3 inputs: from here no System input leads to a stable state, ever; 1 state like it
	//   start 0: {State:idle Report:false}
	//   1. start -> {State:installing Report:false}
	//   2. write -> {State:installing Report:true}
	//   3. lose -> {State:lost Report:false}
	// installer: 6 states, 36 steps (10 accepted), depth 3, widest layer 2, about 0 MiB, closed <nil>
	// dead: [abort]
}
