package machine_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ingotmetal/ingot/bmc"
	"github.com/ingotmetal/ingot/bmc/machine"
)

// A diary is a journal in memory that notes what the BMC had been sent by then.
type diary struct {
	f     *fake
	err   error
	begun []machine.Entry
	ended []string
	sent  int // when it was begun
}

func (d *diary) Begun(_ context.Context, e machine.Entry) error {
	if slices.ContainsFunc(d.begun, func(b machine.Entry) bool { return b.ID == e.ID }) {
		return errors.New("it is there already")
	}
	if d.err == nil {
		d.begun, d.sent = append(d.begun, e), len(d.f.sent())
	}
	return d.err
}

func (d *diary) Ended(ctx context.Context, e machine.Entry, r bmc.Result, err error) error {
	d.ended = append(d.ended, fmt.Sprint(e.ID, " ", r.Changed, " ", kindOf(err), " ", ctx.Err()))
	return nil
}

// sent are the actions that left for the BMC.
func (f *fake) sent() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(f.requests), func(r string) bool {
		return !slices.ContainsFunc(bmc.Actions(), func(a bmc.Action) bool { return string(a) == r })
	})
}

// Each verb, on a machine that runs and on one that is off, in real time.
func TestVerbs(t *testing.T) {
	tests := []struct {
		verb bmc.Verb
		on   bool
		sent string
		ends bool
		kind bmc.Kind
	}{
		{bmc.TurnOn, true, "[]", true, ""},
		{bmc.TurnOn, false, "[on]", true, ""},
		{bmc.TurnOff, true, "[off]", false, ""},
		{bmc.TurnOff, false, "[]", false, ""},
		{bmc.GracefulOff, true, "[graceful-off]", false, ""},
		{bmc.GracefulOff, false, "[]", false, ""},
		{bmc.Reset, true, "[reset]", true, ""},
		{bmc.Reset, false, "[]", false, bmc.Conflict},
		{bmc.GracefulRestart, true, "[graceful-off on]", true, ""},
		{bmc.GracefulRestart, false, "[]", false, bmc.Conflict},
		{bmc.Cycle, true, "[off on]", true, ""},
		{bmc.Cycle, false, "[on]", true, ""},
		{bmc.NMI, true, "[nmi]", true, ""},
		{bmc.NMI, false, "[]", false, bmc.Conflict},
	}
	for _, tt := range tests {
		synctest.Test(t, func(t *testing.T) {
			f := &fake{on: tt.on, latency: 200 * time.Millisecond, offAfter: 20 * time.Second, onAfter: 46 * time.Second}
			d := &diary{f: f}
			m := open(t, machine.Config{Driver: f, Journal: d})
			r, err := m.Power(t.Context(), tt.verb, "r1")
			if kindOf(err) != tt.kind || fmt.Sprint(f.sent()) != tt.sent || f.on != tt.ends || r.Changed != (tt.sent != "[]") {
				t.Errorf("%s, on %v: %v, sent %v, ends on %v: %+v", tt.verb, tt.on, err, f.sent(), f.on, r)
			}
			wants := !tt.verb.Repeatable() && tt.sent != "[]"
			if wants != (len(d.begun) == 1 && len(d.ended) == 1) || d.sent != 0 || !wants && len(d.begun) > 0 {
				t.Errorf("%s, on %v: the journal has %+v and %v", tt.verb, tt.on, d.begun, d.ended)
			}
		})
	}
}

// A BMC that restarts in the middle of a cycle, for longer than the breaker's
// patience, does not end it.
func TestRestartInTheMiddle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{on: true, latency: 200 * time.Millisecond, offAfter: 5 * time.Second, onAfter: 5 * time.Second}
		m := open(t, machine.Config{Driver: f})
		go func() {
			time.Sleep(4 * time.Second)
			f.lock(func() { f.dead = true })
			time.Sleep(200 * time.Second)
			f.lock(func() { f.dead = false })
		}()
		r, err := m.Power(t.Context(), bmc.Cycle, "")
		if err != nil || fmt.Sprint(f.sent()) != "[off on]" || r.Last.State != bmc.On {
			t.Errorf("%v, sent %v: %+v", err, f.sent(), r)
		}
	})
}

func TestJournalStopsWhatItCannotKeep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{on: true}
		d := &diary{f: f, err: errors.New("the disk is full")}
		m := open(t, machine.Config{Driver: f, Journal: d})
		for _, v := range []bmc.Verb{bmc.Reset, bmc.NMI, bmc.Cycle, bmc.GracefulRestart} {
			_, err := m.Power(t.Context(), v, "r1")
			if e, _ := asError(err); e == nil || e.Sent != bmc.SentNo || !errors.Is(err, d.err) || len(f.sent()) > 0 {
				t.Errorf("%s: %v, sent %v", v, err, f.sent())
			}
		}
		if _, err := m.Power(t.Context(), bmc.TurnOff, "r1"); err != nil {
			t.Errorf("off needs no journal: %v", err)
		}
		f.lock(func() { f.on, d.err = true, nil })
		if _, err := m.Power(t.Context(), bmc.Reset, "r2"); err != nil {
			t.Error(err)
		}
		if _, err := m.Power(t.Context(), bmc.Reset, "r2"); err == nil || f.count("reset") != 1 {
			t.Errorf("the same request twice: %v, %d sent", err, f.count("reset"))
		}
	})
}

// A reset whose answer is lost is not sent again, by nobody, and after a crash
// it is only looked at.
func TestLostAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{on: true}
		f.after = func(op string) error {
			if op == "reset" || op == "off" {
				return &bmc.Error{Kind: bmc.Indeterminate, Op: op, Sent: bmc.SentMaybe}
			}
			return nil
		}
		d := &diary{f: f}
		m := open(t, machine.Config{Driver: f, Journal: d})
		r, err := m.Power(t.Context(), bmc.Reset, "r1")
		if kindOf(err) != bmc.Indeterminate || !r.Changed || f.count("reset") != 1 || fmt.Sprint(d.ended) != "[r1 true indeterminate <nil>]" {
			t.Errorf("%v, %d sent, %v", err, f.count("reset"), d.ended)
		}
		if r, err := m.Power(t.Context(), bmc.TurnOff, "r2"); err != nil || f.count("off") != 1 || !r.Changed {
			t.Errorf("off shows in the machine: %v, %d sent", err, f.count("off"))
		}
		before := len(f.sent())
		r, err = m.Resume(t.Context(), machine.Entry{ID: "r0", Verb: bmc.Cycle, Action: bmc.SendOff})
		e, _ := asError(err)
		if e == nil || e.Kind != bmc.Indeterminate || e.Sent != bmc.SentMaybe || r.Last.State != bmc.Off || len(f.sent()) != before || d.ended[1] != "r0 true indeterminate <nil>" {
			t.Errorf("%v, %+v, %v", err, r, d.ended)
		}
	})
}

// While a verb runs another is a conflict that names it. Off takes over, lets the
// request under way end, and is not undone by it.
func TestOffTakesOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{on: true, stubborn: true, latency: 2 * time.Second}
		m := open(t, machine.Config{Driver: f})
		var all sync.WaitGroup
		all.Go(func() {
			r, err := m.Power(t.Context(), bmc.GracefulOff, "")
			e, _ := asError(err)
			if e == nil || e.Kind != bmc.Conflict || e.Why != "off took it over" || e.Sent != bmc.SentYes || !r.Changed {
				t.Errorf("what was taken over: %v, %+v", err, r)
			}
		})
		time.Sleep(time.Minute)
		for _, v := range []bmc.Verb{bmc.TurnOn, bmc.Cycle, bmc.GracefulOff} {
			_, err := m.Power(t.Context(), v, "")
			if e, _ := asError(err); e == nil || e.Kind != bmc.Conflict || e.Why != "graceful-off is running" || e.Sent != bmc.SentNo {
				t.Errorf("%s beside it: %v", v, err)
			}
		}
		all.Go(func() {
			if _, err := m.Power(t.Context(), bmc.TurnOff, ""); err != nil {
				t.Error(err)
			}
		})
		time.Sleep(5 * time.Second)
		if _, err := m.Power(t.Context(), bmc.TurnOff, ""); kindOf(err) != bmc.Conflict {
			t.Errorf("off beside off: %v", err)
		}
		all.Wait()
		if fmt.Sprint(f.sent()) != "[graceful-off off]" {
			t.Errorf("sent %v", f.sent())
		}
		if _, err := m.Power(t.Context(), bmc.TurnOn, ""); err != nil {
			t.Errorf("afterwards: %v", err)
		}
	})
}

// Off that comes while "on" is on the wire waits for its end: else the machine
// would turn on after it was proved off.
func TestOffWaitsForTheRequestUnderWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{latency: 10 * time.Second}
		m := open(t, machine.Config{Driver: f})
		var all sync.WaitGroup
		all.Go(func() { _, _ = m.Power(t.Context(), bmc.TurnOn, "") })
		time.Sleep(35 * time.Second) // login, probe, read, and half of on
		if _, err := m.Power(t.Context(), bmc.TurnOff, ""); err != nil {
			t.Error(err)
		}
		all.Wait()
		if fmt.Sprint(f.sent()) != "[on off]" || f.on {
			t.Errorf("sent %v, on %v", f.sent(), f.on)
		}
	})
}

// A caller that goes gets what was done by then, and the machine is free.
func TestCallerGoes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{on: true, stubborn: true}
		m := open(t, machine.Config{Driver: f})
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		r, err := m.Power(ctx, bmc.GracefulOff, "")
		e, _ := asError(err)
		if e == nil || e.Kind != bmc.NotReached || e.Sent != bmc.SentYes || !errors.Is(err, context.DeadlineExceeded) || len(r.Sent) != 1 {
			t.Errorf("%v, %+v", err, r)
		}
		if _, err := m.Power(t.Context(), bmc.TurnOff, ""); err != nil {
			t.Error(err)
		}
	})
}

func TestCloseEndsAVerb(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{on: true, stubborn: true, latency: time.Second}
		m := open(t, machine.Config{Driver: f})
		var all sync.WaitGroup
		all.Go(func() {
			if _, err := m.Power(t.Context(), bmc.GracefulOff, ""); kindOf(err) != bmc.Conflict {
				t.Errorf("%v", err)
			}
		})
		time.Sleep(30 * time.Second)
		if err := m.Close(t.Context()); err != nil {
			t.Error(err)
		}
		all.Wait()
		if f.closes != 1 || f.inFlight != 0 {
			t.Errorf("closed %d times, %d under way", f.closes, f.inFlight)
		}
	})
}

// ConfirmOff reads and sends nothing.
func TestConfirmOff(t *testing.T) {
	tests := []struct {
		name string
		f    *fake
		kind bmc.Kind
		took time.Duration
	}{
		{"off", &fake{}, "", 3 * time.Second},
		{"on", &fake{on: true}, bmc.Conflict, 0},
	}
	for _, tt := range tests {
		synctest.Test(t, func(t *testing.T) {
			m := open(t, machine.Config{Driver: tt.f})
			began := time.Now()
			o, err := m.ConfirmOff(t.Context(), began)
			if kindOf(err) != tt.kind || time.Since(began) != tt.took || len(tt.f.sent()) > 0 {
				t.Errorf("%s: %v after %s, sent %v, %+v", tt.name, err, time.Since(began), tt.f.sent(), o)
			}
		})
	}
	synctest.Test(t, func(t *testing.T) { // one that comes back between the reads
		f := &fake{changes: time.Now().Add(2 * time.Second)}
		m := open(t, machine.Config{Driver: f})
		if _, err := m.ConfirmOff(t.Context(), time.Now()); kindOf(err) != bmc.Conflict {
			t.Errorf("%v", err)
		}
	})
	synctest.Test(t, func(t *testing.T) { // its caller goes
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := open(t, machine.Config{Driver: &fake{}}).ConfirmOff(ctx, time.Now()); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v", err)
		}
	})
}

// What a machine cannot do is refused with what it can.
func TestPowerUnsupported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{on: true, lacks: []bmc.Feature{bmc.PowerGraceful}}
		_, err := open(t, machine.Config{Driver: f}).Power(t.Context(), bmc.GracefulRestart, "")
		if e, _ := asError(err); e == nil || e.Kind != bmc.Unsupports || e.Do != "the machine does: on, off, reset, cycle, nmi" || len(f.sent()) > 0 {
			t.Errorf("%v", err)
		}
	})
}

// A machine that was told to start and is not there yet is off to every read. Off is
// forced all the same, whether off takes over or comes after a caller who went, and the
// machine stays off; a proof without a request waits.
func TestOffAfterAStartThatIsUnderWay(t *testing.T) {
	for name, goes := range map[string]bool{"off takes over": false, "its caller went": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := &fake{onAfter: 40 * time.Second}
				gates := &machine.Gates{}
				m := open(t, machine.Config{Driver: f, Gates: gates})
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				var on sync.WaitGroup
				on.Go(func() { _, _ = m.Power(ctx, bmc.TurnOn, "") })
				time.Sleep(5 * time.Second)
				if goes {
					cancel()
					on.Wait()
				}
				if goes {
					m = open(t, machine.Config{Driver: f, Gates: gates}) // of a row that changed
				}
				r, err := m.Power(t.Context(), bmc.TurnOff, "")
				if err != nil || !r.Changed || r.Last.State != bmc.Off {
					t.Errorf("%+v, %v", r, err)
				}
				on.Wait()
				time.Sleep(5 * time.Minute)
				if o, err := m.ReadPower(t.Context()); err != nil || o.State != bmc.Off {
					t.Errorf("it was proved off, and is %s, %v", o.State, err)
				}
				if r, err := m.Power(t.Context(), bmc.TurnOff, ""); err != nil || r.Changed {
					t.Errorf("off again: %+v, %v", r, err)
				}
			})
		})
	}
}

// While a start is under way nothing proves that the machine is off.
func TestNoProofWhileItStarts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{onAfter: 40 * time.Second}
		m := open(t, machine.Config{Driver: f})
		var on sync.WaitGroup
		on.Go(func() { _, _ = m.Power(t.Context(), bmc.TurnOn, "") })
		time.Sleep(5 * time.Second)
		if _, err := m.ConfirmOff(t.Context(), time.Now()); kindOf(err) != bmc.Conflict {
			t.Errorf("%v", err)
		}
		on.Wait()
	})
}

// A command that waits for its turn until its time is over is not sent.
func TestNothingIsSentTooLateByTheGate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{on: true, latency: 10 * time.Second}
		gates := &machine.Gates{Limits: bmc.Limits{Concurrent: 1}}
		m := open(t, machine.Config{Driver: f, Gates: gates})
		if _, err := m.ReadPower(t.Context()); err != nil { // it is logged in
			t.Fatal(err)
		}
		var others sync.WaitGroup
		until := time.Now().Add(15 * time.Second)
		for i := range 4 {
			c := machine.Config{Driver: f, Gates: gates}
			c.Endpoint = bmc.Endpoint{URL: "https://10.0.0.7", System: fmt.Sprint(i)}
			other := open(t, c)
			others.Go(func() { _, _ = other.ReadPower(t.Context()) })
		}
		_, err := m.PowerBefore(t.Context(), bmc.Reset, "r", until)
		if e, _ := asError(err); e == nil || e.Sent != bmc.SentNo || len(f.sent()) > 0 {
			t.Errorf("%v, sent %v", err, f.sent())
		}
		others.Wait()
	})
}

func TestNothingIsSentTooLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{on: true}
		m := open(t, machine.Config{Driver: f, Journal: &diary{f: f}})
		for _, v := range bmc.Verbs() {
			if v == bmc.TurnOn {
				continue // it is on: nothing is to be sent
			}
			_, err := m.PowerBefore(t.Context(), v, "late-"+string(v), time.Now())
			if e, _ := asError(err); e == nil || e.Kind != bmc.NotReached || e.Sent != bmc.SentNo || len(f.sent()) > 0 {
				t.Errorf("%s: %v, sent %v", v, err, f.sent())
			}
		}
		// Once the power is gone, the end of its time does not keep a cycle from turning
		// the machine on again.
		if r, err := m.PowerBefore(t.Context(), bmc.Cycle, "c", time.Now().Add(time.Second)); err != nil || r.Last.State != bmc.On {
			t.Errorf("a cycle that began in time: %+v, %v", r, err)
		}
	})
}
