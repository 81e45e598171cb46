package statemachinetest_test

import (
	"testing"
	"time"

	"github.com/ingotmetal/ingot/statemachine"
	"github.com/ingotmetal/ingot/statemachine/internal/pump"
	"github.com/ingotmetal/ingot/statemachine/statemachinetest"
)

type (
	at    = statemachine.At[pump.State, pump.On]
	event = statemachine.Event[pump.On]
)

func TestMachineOfThePump(t *testing.T) {
	statemachinetest.Machine(t, statemachinetest.Bare(pump.Table())).Require(t)
}

// record is a pump with its fields; step is the right way to step one.
type record struct {
	at
	fields statemachine.Fields
}

var table = pump.Table()

func step(rec record, ev event, holds statemachine.Guard, now time.Time) (record, error) {
	next, err := table.Step(rec.at, ev, holds, now)
	if err != nil {
		return rec, err
	}
	rec.at = next
	rec.fields &^= table.Drops(next.State)
	return rec, nil
}

func recordSubject() statemachinetest.Subject[record, pump.State, pump.On] {
	return statemachinetest.Subject[record, pump.State, pump.On]{
		Table: table, Step: step,
		Start:  func() record { return record{at: at{State: pump.None}} },
		At:     func(rec record) at { return rec.at },
		In:     func(s pump.State) record { return record{at: at{State: s}, fields: pump.Level} },
		Fields: func(rec record) statemachine.Fields { return rec.fields },
		Fill: func(rec record) record {
			rec.fields = (pump.Level | pump.Filter) &^ table.Drops(rec.State)
			return rec
		},
	}
}

func TestMachineOfARecord(t *testing.T) {
	statemachinetest.Machine(t, recordSubject()).Require(t)
}
