package bmc_test

import (
	"slices"
	"time"

	"github.com/ingotmetal/ingot/bmc"
	"pgregory.net/rapid"
)

// A spell is a time without end at which power is on or off, until the next.
type spell struct {
	from time.Time
	on   bool
}

// late is how long a model says on of a machine that is off, at most.
const late = 2 * time.Second

// An attempt is one action that left for the BMC.
type attempt struct {
	action  bmc.Action
	at      time.Time
	once    bool
	outcome string // accepted, lost, refused
	did     bool   // the machine carried it out
}

// model is a machine behind a BMC, in time that passes only here. Its power is
// history; what the BMC says of it is late, in transition, wrong for a moment or
// nothing at all.
type model struct {
	now     time.Time
	history []spell // in order, also what is still to come
	sent    []attempt
	faults  bool
	deaf    [2]time.Time // from, to: no answers
	chassis bool         // reported
	willing bool         // its operating system obeys
	moving  bool         // transitions are shown
	lied    bool         // its last answer was off, of a machine that is on
}

func newModel(t *rapid.T, faults bool) *model {
	m := &model{now: noon, faults: faults, willing: true}
	m.history = []spell{{noon.Add(-time.Hour), rapid.Bool().Draw(t, "power")}}
	m.chassis, m.moving = rapid.Bool().Draw(t, "chassis"), rapid.Bool().Draw(t, "transitions")
	if !faults {
		return m
	}
	m.willing = rapid.Bool().Draw(t, "willing")
	if rapid.IntRange(0, 2).Draw(t, "deaf") == 0 {
		from := noon.Add(seconds(t, "deaf from", 0, 60))
		m.deaf = [2]time.Time{from, from.Add(seconds(t, "deaf for", 1, 900))}
	}
	if rapid.IntRange(0, 3).Draw(t, "somebody else") == 0 {
		m.become(noon.Add(seconds(t, "when", 0, 200)), rapid.Bool().Draw(t, "turns it on"))
	}
	return m
}

func seconds(t *rapid.T, label string, from, to int) time.Duration {
	return time.Duration(rapid.IntRange(from*10, to*10).Draw(t, label)) * 100 * time.Millisecond
}

// become puts a change into the history, in its place.
func (m *model) become(at time.Time, on bool) {
	i, _ := slices.BinarySearchFunc(m.history, at, func(s spell, at time.Time) int { return s.from.Compare(at) })
	m.history = slices.Insert(m.history, i, spell{at, on})
}

// on reports whether the machine had power at an instant.
func (m *model) on(at time.Time) bool {
	on := false
	for _, s := range m.history {
		if !s.from.After(at) {
			on = s.on
		}
	}
	return on
}

// without reports whether it was without power at some instant of a span.
func (m *model) without(from, to time.Time) bool { return m.was(false, from, to) }

func (m *model) was(on bool, from, to time.Time) bool {
	return m.on(from) == on || slices.ContainsFunc(m.history, func(s spell) bool {
		return s.on == on && s.from.After(from) && !s.from.After(to)
	})
}

// leads reports whether a change to on is on its way.
func (m *model) leads(on bool) bool {
	return slices.ContainsFunc(m.history, func(s spell) bool { return s.from.After(m.now) && s.on == on })
}

func (m *model) isDeaf() bool { return !m.now.Before(m.deaf[0]) && m.now.Before(m.deaf[1]) }

// read is what the BMC says now, and takes a while.
func (m *model) read(t *rapid.T) (bmc.PowerObservation, error) {
	began := m.now
	if m.isDeaf() {
		m.now = m.now.Add(seconds(t, "no answer", 1, 30))
		return bmc.PowerObservation{}, &bmc.Error{Kind: bmc.Unreachable, Op: "read", Sent: bmc.SentNo}
	}
	if m.faults {
		m.now = m.now.Add(seconds(t, "took", 0, 3))
		switch rapid.IntRange(0, 19).Draw(t, "fault of a read") {
		case 0:
			return bmc.PowerObservation{}, &bmc.Error{Kind: bmc.Busy, Op: "read", After: seconds(t, "after", 0, 2000)}
		case 1:
			return bmc.PowerObservation{}, &bmc.Error{Kind: bmc.Indeterminate, Op: "read", Sent: bmc.SentMaybe}
		}
	}
	o := bmc.PowerObservation{State: m.state(t), Began: began, Ended: m.now}
	if m.chassis {
		o.Chassis = map[bool]bmc.State{true: bmc.On, false: bmc.Off}[m.on(m.now)]
	}
	return o, nil
}

// state is what the BMC says of the system. With faults it is late at times, or
// says off of a machine that is on, but never twice in a row.
func (m *model) state(t *rapid.T) bmc.State {
	on := m.on(m.now)
	defer func(before bool) { m.lied = m.lied && !before }(m.lied)
	switch {
	case m.moving && on && m.leads(false):
		return bmc.PoweringOff
	case m.moving && !on && m.leads(true):
		return bmc.PoweringOn
	case on && !m.lied && m.faults && rapid.IntRange(0, 9).Draw(t, "flicker") == 0:
		m.lied = true
		return bmc.Off
	case on:
		return bmc.On
	case m.faults && m.on(m.now.Add(-late)) && rapid.Bool().Draw(t, "late"):
		return bmc.On
	}
	return bmc.Off
}

// send is what the BMC does with an action.
func (m *model) send(t *rapid.T, move bmc.Move) (bmc.Receipt, error) {
	a := attempt{action: move.Send, at: m.now, once: move.Once, outcome: "accepted", did: true}
	defer func() { m.sent = append(m.sent, a) }()
	if m.isDeaf() {
		a.outcome, a.did = "refused", false
		m.now = m.now.Add(seconds(t, "no answer", 1, 30))
		return bmc.Receipt{}, &bmc.Error{Kind: bmc.Unreachable, Op: "send", Sent: bmc.SentNo}
	}
	var err error
	if m.faults {
		m.now = m.now.Add(seconds(t, "took", 0, 3))
		err = m.fault(t, &a)
	}
	if a.did {
		m.obey(t, move.Send)
	}
	return bmc.Receipt{Action: move.Send, At: m.now}, err
}

func (m *model) fault(t *rapid.T, a *attempt) error {
	switch rapid.IntRange(0, 9).Draw(t, "fault of a send") {
	case 0:
		a.outcome, a.did = "refused", false
		return &bmc.Error{Kind: bmc.Busy, Op: "send", Sent: bmc.SentYes, After: seconds(t, "after", 0, 2000)}
	case 1:
		a.outcome, a.did = "refused", false
		return &bmc.Error{Kind: bmc.Conflict, Op: "send", Sent: bmc.SentYes}
	case 2:
		a.outcome, a.did = "lost", rapid.Bool().Draw(t, "came through")
		return &bmc.Error{Kind: bmc.Indeterminate, Op: "send", Sent: bmc.SentMaybe}
	case 3:
		a.outcome, a.did = "lost", rapid.Bool().Draw(t, "came through")
		return &bmc.Error{Kind: bmc.Unreachable, Op: "send", Sent: bmc.SentMaybe}
	}
	return nil
}

// obey is what the machine does: late, at times too late.
func (m *model) obey(t *rapid.T, a bmc.Action) {
	switch a {
	case bmc.SendOn:
		m.become(m.now.Add(seconds(t, "on after", 0, 100)), true)
	case bmc.SendOff:
		m.become(m.now.Add(seconds(t, "off after", 0, 60)), false)
	case bmc.SendGraceful:
		if m.willing && m.on(m.now) {
			m.become(m.now.Add(seconds(t, "stops after", 0, 400)), false)
		}
	}
}
