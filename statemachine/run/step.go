package run

import (
	"time"

	sm "github.com/ingotmetal/ingot/statemachine"
)

// Event is what happens to a run, with what it brings.
type Event struct {
	sm.Event[Kind]
	Facts  sm.Guard // Held, Allocated; Pin for the action that begins
	Action Action   // request, found-*
	Serial string   // begin, found-running: install_disk_serial
	Why    string   // failed, found-failed
}

// Guards computes the guards for e on r. An action that writes no disk needs
// no serial and minds no allocation, and only provision needs a pin (RUN-3, RUN-4).
func Guards(r *Record, e *Event) sm.Guard {
	g, writes := e.Facts&^(Same|Retiring|Serial), r.Action.Writes()
	if !writes {
		g &^= Allocated
	}
	return g.With(Same, e.Action == r.Action).
		With(Retiring, r.step() != None).
		With(Serial, e.Serial != "" || !writes).
		With(Pin, r.Action != Provision)
}

// Step decides e on r and returns the record after it; on error that is r. Its
// errors are *sm.Refused.
func Step(r Record, e Event, now time.Time) (Record, error) {
	if Table.Repeats(r.At, e.Event) {
		return r, nil // the reason and the serial may be another run's by now
	}
	at, err := Table.Step(r.At, e.within(&r), Guards(&r, &e), now)
	if err != nil {
		return r, err
	}
	was := r
	r.At = at
	r.write(&was, &e)
	r.drop(Table.Drops(r.State))
	r.forget()
	return r, nil
}

// within gives the attempt its action's deadline unless the site has one.
func (e *Event) within(r *Record) sm.Event[Kind] {
	ev := e.Event
	if ev.Within == 0 {
		ev.Within = r.Action.Deadline()
	}
	return ev
}

// write puts into the record what an accepted event brings. Events that may stay
// write only where they moved: staying, they tell nothing new.
func (r *Record) write(was *Record, e *Event) {
	moved := r.State != was.State
	switch e.On {
	case Request:
		r.requested(was, e)
	case Begin:
		r.Reason, r.Serial = "", e.Serial
	case FoundRunning, FoundSucceeded, FoundFailed:
		if moved {
			r.found(e)
		}
	case Fail:
		if moved {
			r.Reason = e.Why
		}
	case Expired:
		r.Reason = "the run did not end before its deadline"
	case Interrupt:
		r.Next = "" // the retirement has the last word: no request outlives it
		if moved {
			r.Reason = "retirement took the machine over"
		}
	}
}

// found takes over the engine's run of the request that waits, whose record
// came late (RUN-2). Another action that waits for its end goes on waiting.
func (r *Record) found(e *Event) {
	r.Reason = e.Why
	if r.State == Running { // one that ended writes no disk any more; a retirement may
		r.Serial = e.Serial
	}
}

// requested takes the action, or keeps another for later (RUN-1).
func (r *Record) requested(was *Record, e *Event) {
	switch {
	case was.State != Waiting && was.State != Running:
		r.Action, r.Next, r.Reason = e.Action, "", ""
	case e.Action != was.Action:
		r.Next = e.Action
	default:
		r.Next = "" // the owner went back to the current action
	}
}

// RetireEvent is what happens to the retirement. Its epochs come from the same
// counter as the run's (EDGE-7).
type RetireEvent struct {
	sm.Event[RetireKind]
	Facts  sm.Guard // SlotHeld
	Serial string   // decommission: install_disk_serial
}

// StepRetire decides e on r's retirement and returns the record after it;
// on error that is r. Its errors are *sm.Refused.
func StepRetire(r Record, e RetireEvent, now time.Time) (Record, error) {
	if e.Facts &^= HasSerial; e.Serial != "" {
		e.Facts |= HasSerial
	}
	from := r.Retire
	if from.State = r.step(); from.State == AwaitingOff {
		e.Within = 0 // evicting comes next, and its deadline is fixed (MACH-5)
	}
	if Retirement.Repeats(from, e.Event) {
		return r, nil
	}
	at, err := Retirement.Step(from, e.Event, e.Facts, now)
	if err != nil {
		return r, err
	}
	if from.State == None && at.State != None {
		r.Serial = e.Serial
	}
	r.Retire = at
	r.forget()
	return r, nil
}

// forget clears the disk when neither run nor retirement is left to write it. A
// serial that stays would be a right to a disk that nobody asked for (RUN-4).
func (r *Record) forget() {
	if r.State == Idle && r.step() == None {
		r.Serial = ""
	}
}
