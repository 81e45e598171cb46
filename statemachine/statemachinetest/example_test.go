package statemachinetest_test

import (
	"fmt"

	"github.com/ingotmetal/ingot/statemachine/statemachinetest"
)

func ExampleCover() {
	cover := statemachinetest.NewCover(door())
	fmt.Println(cover.Saw("closed", "open", 0, "open"))
	fmt.Println(cover.Saw("open", "open", 0, "closed"))
	for _, row := range cover.Missing() {
		fmt.Println(row)
	}
	// Output:
	// true
	// false
	// closed --close--> closed, always
	// open --open--> open, always
	// open --close--> closed, not blocked
}

func ExampleDefaults() {
	fmt.Print(statemachinetest.Defaults(door()))
	// Output:
	// closed close always: stay
	// open open always: stay
}

func ExamplePairs() {
	for from, on := range statemachinetest.Pairs(door()) {
		fmt.Println(from, on)
	}
	// Output:
	// closed open
	// closed close
	// open open
	// open close
}

// A step is judged by every law; here the bare table's own.
func ExampleLaws() {
	table := door()
	subject := statemachinetest.Bare(table)
	step := statemachinetest.Taken[doorAt, string, string]{Subject: &subject, Was: doorAt{State: "closed"}, Is: doorAt{State: "ajar"},
		Before: doorAt{State: "closed"}, After: doorAt{State: "ajar"}, Again: doorAt{State: "ajar"}}
	step.Event.On = "open"
	step.Cell, step.Known = table.Cell("closed", "open", 0)
	for _, law := range statemachinetest.Laws[doorAt, string, string]() {
		if err := law.Check(step); err != nil {
			fmt.Printf("%s: %v\n", law.Name, err)
		}
	}
	// Output: a step lands where the table says: it is in ajar; the table says open
}
