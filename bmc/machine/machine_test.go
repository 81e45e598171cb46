package machine_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ingotmetal/ingot/bmc"
	"github.com/ingotmetal/ingot/bmc/machine"
)

func TestNewRefuses(t *testing.T) {
	f := &fake{}
	for name, c := range map[string]machine.Config{
		"no driver":  {Endpoint: bmc.Endpoint{URL: "https://h"}},
		"no URL":     {Driver: f},
		"bad option": {Driver: f, Endpoint: bmc.Endpoint{URL: "https://h", Options: []byte(`{"a":1}`)}},
	} {
		if _, err := machine.New(c); kindOf(err) != bmc.InvalidOption {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Fifty callers make one login, and never more requests at once than the driver
// allows.
func TestOneLoginForAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{latency: 100 * time.Millisecond, password: "p", limits: bmc.Limits{Concurrent: 2}}
		m, err := machine.New(machine.Config{Driver: f, Endpoint: bmc.Endpoint{URL: "https://h"}, Credentials: newVault("p")})
		if err != nil {
			t.Fatal(err)
		}
		if f.count("") != 0 {
			t.Error("New has sent something")
		}
		var all sync.WaitGroup
		for range 50 {
			all.Go(func() {
				if _, err := m.ReadPower(t.Context()); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if f.logins != 1 || f.most != 2 || f.count("read") != 50 {
			t.Errorf("%d logins, %d at once, %d reads", f.logins, f.most, f.count("read"))
		}
		for range 2 {
			if err := m.Close(t.Context()); err != nil {
				t.Error(err)
			}
		}
		if _, err := m.ReadPower(t.Context()); f.closes != 1 || kindOf(err) != bmc.Conflict {
			t.Errorf("closed %d times; then %v", f.closes, err)
		}
	})
}

// Two machines behind one BMC share its budget; one of another BMC does not wait.
func TestBudgetIsShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var gates machine.Gates
		f, other := &fake{latency: time.Second}, &fake{latency: time.Second}
		a := open(t, machine.Config{Driver: f, Gates: &gates, Endpoint: bmc.Endpoint{URL: "https://h", System: "a"}})
		b := open(t, machine.Config{Driver: f, Gates: &gates, Endpoint: bmc.Endpoint{URL: "https://h:443", System: "b"}})
		c := open(t, machine.Config{Driver: other, Gates: &gates, Endpoint: bmc.Endpoint{URL: "https://i"}})
		began := time.Now()
		var took [3]time.Duration
		var all sync.WaitGroup
		for i, m := range []*machine.Machine{a, b, c} {
			all.Go(func() {
				if _, err := m.ReadPower(t.Context()); err != nil {
					t.Error(err)
				}
				took[i] = time.Since(began)
			})
		}
		all.Wait()
		if f.most != 1 || max(took[0], took[1]) != 4*time.Second || took[2] != 2*time.Second {
			t.Errorf("%d at once, %v", f.most, took)
		}
	})
}

// A dead BMC costs its own callers a few timeouts, then nothing; others nothing.
func TestDeadBMC(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var gates machine.Gates
		f := &fake{dead: true}
		m := open(t, machine.Config{Driver: f, Gates: &gates})
		if _, err := m.ReadPower(t.Context()); kindOf(err) != bmc.Unreachable || f.count("") != 3 {
			t.Errorf("%v, %d requests", err, f.count(""))
		}
		before, began := f.count(""), time.Now()
		_, err := m.ReadPower(t.Context())
		if e, _ := asError(err); e == nil || e.Kind != bmc.Unreachable || e.Sent != bmc.SentNo || e.After <= 0 || time.Since(began) > 0 || f.count("") != before {
			t.Errorf("%v after %s", err, time.Since(began))
		}
		f.lock(func() { f.dead = false })
		time.Sleep(10 * time.Second)
		if _, err := m.ReadPower(t.Context()); err != nil {
			t.Errorf("it is back: %v", err)
		}
	})
}

// Callers who go before their turn say nothing of the BMC.
func TestQueueIsNotDeath(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{latency: 10 * time.Second}
		m := open(t, machine.Config{Driver: f})
		var all sync.WaitGroup
		all.Go(func() { _, _ = m.ReadPower(t.Context()) })
		time.Sleep(11 * time.Second) // the login is over
		for range 10 {
			all.Go(func() {
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				if _, err := m.Poll(ctx); err == nil {
					t.Error("it had a turn")
				}
			})
		}
		time.Sleep(2 * time.Second) // they have gone, and the read goes on
		if _, err := m.Poll(t.Context()); err != nil {
			t.Error(err)
		}
		all.Wait()
	})
}

// Close lets a call under way end first.
func TestCloseWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{latency: 10 * time.Second}
		m := open(t, machine.Config{Driver: f})
		var all sync.WaitGroup
		all.Go(func() {
			if _, err := m.Poll(t.Context()); err != nil {
				t.Error(err)
			}
		})
		time.Sleep(15 * time.Second)
		began := time.Now()
		if err := m.Close(t.Context()); err != nil || time.Since(began) != 5*time.Second || f.closes != 1 {
			t.Errorf("%v after %s, closed %d times", err, time.Since(began), f.closes)
		}
		all.Wait()
	})
}

// One wrong password is one login, whoever asks and how often, until the version
// changes; looking costs the BMC nothing.
func TestRefusedCredentialsLatch(t *testing.T) {
	for _, kind := range []bmc.Kind{bmc.Auth, bmc.PasswordChange} {
		synctest.Test(t, func(t *testing.T) {
			f := &fake{password: "right", latency: time.Second}
			f.fault = func(op string) error {
				if f.password != "right" {
					return nil
				}
				return &bmc.Error{Kind: kind, Op: op, Sent: bmc.SentYes}
			}
			v := newVault("wrong")
			m := open(t, machine.Config{Driver: f, Credentials: v})
			var all sync.WaitGroup
			for range 20 {
				all.Go(func() {
					if _, err := m.ReadPower(t.Context()); kindOf(err) != kind {
						t.Errorf("%v", err)
					}
				})
			}
			all.Wait()
			_, err := m.Power(t.Context(), bmc.TurnOff, "")
			if kindOf(err) != kind || f.count("") != 1 {
				t.Errorf("%v, %d requests", err, f.count(""))
			}
			f.lock(func() { f.password = "new" })
			v.change("still wrong", "1") // the version is the same: nobody has said that it changed
			if _, err := m.ReadPower(t.Context()); kindOf(err) != kind || f.count("") != 1 {
				t.Errorf("%v, %d requests", err, f.count(""))
			}
			if c, err := f.lent.Credentials.Credentials(t.Context()); kindOf(err) != kind || c.Password.Show() != "" {
				t.Errorf("a driver that logs in again by itself gets them: %v", err)
			}
			v.change("new", "2")
			if _, err := m.ReadPower(t.Context()); err != nil || f.count("login") != 2 {
				t.Errorf("other credentials: %v, %d logins", err, f.count("login"))
			}
		})
	}
}

// Machines behind one BMC share its account: a password that was refused for one is not
// tried for another, until it is another.
func TestRefusedCredentialsAreSharedByBMC(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, v, gates := &fake{password: "right"}, newVault("wrong"), &machine.Gates{}
		var all []*machine.Machine
		for _, system := range []string{"1", "2", "3", "4"} {
			c := machine.Config{Driver: f, Credentials: v, Gates: gates}
			c.Endpoint = bmc.Endpoint{URL: "https://10.0.0.7", System: system}
			all = append(all, open(t, c))
		}
		for range 3 {
			for i, m := range all {
				if _, err := m.ReadPower(t.Context()); kindOf(err) != bmc.Auth {
					t.Errorf("machine %d: %v", i, err)
				}
			}
		}
		if n := f.count("login"); n != 1 {
			t.Errorf("%d logins with a wrong password", n)
		}
		time.Sleep(10 * time.Minute)
		late := open(t, machine.Config{Driver: f, Credentials: v, Gates: gates})
		if _, err := late.ReadPower(t.Context()); kindOf(err) != bmc.Auth || f.count("login") != 2 {
			t.Errorf("a machine that is made later: %v, %d logins", err, f.count("login"))
		}
		v.change("right", "2")
		for i, m := range all {
			if _, err := m.ReadPower(t.Context()); err != nil {
				t.Errorf("machine %d with other credentials: %v", i, err)
			}
		}
	})
}

// A session whose credentials were changed meanwhile is opened once more, with
// the new ones.
func TestSessionIsReopenedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, v := &fake{password: "p"}, newVault("p")
		m := open(t, machine.Config{Driver: f, Credentials: v})
		if _, err := m.ReadPower(t.Context()); err != nil {
			t.Fatal(err)
		}
		refuse := true
		f.lock(func() {
			f.password = "q"
			f.fault = func(op string) error {
				if op == "login" {
					refuse = false
				}
				if refuse {
					return &bmc.Error{Kind: bmc.Auth, Op: op, Sent: bmc.SentYes}
				}
				return nil
			}
		})
		v.change("q", "2")
		if _, err := m.ReadPower(t.Context()); err != nil || f.logins != 2 || f.closes != 1 {
			t.Errorf("%v, %d logins, %d logouts", err, f.logins, f.closes)
		}
	})
}

func TestRetry(t *testing.T) {
	busy := &bmc.Error{Kind: bmc.Busy, Op: "x", Sent: bmc.SentYes, After: 30 * time.Second}
	never := &bmc.Error{Kind: bmc.Busy, Op: "x", Sent: bmc.SentYes, After: time.Hour}
	lost := &bmc.Error{Kind: bmc.Indeterminate, Op: "x", Sent: bmc.SentMaybe}
	tests := []struct {
		name   string
		op     string
		errs   []error // of the first requests; then it works
		within time.Duration
		tries  int
		took   time.Duration
		kind   bmc.Kind
	}{
		{"a read, busy", "read", []error{busy}, time.Hour, 2, 30 * time.Second, ""},
		{"a read, gone", "read", []error{silence, silence}, time.Hour, 3, 6 * time.Second, ""},
		{"a read, its answer lost", "read", []error{lost}, time.Hour, 2, 2 * time.Second, ""},
		{"a read, an error that is none of ours", "read", []error{errors.New("EOF")}, time.Hour, 2, 2 * time.Second, ""},
		{"a read, too often", "read", []error{lost, lost, lost, lost}, time.Hour, 3, 6 * time.Second, bmc.Indeterminate},
		{"a read, asked to wait an hour", "read", []error{never}, 2 * time.Hour, 1, 0, bmc.Busy},
		{"a read, no time to wait", "read", []error{busy}, 10 * time.Second, 1, 0, bmc.Busy},
		{"a read, garbage", "read", []error{&bmc.Error{Kind: bmc.Protocol, Op: "x", Sent: bmc.SentYes}}, time.Hour, 1, 0, bmc.Protocol},
		{"a write, busy", "set boot", []error{busy}, time.Hour, 2, 30 * time.Second, ""},
		{"a write, not sent", "set boot", []error{silence}, time.Hour, 2, 2 * time.Second, ""},
		{"a write, its answer lost", "set boot", []error{lost}, time.Hour, 1, 0, bmc.Indeterminate},
		{"a write, perhaps sent", "set boot", []error{&bmc.Error{Kind: bmc.Unreachable, Op: "x", Sent: bmc.SentMaybe}}, time.Hour, 1, 0, bmc.Unreachable},
		{"a write, an error that is none of ours", "set boot", []error{errors.New("EOF")}, time.Hour, 1, 0, bmc.Indeterminate},
	}
	for _, tt := range tests {
		synctest.Test(t, func(t *testing.T) {
			f := &fake{}
			left := tt.errs
			f.fault = func(op string) error {
				if op != tt.op || len(left) == 0 {
					return nil
				}
				defer func() { left = left[1:] }()
				return left[0]
			}
			m := open(t, machine.Config{Driver: f, Gates: &machine.Gates{Breaking: machine.Breaking{Failures: 100}}})
			ctx, cancel := context.WithTimeout(t.Context(), tt.within)
			defer cancel()
			began := time.Now()
			var err error
			if tt.op == "read" {
				_, err = m.ReadPower(ctx)
			} else {
				_, err = m.SetBoot(ctx, bmc.BootSpec{Target: bmc.BootPXE})
			}
			if kindOf(err) != tt.kind || f.count(tt.op) != tt.tries || time.Since(began) != tt.took {
				t.Errorf("%s: %v, %d tries in %s", tt.name, err, f.count(tt.op), time.Since(began))
			}
		})
	}
}

// What a driver lets pass and what it lacks are errors.
func TestThinCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := open(t, machine.Config{Driver: &fake{}})
		if _, err := m.SetBoot(t.Context(), bmc.BootSpec{Target: bmc.BootPXE, Life: bmc.Persistent}); kindOf(err) != bmc.NotReached {
			t.Errorf("an override that does not stand: %v", err)
		}
		if s, err := m.ReadBoot(t.Context()); err != nil || s.Target != bmc.BootNone {
			t.Errorf("%+v, %v", s, err)
		}
		if p, err := m.Probe(t.Context()); err != nil || p.System != "1" {
			t.Errorf("%+v, %v", p, err)
		}
		_, slots := m.MediaSlots(t.Context())
		_, insert := m.InsertMedia(t.Context(), bmc.MediaSpec{})
		_, inspect := m.Inspect(t.Context())
		_, health := m.Health(t.Context())
		_, firmware := m.Firmware(t.Context())
		_, _, events := m.Events(t.Context(), "")
		for _, err := range []error{slots, insert, inspect, health, firmware, events, m.EjectMedia(t.Context(), "1", false)} {
			if kindOf(err) != bmc.Unsupports {
				t.Errorf("what the driver lacks: %v", err)
			}
		}
	})
}

// While a password is rotated nobody else is let to the BMC, and the next login
// takes the new one.
func TestRotatePausesAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var gates machine.Gates
		f, v := &fake{password: "p", latency: time.Second, limits: bmc.Limits{Concurrent: 9}}, newVault("p")
		m := open(t, machine.Config{Driver: f, Credentials: v, Gates: &gates})
		other := open(t, machine.Config{Driver: f, Credentials: v, Gates: &gates})
		stop, polls := make(chan struct{}), sync.WaitGroup{}
		for _, m := range []*machine.Machine{m, other} {
			polls.Go(func() {
				for n := 0; ; n++ {
					select {
					case <-stop:
						return
					default:
					}
					if _, err := m.ReadPower(t.Context()); err != nil {
						t.Error(err)
					}
				}
			})
		}
		time.Sleep(3500 * time.Millisecond)
		rotated := false
		err := m.Rotate(t.Context(), bmc.Keep("q"), func(_ context.Context, outcome error) error {
			before := f.count("")
			time.Sleep(time.Minute) // a slow store
			if f.count("") != before || f.requests[before-1] != "rotate" || outcome != nil {
				t.Errorf("%v: others were let in: %v", outcome, f.requests[before-1:])
			}
			v.change("q", "2")
			rotated = true
			return nil
		})
		if err != nil || !rotated {
			t.Error(err)
		}
		time.Sleep(5 * time.Second)
		close(stop)
		polls.Wait()
		if f.logins != 3 {
			t.Errorf("%d logins, want one of each and one after the rotation", f.logins)
		}
		broken := errors.New("the store is full, q")
		if err := m.Rotate(t.Context(), bmc.Keep("qqqq"), func(context.Context, error) error { return broken }); err == nil {
			t.Error("a settlement that failed is no error")
		}
	})
}

// A driver, a BMC and a source that say passwords do not get them into an error
// or a log.
func TestPasswordsAreRedacted(t *testing.T) {
	const password = `h"unter 2/ü`
	basic := base64.StdEncoding.EncodeToString([]byte("root:" + password))
	leaks := []error{
		&bmc.Error{Kind: bmc.Protocol, Op: "read", Sent: bmc.SentYes, Why: "bad " + password},
		&bmc.Error{Kind: bmc.Protocol, Op: "read", Sent: bmc.SentYes, Do: "try " + password},
		&bmc.Error{Kind: bmc.Protocol, Op: password, Sent: bmc.SentYes},
		&bmc.Error{Kind: bmc.Protocol, Op: "read", Sent: bmc.SentYes, Err: fmt.Errorf("dial: %w", errors.New(password))},
		&bmc.Error{Kind: bmc.Auth, Op: "read", Sent: bmc.SentYes, Why: "Authorization: Basic " + basic},
		&bmc.Error{Kind: bmc.Protocol, Op: "read", Sent: bmc.SentYes, Why: `{"Password":"h\"unter 2/ü"}`},
		&bmc.Error{Kind: bmc.Protocol, Op: "read", Sent: bmc.SentYes, Why: "?p=h%22unter+2%2F%C3%BC"},
		&bmc.Error{Kind: bmc.Protocol, Op: "read", Sent: bmc.SentYes, Why: strings.Repeat("x", bmc.MaxWhy-8) + password},
		errors.Join(errors.New("a"), errors.New(password)),
	}
	for i, leak := range leaks {
		synctest.Test(t, func(t *testing.T) {
			var log bytes.Buffer
			f := &fake{password: password}
			m := open(t, machine.Config{Driver: f, Credentials: newVault(password), Log: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))})
			f.fault = func(op string) error {
				if op == "read" {
					return leak
				}
				return nil
			}
			_, read := m.Poll(t.Context())
			_, power := m.Power(t.Context(), bmc.TurnOff, "")
			said := log.String()
			for _, err := range []error{read, power} {
				if err == nil {
					t.Fatal("no error")
				}
				for ; err != nil; err = errors.Unwrap(err) {
					said += fmt.Sprintf("%v %+v\n", err, err)
				}
			}
			for _, word := range []string{"unter 2", basic, "unter+2", "h%22"} {
				if strings.Contains(said, word) {
					t.Errorf("leak %d: %s", i, said)
				}
			}
			if want := kindOf(leak); want != "" && kindOf(read) != want {
				t.Errorf("leak %d: the kind is lost: %v", i, read)
			}
		})
	}
}

// Sessions beyond the budget are closed, the one that was used least lately
// first.
func TestIdleSessions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		idle := &machine.Idle{Keep: 3}
		var fakes []*fake
		var machines []*machine.Machine
		read := func(i int) {
			if _, err := machines[i].ReadPower(t.Context()); err != nil {
				t.Error(err)
			}
			idle.Wait()
		}
		for i := range 6 {
			fakes = append(fakes, &fake{})
			machines = append(machines, open(t, machine.Config{Driver: fakes[i], Idle: idle, Endpoint: bmc.Endpoint{URL: fmt.Sprint("https://10.0.0.", i)}}))
		}
		for _, i := range []int{0, 1, 2, 0, 3, 4, 0, 5} {
			read(i)
		}
		for i, closes := range []int{0, 1, 1, 1, 0, 0} {
			if fakes[i].closes != closes || fakes[i].logins != 1 {
				t.Errorf("machine %d: closed %d times, want %d", i, fakes[i].closes, closes)
			}
		}
		read(1)
		if fakes[1].logins != 2 || idle.Open() != 3 {
			t.Errorf("%d logins, %d open", fakes[1].logins, idle.Open())
		}
	})
}
