package explore_test

import (
	"testing"

	"github.com/ingotmetal/ingot/statemachine/explore"
)

// TestToldDeadlock tells again how peterson broke "settles": from here no System input leads to a stable state, ever; 6 states like it.
func TestToldDeadlock(t *testing.T) {
	history := explore.History[act]{
		Law: "settles",
		Inputs: []act{
			{Who: 0x0, Do: "want"}, // {PC:[1 0] Turn:0}
			{Who: 0x1, Do: "want"}, // {PC:[1 1] Turn:0}
		},
	}
	if err := explore.Retell(peterson(planted(noTurn)), history); err != nil {
		t.Fatal(err)
	}
}
