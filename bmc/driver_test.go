package bmc_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/ingotmetal/ingot/bmc"
)

// plainDriver has limits of its own, and tuned ones that follow from its options.
type plainDriver struct{}

func (plainDriver) Info() bmc.Info                        { return bmc.Info{Limits: bmc.Limits{Concurrent: 2}} }
func (plainDriver) ValidateOptions(json.RawMessage) error { return nil }
func (plainDriver) Open(context.Context, bmc.Endpoint, bmc.Access) (bmc.Session, error) {
	return nil, nil
}

type tuned struct{ plainDriver }

func (tuned) LimitsOf(o json.RawMessage) (bmc.Limits, error) {
	var l struct{ Concurrent int }
	err := bmc.CheckOptions(o, &l)
	return bmc.Limits{Concurrent: l.Concurrent}, err
}

func TestLimitsOf(t *testing.T) {
	options := json.RawMessage(`{"concurrent":3}`)
	for _, tt := range []struct {
		driver  bmc.Driver
		options json.RawMessage
		want    int
		ok      bool
	}{{plainDriver{}, options, 2, true}, {tuned{}, options, 3, true}, {tuned{}, json.RawMessage(`{"x":1}`), 0, false}} {
		got, err := bmc.LimitsOf(tt.driver, tt.options)
		if got.Concurrent != tt.want || (err == nil) != tt.ok {
			t.Errorf("%T with %s: %+v, %v", tt.driver, tt.options, got, err)
		}
	}
}
