package bmc_test

import (
	"fmt"
	"time"

	"github.com/ingotmetal/ingot/bmc"
)

// A machine is turned off. One read of off is no proof; two reads are, three
// seconds apart and begun after the request.
func ExampleConfirm() {
	asked := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	read := func(after time.Duration, s bmc.State) bmc.PowerObservation {
		began := asked.Add(after)
		return bmc.PowerObservation{State: s, Began: began, Ended: began.Add(100 * time.Millisecond)}
	}
	c := bmc.Confirm{Since: asked}
	for _, o := range []bmc.PowerObservation{
		read(-time.Second, bmc.Off), // before the request
		read(time.Second, bmc.Off),
		read(2*time.Second, bmc.Off), // too soon
		read(5*time.Second, bmc.Off),
	} {
		c = c.See(o)
		fmt.Println(o.Began.Sub(asked), o.State, c.Off())
	}
	// Output:
	// -1s off false
	// 1s off false
	// 2s off false
	// 5s off true
}

// A course says what to do; here the machine obeys at once.
func ExampleCourse() {
	p := &bmc.Probed{Supports: map[bmc.Feature]bmc.Support{bmc.PowerOn: {Level: bmc.Native}, bmc.PowerOff: {Level: bmc.Native}}}
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	start, power := now, bmc.On

	c, err := bmc.Begin(bmc.Cycle, p, bmc.Patience{}, now)
	if err != nil {
		fmt.Println(err)
		return
	}
	for move := c.Next(); move.Do != bmc.MoveDone; move = c.Next() {
		if move.At.After(now) {
			now = move.At
		}
		switch move.Do {
		case bmc.MoveSend:
			fmt.Println(now.Sub(start), "send", move.Send, "once:", move.Once)
			power = map[bmc.Action]bmc.State{bmc.SendOn: bmc.On, bmc.SendOff: bmc.Off}[move.Send]
			c.Answered(bmc.Receipt{Action: move.Send, At: now}, nil, now)
		case bmc.MoveRead:
			fmt.Println(now.Sub(start), "read", power)
			c.Saw(bmc.PowerObservation{State: power, Began: now, Ended: now}, now)
		}
	}
	result, err := c.Result()
	fmt.Println(result.Changed, result.Last.State, err)
	// Output:
	// 0s read on
	// 0s send off once: true
	// 0s read off
	// 3s read off
	// 8s read off
	// 8s send on once: false
	// 8s read on
	// true on <nil>
}
