package provision_test

import (
	"fmt"
	"time"

	sm "github.com/ingotmetal/ingot/statemachine"
	"github.com/ingotmetal/ingot/statemachine/provision"
)

// A deployed machine is released. Success without evidence of the wipe is a
// failure, and recover wipes again.
func ExampleStep() {
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	rec := provision.Record{At: provision.At{State: provision.Deployed}}
	for _, e := range []provision.Event{
		{Event: sm.Event[provision.Kind]{On: provision.Undeploy, Next: 1}, Facts: provision.Capable, By: "ada", Wipe: provision.CryptoErase},
		{Event: sm.Event[provision.Kind]{On: provision.Succeeded, Epoch: 1}},
		{Event: sm.Event[provision.Kind]{On: provision.Recover, Next: 2}, Facts: provision.Capable, By: "ada"},
		{Event: sm.Event[provision.Kind]{On: provision.Wiped, Epoch: 2}, Proof: provision.Hash{1}},
		{Event: sm.Event[provision.Kind]{On: provision.Succeeded, Epoch: 2}},
	} {
		var err error
		rec, err = provision.Step(rec, e, now)
		fmt.Printf("%s: %s, wipe %q, error %q %v\n", e.On, rec.State, rec.Wipe, rec.LastError.Code, err)
	}
	// Output:
	// undeploy: releasing, wipe "crypto-erase", error "" <nil>
	// succeeded: failed, wipe "crypto-erase", error "UNVERIFIED_WIPE" <nil>
	// recover: releasing, wipe "crypto-erase", error "" <nil>
	// wiped: releasing, wipe "crypto-erase", error "" <nil>
	// succeeded: ready, wipe "", error "" <nil>
}

// A site's own deadlines come with the event.
func ExampleDeadlines_Within() {
	site := provision.Deadlines{Deploying: 3 * time.Hour}
	rec := provision.Record{At: provision.At{State: provision.Ready}}
	e := provision.Event{Event: sm.Event[provision.Kind]{On: provision.Deploy, Next: 1}}
	e.Within = site.Within(&rec, &e)
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	rec, err := provision.Step(rec, e, now)
	fmt.Println(rec.State, rec.Deadline.Format(time.TimeOnly), err)
	// Output: deploying 15:00:00 <nil>
}
