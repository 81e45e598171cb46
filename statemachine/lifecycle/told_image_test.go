package lifecycle_test

import (
	"testing"

	"github.com/ingotmetal/ingot/statemachine/explore"
	"github.com/ingotmetal/ingot/statemachine/lifecycle"
)

// TestToldImage tells again how A broke "a reset needs an image" (REG-18): the site had none.
func TestToldImage(t *testing.T) {
	history := explore.History[act]{
		Law: "a reset needs an image",
		Inputs: []act{
			inA("register"),                       // mail 00000000, power 1, seen 0, certificate 0
			inA("approve"),                        // mail 00000000, power 1, seen 0, certificate 0
			inA("factory-reset without an image"), // mail 00000000, power 1, seen 0, certificate 0
		},
	}
	if err := explore.Retell(lifeA(lifecycle.Step).model(), history); err != nil {
		t.Fatal(err)
	}
}
