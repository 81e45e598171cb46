package bmc

import "time"

// ConfirmGap is the least time from the end of the first read of off to the
// start of the second (BMC-2).
const ConfirmGap = 3 * time.Second

// A Confirm gathers reads of a machine's power until they prove that it is off
// (BMC-2): two reads that say so, begun at or after Since and [ConfirmGap] apart,
// the chassis agreeing where it is reported, and none between them that says
// otherwise. It is a value; the zero Confirm counts reads of any time.
//
// Use one for each request: a proof of the last one says nothing of this.
type Confirm struct {
	Since time.Time // when the request was made

	first, last time.Time // ends of the first and the newest read of off; zero: none
	proved      bool
}

// See adds a read. One that began before Since, before the newest that counted,
// or ended before it began is left out. A read that is not off undoes what was
// gathered, also a proof.
func (c Confirm) See(o PowerObservation) Confirm {
	switch {
	case o.Began.Before(c.Since), o.Ended.Before(o.Began), o.Began.Before(c.last):
	case !o.Idle():
		c.first, c.last, c.proved = time.Time{}, time.Time{}, false
	case c.first.IsZero():
		c.first, c.last = o.Ended, o.Ended
	default:
		c.last = o.Ended
		c.proved = c.proved || o.Began.Sub(c.first) >= ConfirmGap
	}
	return c
}

// Off reports whether the reads prove that the machine is off.
func (c Confirm) Off() bool { return c.proved }

// Next is the earliest start of a read that could complete the proof: zero
// while no read counts, or when it is complete.
func (c Confirm) Next() time.Time {
	if c.first.IsZero() || c.proved {
		return time.Time{}
	}
	return c.first.Add(ConfirmGap)
}
