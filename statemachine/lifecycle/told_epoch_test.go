package lifecycle_test

import (
	"testing"

	"github.com/ingotmetal/ingot/statemachine/explore"
	"github.com/ingotmetal/ingot/statemachine/lifecycle"
)

// TestToldEpoch tells again how A broke "a report of another attempt has no effect" (MACH-4): it changed the machine.
func TestToldEpoch(t *testing.T) {
	history := explore.History[act]{
		Law: "a report of another attempt has no effect",
		Inputs: []act{
			inA("announce"),                                 // mail 00000000, power 1, seen 0, certificate 0
			inA("approve-setup"),                            // mail 00000000, power 1, seen 0, certificate 0
			inA("drain"),                                    // mail 00000000, power 1, seen 0, certificate 0
			inA("the setup's failure is sent"),              // mail 00000010, power 1, seen 0, certificate 0
			inA("setup-failed arrives and will again"),      // mail 00000010, power 1, seen 0, certificate 0
			inA("approve-setup"),                            // mail 00100000, power 1, seen 0, certificate 0
			inA("setup-failed of an older attempt arrives"), // mail 00100000, power 1, seen 0, certificate 0
		},
	}
	if err := explore.Retell(lifeA(lifecycle.Step).model(), history); err != nil {
		t.Fatal(err)
	}
}
