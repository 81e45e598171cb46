package bmc

import (
	"errors"
	"strings"
	"time"
)

// Patience is how long a course waits. A zero field takes its default.
type Patience struct {
	Reach    time.Duration // for on and for off by force, each; default 3m: machines take 46 s and more
	Graceful time.Duration // for off by the operating system; default 10m: some take 6
	Poll     time.Duration // between reads; default 3s
	Resend   time.Duration // before what may be sent twice is sent again after a lost answer; default 30s
	// Grace is how much longer it waits, in all, for a BMC that stops answering on
	// the way; default 5m: they take 90 to 200 s to restart. One that never answered
	// gets none.
	Grace time.Duration
}

// Filled is p with each zero field at its default.
func (p Patience) Filled() Patience {
	fill := func(d *time.Duration, def time.Duration) {
		if *d <= 0 {
			*d = def
		}
	}
	fill(&p.Reach, 3*time.Minute)
	fill(&p.Graceful, 10*time.Minute)
	fill(&p.Poll, ConfirmGap)
	fill(&p.Resend, 30*time.Second)
	fill(&p.Grace, 5*time.Minute)
	return p
}

// A Course takes one verb to its end, and decides all there is to decide on the
// way. It is a value that knows no clock: whoever runs it asks [Course.Next] what
// to do, does it, and tells by [Course.Saw], [Course.Blind] or [Course.Answered]
// what came of it. It is not safe for concurrent use.
type Course struct {
	verb     Verb
	patience Patience
	legs     []leg // what is left, the present one first

	since    time.Time // the present leg's start
	ready    time.Time // no move before this instant
	deadline time.Time // of the present leg
	met      bool      // the BMC has answered
	blind    time.Time // since when it does no more; zero: it does
	grace    time.Duration
	confirm  Confirm
	looked   bool      // result.Last was read in this leg, and after what was sent last
	tried    bool      // something was sent, whatever came of it
	sent     bool      // in this leg, and not refused
	doubted  time.Time // when an answer to it was lost; zero: none was
	stirs    time.Time // up to then an earlier request may still start the machine
	stirring bool      // at the last read, so that off is no proof

	done   bool
	err    error
	result Result
}

// A Result is what a course came to.
type Result struct {
	Verb    Verb
	Changed bool // something was accepted, or may have been
	Sent    []Receipt
	Last    PowerObservation // the newest read
}

// A Move is what a course wants next.
type Move struct {
	Do   MoveKind
	At   time.Time // not before this instant
	Send Action    // of MoveSend
	// Once: what is sent must not be repeated by anybody, so that it is to be
	// written down first (BMC-3).
	Once bool
}

// A MoveKind is what to do.
type MoveKind string

// The kinds of moves.
const (
	MoveRead MoveKind = "read" // the power, then Saw or Blind
	MoveSend MoveKind = "send" // Send, then Answered
	MoveDone MoveKind = "done" // nothing: Result says what came of it
)

// Begin starts v at now, on a machine of which p was found. The error is an
// [*Error] of kind [Unsupports] or [InvalidOption].
func Begin(v Verb, p *Probed, patience Patience, now time.Time) (*Course, error) {
	if len(v.legs()) == 0 {
		return nil, &Error{Kind: InvalidOption, Op: "power " + string(v), Why: "no such verb", Do: "want one of on, off, graceful-off, reset, graceful-restart, cycle, nmi"}
	}
	if s := v.Support(p); s.Level == Unsupported {
		return nil, &Error{Kind: Unsupports, Op: "power " + string(v), Why: s.Why, Do: "the machine does: " + verbsOf(p)}
	}
	c := &Course{verb: v, patience: patience.Filled(), legs: v.legs()}
	c.result.Verb, c.grace = v, c.patience.Grace
	c.enter(now)
	return c, nil
}

// Stirs tells that an earlier request may still start the machine, up to until. What
// reads off before then is not taken for off: it is forced off all the same, or waited
// for where the verb does not force.
func (c *Course) Stirs(until time.Time) { c.stirs = until }

// enter begins the first leg of those that are left.
func (c *Course) enter(now time.Time) {
	l := c.legs[0]
	c.since, c.ready = now, now.Add(l.dwell)
	c.confirm = Confirm{Since: now}
	c.looked, c.sent, c.doubted = false, false, time.Time{}
	wait := c.patience.Reach
	if l.send == SendGraceful {
		wait = c.patience.Graceful
	}
	c.deadline = c.ready.Add(wait)
}

// Next says what to do. It changes nothing; the same is said until something is
// told.
func (c *Course) Next() Move {
	switch l := c.legs; {
	case c.done:
		return Move{Do: MoveDone}
	case c.due():
		return Move{Do: MoveSend, At: c.ready, Send: l[0].send, Once: !c.verb.Repeatable() && !c.tried}
	}
	at := c.ready
	if next := c.confirm.Next(); next.After(at) {
		at = next
	}
	return Move{Do: MoveRead, At: at}
}

// due reports whether the present leg's action is to be sent now. What a machine
// in transition does with a request nobody knows, so that only force does not
// wait for its end.
func (c *Course) due() bool {
	l, o := c.legs[0], c.result.Last
	moving := o.State == PoweringOn || o.State == PoweringOff
	switch {
	case !c.looked || c.sent:
		return false
	case l.reach == On:
		return !o.Runs() && !moving
	case l.reach == Off:
		return l.forces && (c.stirring || !o.Idle()) || !o.Idle() && !moving
	}
	return !moving
}

// Saw tells of a read that ended at now.
func (c *Course) Saw(o PowerObservation, now time.Time) {
	if c.done {
		return
	}
	c.result.Last = o
	c.answers(now)
	if o.Began.Before(c.since) { // it says nothing of what is asked now
		c.wait(now, nil)
		return
	}
	c.looked, c.confirm = true, c.confirm.See(o)
	if o.Runs() {
		c.stirs = time.Time{} // it has come
	}
	c.stirring = now.Before(c.stirs)
	switch l := c.legs[0]; {
	case l.needs && !c.result.Changed && o.Without():
		c.fail(&Error{Kind: Conflict, Sent: SentNo, State: Off, Why: "it needs a machine that runs", Do: "turn it on, or cycle it"})
		return
	case l.reach == On && o.Runs(), l.reach == Off && c.confirm.Off() && !c.stirring:
		c.arrive(now)
		return
	case !c.doubted.IsZero() && now.Sub(c.doubted) >= c.patience.Resend:
		c.sent, c.doubted = false, time.Time{}
	}
	if !c.due() || !now.Before(c.deadline) {
		c.wait(now, nil)
	}
}

// Blind tells of a read that failed at now.
func (c *Course) Blind(err error, now time.Time) {
	if c.done {
		return
	}
	e, ok := errors.AsType[*Error](err)
	switch {
	case ok && (e.Kind == Unreachable || e.Kind == Indeterminate):
		c.silent(now)
		c.wait(now, e)
	case ok && (e.Again() || c.tried && (e.Kind == Protocol || e.Kind == NotFound)): // a BMC that starts says such things
		c.answers(now)
		c.wait(now, e)
	default:
		c.fail(err)
	}
}

// silent notes that the BMC gives no answer.
func (c *Course) silent(now time.Time) {
	if c.met && c.blind.IsZero() {
		c.blind = now
	}
}

// answers notes that it does. Where it gave none for a while, the leg gets that
// time again, as far as the grace lasts.
func (c *Course) answers(now time.Time) {
	c.met = true
	if c.blind.IsZero() {
		return
	}
	lost := min(now.Sub(c.blind), c.grace)
	c.deadline, c.grace, c.blind = c.deadline.Add(lost), c.grace-lost, time.Time{}
}

// Answered tells what came of the action that [Course.Next] named. An error that
// is none of ours counts as a lost answer.
func (c *Course) Answered(r Receipt, err error, now time.Time) {
	if c.done {
		return
	}
	c.looked, c.tried = false, true // whatever came of it, it is looked at anew
	e, typed := errors.AsType[*Error](err)
	last := c.legs[0].reach == ""
	switch {
	case err == nil:
		c.answers(now)
		c.accepted(r, now)
	case !typed || e.Sent == SentMaybe || e.Kind == Indeterminate:
		c.lost(err, now)
	case e.Again() || e.Kind == Conflict && !last:
		if e.Kind == Unreachable {
			c.silent(now)
		} else {
			c.answers(now)
		}
		c.wait(now, e)
	default:
		c.result.Changed = c.result.Changed || e.Sent == SentYes && (e.Kind == Protocol || e.Kind == NotReached) // who knows what it did
		c.fail(err)
	}
}

// lost deals with an answer that did not come. What ends with its acceptance
// ends here; all else shows in the machine's state.
func (c *Course) lost(err error, now time.Time) {
	c.result.Changed = true
	if c.legs[0].reach == "" {
		c.fail(c.indeterminate(err))
		return
	}
	c.sent, c.doubted = true, now
	c.confirm = Confirm{Since: now}
	c.silent(now)
	c.wait(now, nil)
}

// indeterminate makes err say that nobody knows (BMC-3).
func (c *Course) indeterminate(err error) error {
	if e, ok := errors.AsType[*Error](err); ok && e.Kind == Indeterminate {
		return err
	}
	return &Error{Kind: Indeterminate, Sent: SentMaybe, Why: "the answer is lost", Do: "look at the machine, and at its console", Err: err}
}

// accepted begins the wait for the state.
func (c *Course) accepted(r Receipt, now time.Time) {
	c.result.Changed = true
	c.result.Sent = append(c.result.Sent, r)
	if c.legs[0].reach == "" {
		c.arrive(now)
		return
	}
	c.sent, c.doubted = true, time.Time{}
	c.confirm = Confirm{Since: now}
	c.ready = now
	if c.legs[0].forces {
		c.stirs, c.stirring = time.Time{}, false // what came after it counts
	}
}

// arrive ends a leg that has reached its state.
func (c *Course) arrive(now time.Time) {
	if c.legs = c.legs[1:]; len(c.legs) == 0 {
		c.done = true
		return
	}
	c.enter(now)
}

// wait puts the next move off, or ends the course where its time is over. Why is
// what made it wait; nil: the state is not there yet.
func (c *Course) wait(now time.Time, why *Error) {
	limit := c.deadline
	if !c.blind.IsZero() {
		limit = limit.Add(c.grace)
	}
	if !now.Before(limit) {
		c.late(why)
		return
	}
	pause := c.patience.Poll
	if why != nil && why.After > pause {
		pause = why.After
	}
	c.ready = now.Add(min(pause, limit.Sub(now)))
}

// late ends a course whose state did not come.
func (c *Course) late(why *Error) {
	e := &Error{Kind: NotReached, Sent: SentNo, State: c.result.Last.State, Why: "the state did not come in time", Do: "read its power, and its console"}
	if why != nil {
		e.Why, e.Err = "the BMC gave no other answer in time: "+why.Error(), why
	}
	if why != nil && !c.result.Changed {
		e.Kind, e.After = why.Kind, why.After
	}
	switch {
	case len(c.result.Sent) > 0:
		e.Sent = SentYes
	case c.result.Changed:
		e.Sent = SentMaybe
	}
	c.fail(e)
}

// fail ends the course. An error of ours says which verb it ends.
func (c *Course) fail(err error) {
	if e, ok := errors.AsType[*Error](err); ok && e.Op == "" {
		e.Op = "power " + string(c.verb)
	}
	c.done, c.err = true, err
}

// Result is what it came to, once [Course.Next] says [MoveDone]. With an error it
// says how far it got.
func (c *Course) Result() (Result, error) { return c.result, c.err }

// verbsOf lists what a machine can do.
func verbsOf(p *Probed) string {
	var out []string
	for _, v := range Verbs() {
		if v.Support(p).Level != Unsupported {
			out = append(out, string(v))
		}
	}
	if len(out) == 0 {
		return "nothing"
	}
	return strings.Join(out, ", ")
}
