package machine_test

import (
	"encoding/json"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ingotmetal/ingot/bmc"
	"github.com/ingotmetal/ingot/bmc/machine"
)

// paced is a driver whose options say how far apart requests are.
type paced struct{ *fake }

func (paced) LimitsOf(json.RawMessage) (bmc.Limits, error) {
	return bmc.Limits{Interval: 7 * time.Second}, nil
}

// The budget of a BMC follows from the machine's options, where its driver says so.
func TestOptionsSetTheBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, err := machine.New(machine.Config{Driver: paced{&fake{}}, Endpoint: bmc.Endpoint{URL: "https://bmc"}})
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		for range 2 {
			leave, err := m.Gate().Enter(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			leave()
		}
		if d := time.Since(began); d != 7*time.Second {
			t.Errorf("the second request waited %s", d)
		}
	})
}
