package registration_test

import (
	"fmt"
	"time"

	sm "github.com/ingotmetal/ingot/statemachine"
	"github.com/ingotmetal/ingot/statemachine/registration"
)

// An agent registers; an operator approves it with the code that it printed.
func ExampleStep() {
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	code := registration.Hash{1} // of the claim code
	row, _ := registration.Step(registration.New(), registration.Event{
		Event: sm.Event[registration.Kind]{On: registration.Register},
		Code:  registration.Expiring{Hash: code, Until: now.Add(registration.CodeLife)},
	}, now)
	fmt.Println(row.State)

	approve := registration.Event{Event: sm.Event[registration.Kind]{On: registration.Approve}, By: "ada"}
	_, err := registration.Step(row, approve, now)
	fmt.Println(err)

	approve.Code.Hash, approve.Bound.ID = code, "key-1"
	row, err = registration.Step(row, approve, now.Add(time.Minute))
	fmt.Println(row.State, row.Bound.ID, err)
	// Output:
	// pending
	// registration: approve is refused in pending: the claim code is wrong, expired or void; read it off the machine, or register again for a new one (REG-14); legal: register, announce, approve, key-lapsed, configure, disable, delete, withdraw, preempt
	// approved key-1 <nil>
}

// Firmware prints the same UUID in one of two byte orders; the key is one.
func ExampleServerID_Key() {
	a, _ := registration.ParseServerID("4C4C4544-0031-3010-8043-B4C04F364232")
	b, _ := registration.ParseServerID("44454c4c-3100-1030-8043-b4c04f364232")
	fmt.Println(a == b, a.Key() == b.Key(), a.Key())
	// Output: false true 44454c4c-3100-1030-8043-b4c04f364232
}
