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

	start   time.Time // of the first read of off
	first   time.Time // its end; zero: none
	against time.Time // end of the newest read that says otherwise
	proved  bool
}

// See adds a read, in any order. A read of off that began before Since, that
// ended before it began, or that began before the end of one that says otherwise
// is left out. A read that says otherwise undoes what was gathered, also a proof,
// unless it was over before the first read of off began.
func (c Confirm) See(o PowerObservation) Confirm {
	if !o.Idle() {
		return c.contradict(later(o.Began, o.Ended))
	}
	switch {
	case o.Began.Before(c.Since), o.Began.Before(c.against), o.Ended.Before(o.Began):
	case c.first.IsZero():
		c.start, c.first = o.Began, o.Ended
	default:
		c.proved = c.proved || o.Began.Sub(c.first) >= ConfirmGap
	}
	return c
}

func (c Confirm) contradict(end time.Time) Confirm {
	c.against = later(c.against, end)
	if end.Before(c.start) {
		return c
	}
	return Confirm{Since: c.Since, against: c.against}
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
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
