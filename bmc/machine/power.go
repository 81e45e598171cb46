package machine

import (
	"context"
	"sync"
	"time"

	"github.com/ingotmetal/ingot/bmc"
)

// A running is a verb under way.
type running struct {
	verb bmc.Verb
	stop chan struct{} // closed: it sends nothing more
	done chan struct{} // closed: it has ended

	once sync.Once
	why  string
}

// halt lets a verb end after its request under way.
func (r *running) halt(why string) {
	r.once.Do(func() {
		r.why = why
		close(r.stop)
	})
}

// Power takes v to its end state and says what it came to; with an error too,
// which says how far it got. Id names the request for the journal. It returns when
// ctx ends, and what was sent by then stays sent.
//
// While another verb runs it is a [bmc.Conflict] that names it, but for
// [bmc.TurnOff], which takes over.
func (m *Machine) Power(ctx context.Context, v bmc.Verb, id string) (bmc.Result, error) {
	return m.PowerBefore(ctx, v, id, time.Time{})
}

// PowerBefore is Power, but that nothing is sent from until on unless something was
// accepted before: then the verb goes on to its end state. A zero until is never.
func (m *Machine) PowerBefore(ctx context.Context, v bmc.Verb, id string, until time.Time) (bmc.Result, error) {
	r, err := m.claim(ctx, v)
	if err != nil {
		return bmc.Result{Verb: v}, err
	}
	defer m.yield(r)
	m.c.Log.InfoContext(ctx, "verb begins", "verb", v, "id", id)
	result, err := m.course(ctx, r, id, until)
	m.c.Log.InfoContext(ctx, "verb ends", "verb", v, "id", id, "changed", result.Changed, "state", result.Last.State, "err", err)
	return result, err
}

// claim makes v the verb that runs.
func (m *Machine) claim(ctx context.Context, v bmc.Verb) (*running, error) {
	for {
		m.mu.Lock()
		other := m.running
		switch {
		case m.closed:
			m.mu.Unlock()
			return nil, m.closedError()
		case other == nil:
			m.running = &running{verb: v, stop: make(chan struct{}), done: make(chan struct{})}
			defer m.mu.Unlock()
			return m.running, nil
		}
		m.mu.Unlock()
		if v != bmc.TurnOff || other.verb == bmc.TurnOff {
			return nil, &bmc.Error{Kind: bmc.Conflict, Op: "power " + string(v), Sent: bmc.SentNo, Why: string(other.verb) + " is running", Do: "wait for its end, or turn the machine off"}
		}
		other.halt("off took it over")
		select {
		case <-other.done:
		case <-ctx.Done():
			return nil, noTurn(ctx)
		}
	}
}

func (m *Machine) yield(r *running) {
	m.mu.Lock()
	m.running = nil
	m.mu.Unlock()
	close(r.done)
}

// course runs a verb.
func (m *Machine) course(ctx context.Context, r *running, id string, until time.Time) (result bmc.Result, err error) {
	asked := time.Now()
	var c *bmc.Course
	err = m.call(ctx, m.reads("probe"), func(ctx context.Context, s *seat) error {
		p, err := m.probe(ctx, s)
		if err == nil {
			c, err = bmc.Begin(r.verb, p, m.c.Patience, asked)
		}
		if err == nil {
			c.Stirs(m.gate.stirs.until(m.c.Endpoint.System))
		}
		return err
	})
	if err != nil {
		return bmc.Result{Verb: r.verb}, err
	}
	var entry *Entry
	defer func() { m.ended(ctx, entry, result, err) }()
	for move := c.Next(); move.Do != bmc.MoveDone; move = c.Next() {
		if !sleep(ctx, move.At, r.stop) || r.stopped() {
			return m.cut(ctx, r, c)
		}
		if move.Do == bmc.MoveSend && late(c, until) {
			result, _ := c.Result()
			return result, &bmc.Error{Kind: bmc.NotReached, Op: "power " + string(r.verb), Sent: bmc.SentNo, State: result.Last.State, Why: "its time was over before anything was sent", Do: "ask again"}
		}
		if move.Do == bmc.MoveSend && move.Once {
			if entry, err = m.begun(ctx, Entry{id, r.verb, move.Send, time.Now()}); err != nil {
				result, _ := c.Result()
				return result, err
			}
			if r.stopped() {
				return m.cut(ctx, r, c)
			}
		}
		within := ctx
		if result, _ := c.Result(); move.Do == bmc.MoveSend && !result.Changed && !until.IsZero() {
			within = startsBy(ctx, until)
		}
		m.move(within, c, move)
	}
	result, err = c.Result()
	return result, m.red.err(err)
}

// late reports whether a verb of which nothing was sent is over its time.
func late(c *bmc.Course, until time.Time) bool {
	result, _ := c.Result()
	return !until.IsZero() && !result.Changed && !time.Now().Before(until)
}

func (r *running) stopped() bool {
	select {
	case <-r.stop:
		return true
	default:
		return false
	}
}

// move does what a course wants next, once: the course decides what comes of it.
func (m *Machine) move(ctx context.Context, c *bmc.Course, move bmc.Move) {
	if move.Do == bmc.MoveRead {
		if o, err := m.readPower(ctx, 1); err != nil {
			c.Blind(err, time.Now())
		} else {
			c.Saw(o, time.Now())
		}
		return
	}
	if move.Send == bmc.SendOn || move.Send == bmc.SendReset {
		m.gate.stirs.note(m.c.Endpoint.System, m.c.Patience.Filled().Reach)
	}
	o := op{name: "send " + string(move.Send), attempts: 1}
	receipt, err := ask(ctx, m, o, func(ctx context.Context, p bmc.Power) (bmc.Receipt, error) { return p.SendPower(ctx, move.Send) })
	if err == nil && move.Send == bmc.SendOff {
		m.gate.stirs.came(m.c.Endpoint.System, time.Now()) // or never will
	}
	c.Answered(receipt, err, time.Now())
}

// cut ends a verb before its state came: by its caller, by another verb, by Close.
func (m *Machine) cut(ctx context.Context, r *running, c *bmc.Course) (bmc.Result, error) {
	result, _ := c.Result()
	e := &bmc.Error{Kind: bmc.NotReached, Op: "power " + string(r.verb), Sent: bmc.SentNo, State: result.Last.State, Why: "its caller waits no longer", Err: context.Cause(ctx)}
	if r.stopped() {
		e.Kind, e.Why, e.Err = bmc.Conflict, r.why, nil
	}
	switch {
	case len(result.Sent) > 0:
		e.Sent = bmc.SentYes
	case result.Changed:
		e.Sent = bmc.SentMaybe
	}
	return result, e
}

// begun writes an entry down, where there is a journal.
func (m *Machine) begun(ctx context.Context, e Entry) (*Entry, error) {
	if m.c.Journal == nil {
		return nil, nil
	}
	if err := m.c.Journal.Begun(ctx, e); err != nil {
		return nil, &bmc.Error{Kind: bmc.NotReached, Op: "power " + string(e.Verb), Sent: bmc.SentNo, Why: "it could not be written down first, so it was not sent", Err: m.red.err(err)}
	}
	return &e, nil
}

// ended writes down what came of an entry. Where that fails it stays begun, and
// counts as indeterminate after a restart.
func (m *Machine) ended(ctx context.Context, e *Entry, r bmc.Result, err error) {
	if e == nil {
		return
	}
	if err := m.c.Journal.Ended(context.WithoutCancel(ctx), *e, r, err); err != nil {
		m.c.Log.ErrorContext(ctx, "the end of a verb is not written down", "verb", e.Verb, "id", e.ID, "err", m.red.err(err))
	}
}

// Resume ends an entry that a crash left begun. It reads the power and sends
// nothing: the error is always one of kind [bmc.Indeterminate], and the result
// says what the machine looks like now. Asking for the same again is for whoever
// has looked at it. Where the BMC cannot be read the entry stays begun.
func (m *Machine) Resume(ctx context.Context, e Entry) (bmc.Result, error) {
	lost := &bmc.Error{Kind: bmc.Indeterminate, Op: "power " + string(e.Verb), Sent: bmc.SentMaybe, Why: "it was begun, and its end is not known", Do: "look at the machine, and at its console"}
	result := bmc.Result{Verb: e.Verb, Changed: true}
	o, err := m.ReadPower(ctx)
	if err != nil {
		lost.Err = err
		return result, lost
	}
	result.Last = o
	if m.c.Journal != nil {
		m.ended(ctx, &e, result, lost)
	}
	return result, lost
}

// ConfirmOff proves by reads that began after since that the machine is off
// (BMC-2), for what rests on it (RUN-5, RUN-6). It sends nothing. A machine that
// runs is a [bmc.Conflict] at once; one that is neither on nor proved off is
// waited for as long as [bmc.Patience] allows, then it is [bmc.NotReached]. The
// observation is the newest.
func (m *Machine) ConfirmOff(ctx context.Context, since time.Time) (bmc.PowerObservation, error) {
	const name = "confirm off"
	c := bmc.Confirm{Since: since}
	reach, poll := m.c.Patience.Filled().Reach, max(m.c.Patience.Poll, bmc.ConfirmGap)
	for began := time.Now(); ; {
		o, err := m.ReadPower(ctx)
		if err != nil {
			return o, err
		}
		c = c.See(o)
		switch {
		case c.Off() && !time.Now().Before(m.gate.stirs.until(m.c.Endpoint.System)):
			return o, nil
		case o.Runs():
			return o, &bmc.Error{Kind: bmc.Conflict, Op: name, Sent: bmc.SentYes, State: bmc.On, Why: "the machine runs", Do: "turn it off"}
		case time.Since(began) >= reach:
			return o, &bmc.Error{Kind: bmc.NotReached, Op: name, Sent: bmc.SentYes, State: o.State, Why: "it is not proved off in time", Do: "read its power, and its console"}
		}
		next := time.Now().Add(poll)
		if at := c.Next(); !at.IsZero() {
			next = at
		}
		if !sleep(ctx, next, nil) {
			return o, noTurn(ctx)
		}
	}
}
