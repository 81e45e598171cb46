package lifecycle_test

import (
	"testing"

	"github.com/ingotmetal/ingot/statemachine/explore"
	"github.com/ingotmetal/ingot/statemachine/lifecycle"
)

// TestToldDisable tells again how A broke "no key outlives what it was made for" (SET-11): a key is alive in disabled.
func TestToldDisable(t *testing.T) {
	history := explore.History[act]{
		Law: "no key outlives what it was made for",
		Inputs: []act{
			inA("register"), // mail 00000000, power 1, seen 0, certificate 0
			inA("approve"),  // mail 00000000, power 1, seen 0, certificate 0
			inA("disable"),  // mail 00000000, power 1, seen 0, certificate 0
		},
	}
	if err := explore.Retell(lifeA(lifecycle.Step).model(), history); err != nil {
		t.Fatal(err)
	}
}
