package redfish_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ingotmetal/ingot/bmc"
	"github.com/ingotmetal/ingot/bmc/bmcsim"
	"github.com/ingotmetal/ingot/bmc/redfish"
)

// A barrier is a gate that refuses all once a request of a method and path was
// seen.
type barrier struct {
	r            *rig
	method, path string
	with         error
}

func (b *barrier) Enter(context.Context) (func(), error) {
	if b.r.count(b.method, b.path) > 0 {
		return nil, b.with
	}
	return func() {}, nil
}

// shutAfter opens a session of a BMC that cannot be asked any more once it has
// accepted a write.
func shutAfter(t *testing.T, o bmcsim.Options, method, path string, with error) (*rig, *redfish.Session) {
	t.Helper()
	r := newRig(t, dell, o)
	r.gate = &barrier{r, method, path, with}
	s, err := r.tryOpen()
	must(t, err)
	t.Cleanup(func() { _ = s.Close(context.Background()) })
	return r, s.(*redfish.Session)
}

// refusals are how a request that is not sent ends.
func refusals() map[string]error {
	return map[string]error{
		"no turn":      errors.New("its turn did not come"),
		"open breaker": &bmc.Error{Kind: bmc.Unreachable, Sent: bmc.SentNo, Why: "it does not answer"},
		"full":         &bmc.Error{Kind: bmc.Busy, Sent: bmc.SentNo, After: time.Minute},
		"latched":      &bmc.Error{Kind: bmc.Auth, Sent: bmc.SentNo},
		"unknown host": &bmc.Error{Kind: bmc.PeerIdentity, Sent: bmc.SentNo},
	}
}

// TestAcceptedIsNotSentAgain: whatever happens after a write was accepted, the
// error says that it was sent, and not that it may be sent again.
func TestAcceptedIsNotSentAgain(t *testing.T) {
	tasks := bmcsim.Options{Tasks: bmcsim.Tasks{For: []string{"*/Actions/*"}, Takes: 10 * time.Second}}
	for _, c := range []struct {
		name, method, path string
		o                  bmcsim.Options
		do                 func(context.Context, *redfish.Session) error
	}{
		{"reset", "POST", "ComputerSystem.Reset", tasks, func(ctx context.Context, s *redfish.Session) error {
			_, err := s.SendPower(ctx, bmc.SendReset)
			return err
		}},
		{"nmi", "POST", "ComputerSystem.Reset", tasks, func(ctx context.Context, s *redfish.Session) error {
			_, err := s.SendPower(ctx, bmc.SendNMI)
			return err
		}},
		{"boot", "PATCH", "", bmcsim.Options{}, func(ctx context.Context, s *redfish.Session) error {
			_, err := s.SetBoot(ctx, pxe())
			return err
		}},
		{"insert", "POST", "InsertMedia", bmcsim.Options{}, func(ctx context.Context, s *redfish.Session) error {
			_, err := s.InsertMedia(ctx, bmc.MediaSpec{Image: iso})
			return err
		}},
		{"insert as a task", "POST", "InsertMedia", tasks, func(ctx context.Context, s *redfish.Session) error {
			_, err := s.InsertMedia(ctx, bmc.MediaSpec{Image: iso})
			return err
		}},
	} {
		for name, with := range refusals() {
			t.Run(c.name+", "+name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					r, s := shutAfter(t, c.o, c.method, c.path, with)
					e, ok := errors.AsType[*bmc.Error](c.do(t.Context(), s))
					if !ok || e.Sent != bmc.SentYes || e.Again() || e.Kind != bmc.NotReached {
						t.Errorf("%+v", e)
					}
					if n := r.count(c.method, c.path); n != 1 {
						t.Errorf("sent %d times", n)
					}
				})
			})
		}
	}
}

// TestCourseOfALostTask: a reset whose task cannot be asked is sent once.
func TestCourseOfALostTask(t *testing.T) {
	for name, with := range refusals() {
		if name == "full" {
			continue // the task is asked again
		}
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, dell, bmcsim.Options{Tasks: bmcsim.Tasks{For: []string{"*/Actions/*"}, Takes: 10 * time.Second}})
				one := &oneRefusal{barrier: barrier{r, "POST", "ComputerSystem.Reset", with}}
				r.gate = one
				result, err := drive(t, r.open(), bmc.Reset)
				if e := wantKind(t, err, bmc.NotReached); e.Sent != bmc.SentYes || !result.Changed {
					t.Errorf("%+v, %+v", e, result)
				}
				if n := r.count("POST", "ComputerSystem.Reset"); n != 1 {
					t.Errorf("sent %d times", n)
				}
			})
		})
	}
}

// A oneRefusal refuses once.
type oneRefusal struct {
	barrier
	done bool
}

func (o *oneRefusal) Enter(ctx context.Context) (func(), error) {
	leave, err := o.barrier.Enter(ctx)
	if err == nil || o.done {
		return func() {}, nil
	}
	o.done = true
	return leave, err
}

// TestTaskThatCannotBeRead: the answers about a task that say nothing of it.
func TestTaskThatCannotBeRead(t *testing.T) {
	for _, status := range []int{401, 403} {
		synctest.Test(t, func(t *testing.T) {
			o := rule("GET", "*Task*", bmcsim.Effect{Status: status})
			o.Tasks = bmcsim.Tasks{For: []string{"*/Actions/*"}, Takes: 10 * time.Second}
			_, err := newRig(t, dell, o).open().SendPower(t.Context(), bmc.SendReset)
			if e := wantKind(t, err, bmc.NotReached); e.Sent != bmc.SentYes {
				t.Errorf("%d: %+v", status, e)
			}
		})
	}
}

// TestBusyInASuccess: a reset that was accepted and whose body says busy is not
// sent again.
func TestBusyInASuccess(t *testing.T) {
	body := `{"error":{"code":"Base.1.0.ResourceInUse","message":"in use"}}`
	_, err := newRig(t, dell, rule("POST", "*ComputerSystem.Reset", bmcsim.Effect{Status: 200, Answer: body})).open().SendPower(t.Context(), bmc.SendReset)
	if e := wantKind(t, err, bmc.NotReached); e.Sent != bmc.SentYes {
		t.Errorf("%+v", e)
	}
}

// TestBeforeTheWrite: a read or login that is lost before a write leaves no doubt.
func TestBeforeTheWrite(t *testing.T) {
	lost := bmcsim.Effect{Drop: bmcsim.DropAfter}
	nth := func(method, path string, n int) bmcsim.Options {
		o := rule(method, path, lost)
		o.Rules[0].After = n - 1 // also what the transport sends again
		return o
	}
	info := nth("GET", "*ActionInfo*", 1)
	info.Power.ActionInfo = true
	power := func(ctx context.Context, s *redfish.Session) error {
		_, err := s.SendPower(ctx, bmc.SendReset)
		return err
	}
	for _, c := range []struct {
		name   string
		o      bmcsim.Options
		reboot bool
		do     func(context.Context, *redfish.Session) error
	}{
		{"the action info", info, false, power},
		{"the login", nth("POST", "*/Sessions", 2), true, power},
		{"the override", nth("GET", "*"+r750[len("/redfish/v1/"):], 2), false, func(ctx context.Context, s *redfish.Session) error {
			_, err := s.SetBoot(ctx, pxe())
			return err
		}},
		{"the override that goes", nth("GET", "*"+r750[len("/redfish/v1/"):], 2), false, func(ctx context.Context, s *redfish.Session) error {
			_, err := s.ClearBoot(ctx)
			return err
		}},
		{"the drives", nth("GET", "*VirtualMedia*", 2), false, func(ctx context.Context, s *redfish.Session) error {
			_, err := s.InsertMedia(ctx, bmc.MediaSpec{Image: iso})
			return err
		}},
		{"the drives of an eject", nth("GET", "*VirtualMedia*", 2), false, func(ctx context.Context, s *redfish.Session) error {
			return s.EjectMedia(ctx, "", true)
		}},
		{"the accounts", nth("GET", "*/Accounts", 1), false, func(ctx context.Context, s *redfish.Session) error {
			return s.RotatePassword(ctx, bmc.Keep("the-next-one"))
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t, dell, c.o)
			s := r.open()
			if c.reboot {
				r.Reboot() // the token is gone
			}
			if e := wantKind(t, c.do(t.Context(), s), bmc.Unreachable); e.Sent != bmc.SentNo || !e.Again() {
				t.Errorf("%+v", e)
			}
			for _, q := range r.Log() {
				if q.Method != "GET" && !c.reboot && !strings.HasSuffix(q.Path, "/Sessions") {
					t.Errorf("sent %s %s", q.Method, q.Path)
				}
			}
		})
	}
}
