package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ingotmetal/ingot/cmd/internal/pin"
	"github.com/ingotmetal/ingot/cmd/internal/sessions"
	"github.com/ingotmetal/ingot/liveness/session"
)

// States of a machine's row.
const (
	approvedState = "approved"       // its setup is complete (SET-10)
	waitingState  = "awaiting_setup" // it waits for an operator (REG-8)
)

// An enrolment is a machine that announces itself to its booter, over as many
// sessions as it takes.
type enrolment struct {
	*running
	*work
	said  json.RawMessage // the inventory that was announced last
	waits atomic.Bool     // the site has it, and waits for an approval
}

// enrol announces the machine until its setup is done and it restarts.
func (r *running) enrol(ctx context.Context) error {
	e := &enrolment{running: r, work: newWork()}
	var installs sync.WaitGroup
	defer installs.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	installs.Go(func() { e.work.run(ctx, r.install) })
	wait := backoff{entropy: r.Entropy}
	for {
		done, welcomed, err := e.meet(ctx)
		switch {
		case done:
			return r.restart(ctx)
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case welcomed:
			wait.reset()
		}
		r.Log.Warn("the session with the booter ended", "booter", r.Config.Booter, "error", err)
		if !wait.wait(ctx) {
			return context.Cause(ctx)
		}
	}
}

// restart ends this life of the machine: it is set up.
func (r *running) restart(ctx context.Context) error {
	r.Log.Info("the setup is complete, and the machine restarts", "machine", r.name)
	r.tell(Told{What: "approved"})
	rec, err := load(r.Keep, r.name)
	if err == nil && rec != nil {
		rec.Restarted = true
		err = save(r.Keep, *rec)
	}
	if err != nil {
		r.Log.Warn("that the machine restarts is not kept; it may restart once more", "error", err)
	}
	wait := backoff{entropy: r.Entropy}
	for {
		err := r.Machine.Restart()
		if err == nil {
			return nil
		}
		r.Log.Error("the machine does not restart", "error", err, "next", "restart it by hand; its setup is complete")
		if !wait.wait(ctx) {
			return context.Cause(ctx)
		}
	}
}

// meet is one session with the booter. done says that the setup is complete.
func (e *enrolment) meet(ctx context.Context) (done, welcomed bool, err error) {
	addresses, err := macs(e.Machine)
	if err != nil {
		return false, false, err
	}
	link, err := sessions.Dial(ctx, sessions.Target{URL: "https://" + e.Config.Booter, Pins: []pin.Pin{e.Config.BooterPin},
		Hello: session.Hello{Server: e.name, Key: e.key.Public().String(), MACs: addresses}}, e.Dial, e.Now)
	if err != nil {
		return false, false, err
	}
	var teller sync.WaitGroup
	defer teller.Wait() // it ends with the link
	for s := range link.Events() {
		if done, err = e.hear(link, s); done || err != nil {
			return done, welcomed, err
		}
		if _, ok := s.(session.Welcomed); ok { // it comes once
			teller.Go(func() { e.teller(link) })
			welcomed = true
		}
	}
	return false, welcomed, link.Err()
}

// hear takes what the booter says. It runs on the session's owner.
func (e *enrolment) hear(link *sessions.Agent, s session.Said) (done bool, err error) {
	switch s := s.(type) {
	case session.Challenged:
		nonce, err := e.key.OpenNonce(e.name, s.Sealed)
		if err != nil {
			return false, err
		}
		link.Machine().Prove(nonce)
	case session.Welcomed:
		if err := e.Machine.SetClock(s.Time); err != nil {
			return false, &ClockUnset{err}
		}
	case session.Announced:
		e.waits.Store(s.State == waitingState)
		e.Log.Info("announced", "state", s.State)
		e.tell(Told{What: "state", State: s.State})
	case session.Setup:
		if e.take(s) {
			e.Log.Info("a setup begins", "epoch", s.Epoch)
		}
	case session.Done:
		return e.done(s), nil
	}
	return false, nil
}

// done takes the booter's answer to a sentinel or a failure, and reports whether the
// machine is set up.
func (e *enrolment) done(d session.Done) bool {
	if d.State == "setting_up" {
		return false // not decided yet
	}
	was := e.settle(d.Epoch)
	switch {
	case was.phase == written && d.State == approvedState:
		return true
	case was.phase == written:
		e.Log.Error("the setup was written, and the site has ended it meanwhile", "epoch", d.Epoch, "state", d.State, "next", "approve it again")
		e.tell(Told{What: "failed", Epoch: d.Epoch, Why: "the site has ended the setup"})
	case was.phase == given:
		e.Log.Error("the setup failed", "epoch", d.Epoch, "error", was.why, "next", "approve it again")
		e.tell(Told{What: "failed", Epoch: d.Epoch, Why: was.why})
	}
	return false
}

// How often what is said already is said again. An announce in a state other than
// awaiting_setup may have changed nothing (REG-8): while an attempt of an agent that is
// gone runs, and after its deadline the row still has that agent's key (SET-12). Once
// the site waits for an approval, a rare one makes up for a row that was deleted or
// restored from an older copy.
const (
	repeatEvery = 30 * time.Second
	renewEvery  = 20 // of those
)

// teller tells the booter what changes, until the session ends.
func (e *enrolment) teller(link *sessions.Agent) {
	survey := time.NewTicker(orElse(e.Survey, 30*time.Second))
	defer survey.Stop()
	repeat := time.NewTicker(repeatEvery)
	defer repeat.Stop()
	var told status
	open := e.announce(link, true)
	for n := 1; open; {
		now := e.status()
		if now != told {
			open = e.report(link, now)
			if open = open && e.after(link, told, now); open {
				told = now
			}
			continue
		}
		select {
		case <-e.changed:
		case <-survey.C:
			open = e.announce(link, false)
		case <-repeat.C: // an answer may be lost at the booter
			told = status{}
			if now.phase == idle && (!e.waits.Load() || n%renewEvery == 0) {
				open = e.announce(link, true)
			}
			n++
		case <-link.Done():
			return
		}
	}
}

// after is what follows from a report: a setup that was let go is announced anew, and
// progress is told a few times a second.
func (e *enrolment) after(link *sessions.Agent, was, now status) bool {
	switch {
	case now.phase == idle && was.phase != idle:
		return e.announce(link, true)
	case now.phase == writing:
		t := time.NewTimer(pace)
		defer t.Stop()
		select {
		case <-t.C:
		case <-link.Done():
			return false
		}
	}
	return true
}

// report tells the booter how far the setup is. false: the session has ended.
func (e *enrolment) report(link *sessions.Agent, s status) bool {
	switch s.phase {
	case writing:
		if s.progress.Epoch == 0 {
			return true
		}
		p := s.progress
		e.tell(Told{What: "progress", Epoch: p.Epoch, Step: p.Step, Done: p.Done, Total: p.Total})
		return link.Do(func(m *session.Agent) { m.Progress(p) })
	case written:
		return link.Do(func(m *session.Agent) { m.Sentinel(s.epoch) })
	case given:
		return link.Do(func(m *session.Agent) { m.Failed(s.epoch, s.why) })
	}
	return true
}

// announce tells the inventory: always, or where it has changed. While a setup is in
// hand the disks are in change, and the last inventory stands. false: the session has
// ended.
func (e *enrolment) announce(link *sessions.Agent, always bool) bool {
	said := e.said
	if said == nil || e.status().phase == idle {
		var err error
		if said, err = sysinfo(e.Machine, e.name, e.Log); err != nil {
			e.Log.Error("nothing is announced", "error", err)
			return true
		}
	}
	if !always && bytes.Equal(said, e.said) {
		return true
	}
	e.said = said
	return link.Do(func(m *session.Agent) { m.Announce(said) })
}

func orElse(d, or time.Duration) time.Duration {
	if d == 0 {
		return or
	}
	return d
}

// refusedForGood reports whether the control plane says that a key is dead.
func refusedForGood(err error) bool {
	coded, ok := errors.AsType[interface {
		error
		Code() string
	}](err)
	return ok && (coded.Code() == "UNAUTHENTICATED" || coded.Code() == "ACCESS_DENIED")
}
