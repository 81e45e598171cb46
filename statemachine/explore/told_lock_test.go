package explore_test

import (
	"testing"

	"github.com/ingotmetal/ingot/statemachine/explore"
)

// TestToldLock tells again how peterson broke "one inside" (MUTEX-1): both are inside.
func TestToldLock(t *testing.T) {
	history := explore.History[act]{
		Law: "one inside",
		Inputs: []act{
			{Who: 0x0, Do: "want"},  // {PC:[1 0] Turn:0}
			{Who: 0x0, Do: "yield"}, // {PC:[2 0] Turn:0}
			{Who: 0x0, Do: "enter"}, // {PC:[3 0] Turn:0}
			{Who: 0x1, Do: "want"},  // {PC:[3 1] Turn:0}
			{Who: 0x1, Do: "yield"}, // {PC:[3 2] Turn:1}
			{Who: 0x1, Do: "enter"}, // {PC:[3 3] Turn:1}
		},
	}
	if err := explore.Retell(peterson(planted(keepTurn)), history); err != nil {
		t.Fatal(err)
	}
}
