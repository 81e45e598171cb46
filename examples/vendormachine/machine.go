// Package vendormachine is a vendor's own lifecycle: power supply firmware.
package vendormachine

import (
	"time"

	sm "github.com/ingotmetal/ingot/statemachine"
)

type State string // what a supply's firmware is
type On string    // an order, a report of the supply, or the deadline

// Redundant is the guard that the chassis can spare this supply.
const Redundant sm.Guard = 1

// Table decides every event in every state.
var Table = sm.Must(sm.Spec[State, On]{
	Name: "psu-firmware", Start: sm.In[State]("current"),
	Guards: []string{"redundant"}, Fields: []string{"image"}, Reports: []On{"flashed", "failed"},
	States: []sm.State[State, On]{
		{Name: "current", Kind: sm.Stable, Means: "runs what it should"},
		{Name: "flashing", Kind: sm.InFlight, Deadline: 20 * time.Minute, Expire: "overdue", Drives: sm.Power, Holds: 1, Means: "writes its image"},
		{Name: "suspect", Kind: sm.Stable, Means: "may run anything; flash it again"},
	},
	Rules: []sm.Rule[State, On]{
		// Guards split the cell. Leave one side out, and the program does not start.
		{On: "flash", From: sm.In[State]("current", "suspect"), When: sm.When{If: Redundant}, To: "flashing"},
		{On: "flash", From: sm.In[State]("current", "suspect"), When: sm.When{Not: Redundant}, Refuse: sm.Conflict, Why: "the chassis needs this supply", Req: "PSU-1"},
		// A rule without states decides wherever no other rule of the event does.
		{On: "flash", Refuse: sm.Conflict, Why: "it is being flashed", Req: "PSU-2"},
		{On: "flashed", From: sm.In[State]("flashing"), To: "current"},
		{On: "flashed", Refuse: sm.InvalidState, Why: "nothing is being flashed"},
		{On: "failed", From: sm.In[State]("flashing"), To: "suspect"},
		{On: "failed", Refuse: sm.InvalidState, Why: "nothing is being flashed"},
		{On: "overdue", From: sm.In[State]("flashing"), To: "suspect", Ends: "failed"},
		{On: "overdue", Refuse: sm.Conflict, Why: "nothing is being flashed"},
	},
})

// Supply is a record: where it stands, and the image it is flashed with.
type Supply struct {
	sm.At[State, On]
	Image string
}

// Step decides one event; image counts where a new epoch, and so flashing, begins.
func (s Supply) Step(ev sm.Event[On], image string, holds sm.Guard, now time.Time) (Supply, error) {
	at, err := Table.Step(s.At, ev, holds, now)
	if err != nil {
		return s, err
	}
	if at.Epoch != s.Epoch {
		s.Image = image
	}
	if s.At = at; Table.Drops(at.State) != 0 {
		s.Image = ""
	}
	return s, nil
}
