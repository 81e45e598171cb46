package metal

import (
	"context"
	"errors"
	"time"

	"github.com/ingotmetal/ingot/bmc"
	"github.com/ingotmetal/ingot/bmc/machine"
	"github.com/ingotmetal/ingot/cmd/internal/control"
	"github.com/ingotmetal/ingot/cmd/internal/pause"
	"github.com/ingotmetal/ingot/statemachine/lifecycle"
	"github.com/ingotmetal/ingot/statemachine/run"
)

// Doers carry out what states want of a machine's power, by verb.
func (s *Site) Doers() map[string]control.Doer {
	return map[string]control.Doer{lifecycle.NeedPower: s.command, lifecycle.NeedOff: s.off}
}

// inWords is how a verb ended.
func inWords(r bmc.Result, err error) string {
	e, _ := errors.AsType[*bmc.Error](err)
	switch {
	case e != nil && (e.Kind == bmc.Auth || e.Kind == bmc.PasswordChange) && e.Do == "":
		return "failed: " + err.Error() + "; give it other credentials: nothing is sent until they change"
	case err != nil:
		return "failed: " + err.Error()
	case !r.Changed:
		return "unchanged: the machine is " + string(r.Last.State)
	case r.Last.State == "":
		return "done"
	}
	return "done: the machine is " + string(r.Last.State)
}

// errLate waits for the sweeper, which ends a command that is over its time.
var errLate = errors.New("the command is over its time: nothing is sent")

// command carries out a power command when those before it have ended, before its time
// is over or not at all (PROV-7). One that was begun before a crash goes on where its
// verb may be sent twice, and else is ended without sending again.
func (s *Site) command(ctx context.Context, n lifecycle.Need) error {
	leave, t, c, err := s.turn(ctx, n)
	if err != nil || leave == nil {
		return err
	}
	defer leave()
	late := !s.Door.Now().Before(c.Expires)
	switch {
	case c.Begun && (late || !bmc.Verb(c.Verb).Repeatable()):
		return s.endBegun(ctx, n, t)
	case c.Begun: // what it does may be done twice
		return s.carry(ctx, n, t, c)
	case late:
		return errLate
	}
	if _, err := s.Door.Do(ctx, control.Call{Actor: actor}, control.Target{Node: n.Node}, control.Just(lifecycle.CommandBegun{ID: c.ID})); err != nil {
		return err // it waits no more, which the next look shows
	}
	return s.carry(ctx, n, t, c)
}

// endBegun ends a command that an agent began which has stopped since.
func (s *Site) endBegun(ctx context.Context, n lifecycle.Need, t Target) error {
	sent, err := s.Door.Sent(ctx, n.Node, n.What)
	switch {
	case err != nil:
		return err
	case sent.ID == "":
		return s.end(ctx, n, "failed: the agent stopped while it carried it out, and it is not sent again: look at the machine, and ask anew", time.Time{})
	case sent.Result != "":
		return s.end(ctx, n, sent.Result, time.Time{})
	}
	return s.end(ctx, n, s.resume(ctx, t, sent), time.Time{})
}

// waiting is the command of an ID, if it waits.
func waiting(n *lifecycle.Node, id string) (lifecycle.Command, bool) {
	for _, c := range n.Commands {
		if c.ID == id {
			return c, !c.Done
		}
	}
	return lifecycle.Command{}, false
}

// resume says what a machine looks like on which a crash left a command begun.
func (s *Site) resume(ctx context.Context, t Target, sent control.Sending) string {
	m, err := s.ready(ctx, t)
	if err != nil {
		return "failed: it was begun before the agent stopped, its end is not known, and it is not sent again: " + err.Error()
	}
	r, err := m.Resume(ctx, machine.Entry{ID: sent.ID, Verb: bmc.Verb(sent.Verb), Action: bmc.Action(sent.Action), At: sent.At})
	if state := r.Last.State; state != "" {
		return "failed: " + err.Error() + "; it is not sent again, and the machine is " + string(state)
	}
	return "failed: " + err.Error() + "; it is not sent again"
}

// carry takes a command to its end. Once something was sent, the end of its time
// does not stop it: a cycle would leave the machine off. An attempt that takes the
// machine does, and so does the agent's own end.
func (s *Site) carry(ctx context.Context, n lifecycle.Need, t Target, c lifecycle.Command) error {
	m, err := s.ready(ctx, t)
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return s.end(ctx, n, inWords(bmc.Result{}, err), time.Time{})
	}
	verb, halt := context.WithCancel(context.WithoutCancel(ctx))
	defer halt()
	defer s.halts(m, halt)()
	ended := make(chan struct{})
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		s.watch(ctx, halt, c.Expires, ended)
	}()
	result, err := m.PowerBefore(verb, bmc.Verb(c.Verb), c.ID, c.Expires)
	close(ended)
	<-watched
	if err != nil && s.stopping() { // the next life finds it, and what was noted of it
		return err
	}
	return s.end(context.WithoutCancel(ctx), n, inWords(result, err), started(result))
}

// halts has halt called when the machine is taken away, until forget.
func (s *Site) halts(m *bound, halt context.CancelFunc) (forget func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	m.halt[&halt] = true
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(m.halt, &halt)
	}
}

// started is when a verb was accepted that starts the machine; zero: none was.
func started(r bmc.Result) (at time.Time) {
	for _, sent := range r.Sent {
		if sent.Action == bmc.SendOn || sent.Action == bmc.SendReset {
			at = sent.At
		}
	}
	return at
}

// watch halts a verb where its need has gone before its time was over, or where the
// agent ends.
func (s *Site) watch(ctx context.Context, halt func(), until time.Time, ended <-chan struct{}) {
	select {
	case <-ended:
		return
	case <-s.done:
		halt()
		return
	case <-ctx.Done():
	}
	if s.Door.Now().Before(until) {
		halt()
		return
	}
	select {
	case <-ended:
	case <-s.done:
		halt()
	}
}

// stopping reports whether the agent ends. Its context ends before those of its doers.
func (s *Site) stopping() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.life != nil && s.life.Err() != nil
}

// end says how a command ended, and notes a start into PXE (BOOT-11), where there was one.
func (s *Site) end(ctx context.Context, n lifecycle.Need, result string, start time.Time) error {
	_, err := s.Door.Do(ctx, control.Call{Actor: actor}, control.Target{Node: n.Node}, func(l *control.Look) (lifecycle.Input, error) {
		c, _ := waiting(&l.State.Node, n.What)
		control.SendDone(l, n.Node, n.What)
		if !start.IsZero() {
			control.Cycles(l, n.Node, c.Verb, start)
		}
		return lifecycle.CommandDone{ID: n.What, Result: result}, nil
	})
	return err
}

// off turns a machine off and proves it, for an attempt that waits for that. It
// tries until it is so, or nothing waits for it any more (RUN-6).
func (s *Site) off(ctx context.Context, n lifecycle.Need) error {
	since := s.Door.Now()
	for failed := 1; ; failed++ {
		err := s.turnOff(ctx, n)
		if err == nil || ctx.Err() != nil {
			return err
		}
		wait := run.RetryAfter(failed)
		s.Log.Warn("a machine that must be off is not proved off", "node", string(n.Node), "epoch", n.Epoch, "error", err, "retry", wait.String())
		since = s.awaitsOff(ctx, n, since, err)
		if danger := run.OffDanger - s.Door.Now().Sub(since) + time.Second; danger > 0 && danger < wait {
			if !pause.For(ctx, danger) {
				return ctx.Err()
			}
			since = s.awaitsOff(ctx, n, since, err)
			wait -= danger
		}
		if !pause.For(ctx, wait) {
			return ctx.Err()
		}
	}
}

// awaitsOff tells the log that a machine is not off, and returns since when it should be.
// Where it cannot be told now, the next failure tells it.
func (s *Site) awaitsOff(ctx context.Context, n lifecycle.Need, since time.Time, why error) time.Time {
	began, err := s.Door.AwaitsOff(ctx, actor, n.Node, n.Epoch, since, bmc.Quote(why.Error()))
	if err != nil && ctx.Err() == nil {
		s.Log.Warn("that a machine is not off could not be told", "node", string(n.Node), "error", err)
	}
	return began
}

func (s *Site) turnOff(ctx context.Context, n lifecycle.Need) error {
	st, _, err := s.Door.Read(ctx, control.Target{Node: n.Node})
	if err != nil {
		return err
	}
	m, err := s.ready(ctx, Target{n.Node, st.Node.Metal})
	if err != nil {
		return err
	}
	// It ends by two reads that began after this call (BMC-2), and so after the need
	// was seen.
	if _, err := m.Power(ctx, bmc.TurnOff, ""); err != nil {
		return err
	}
	_, err = s.Door.Do(ctx, control.Call{Actor: actor}, control.Target{Node: n.Node}, func(l *control.Look) (lifecycle.Input, error) {
		control.ProvedOff(l, n.Node, n.Epoch)
		return lifecycle.OffConfirmed{Epoch: n.Epoch}, nil
	})
	return err
}

// World adds what the agent knows of a node.
func (s *Site) World(w *lifecycle.World, n *lifecycle.Node) {
	w.Serviced = n.Claims.BMC != "" && s.Serves(&n.Metal) == nil
}
