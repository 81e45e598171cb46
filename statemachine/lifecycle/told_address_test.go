package lifecycle_test

import (
	"testing"

	"github.com/ingotmetal/ingot/statemachine/explore"
	"github.com/ingotmetal/ingot/statemachine/lifecycle"
)

// TestToldAddress tells again how A broke "an address is free, or one record's" (BOOT-7): 10.0.0.5 is a record's, and free.
func TestToldAddress(t *testing.T) {
	history := explore.History[act]{
		Law: "an address is free, or one record's",
		Inputs: []act{
			inA("sight 1"),        // mail 00000000, power 1, seen 0, certificate 0
			inA("decommission 2"), // mail 00000000, power 1, seen 0, certificate 0
		},
	}
	if err := explore.Retell(lifeA(lifecycle.Step).model(), history); err != nil {
		t.Fatal(err)
	}
}
