package bmc_test

import (
	"testing"
	"time"

	"github.com/ingotmetal/ingot/bmc"
)

// Where a start may still come, force is sent to a machine that reads off, and a
// graceful off waits until it cannot come any more.
func TestStirs(t *testing.T) {
	can := &bmc.Probed{Supports: map[bmc.Feature]bmc.Support{}}
	for _, f := range bmc.Features() {
		can.Supports[f] = bmc.Support{Level: bmc.Native}
	}
	for verb, force := range map[bmc.Verb]bool{bmc.TurnOff: true, bmc.Cycle: true, bmc.GracefulOff: false} {
		c, err := bmc.Begin(verb, can, bmc.Patience{}, noon)
		if err != nil {
			t.Fatal(err)
		}
		until := noon.Add(time.Minute)
		c.Stirs(until)
		now := noon
		for range 100 {
			m := c.Next()
			if m.Do != bmc.MoveRead {
				break
			}
			if now = now.Add(time.Second); m.At.After(now) {
				now = m.At
			}
			c.Saw(bmc.PowerObservation{State: bmc.Off, Began: now, Ended: now}, now)
		}
		switch m := c.Next(); {
		case force && (m.Do != bmc.MoveSend || m.Send != bmc.SendOff || !now.Before(until)):
			t.Errorf("%s: %+v after %s", verb, m, now.Sub(noon))
		case !force && (m.Do != bmc.MoveDone || now.Before(until)):
			t.Errorf("%s: %+v after %s", verb, m, now.Sub(noon))
		}
		if !force {
			continue
		}
		c.Answered(bmc.Receipt{Action: bmc.SendOff, At: now}, nil, now)
		for range 2 {
			now = now.Add(bmc.ConfirmGap)
			c.Saw(bmc.PowerObservation{State: bmc.Off, Began: now, Ended: now}, now)
		}
		if m := c.Next(); verb == bmc.TurnOff && m.Do != bmc.MoveDone || now.Sub(noon) > 30*time.Second {
			t.Errorf("%s: after force %+v, after %s", verb, m, now.Sub(noon))
		}
	}
}
