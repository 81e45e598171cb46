package daemon_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/cryptotest"
	"testing/synctest"
	"time"

	"github.com/ingotmetal/ingot/bmc"
	"github.com/ingotmetal/ingot/bmc/bmcsim"
	"github.com/ingotmetal/ingot/bmc/bmctest"
	"github.com/ingotmetal/ingot/bmc/redfish"
	"github.com/ingotmetal/ingot/bmc/wire"
	"github.com/ingotmetal/ingot/cmd/api"
	"github.com/ingotmetal/ingot/cmd/daemon"
	"github.com/ingotmetal/ingot/cmd/internal/control"
	"github.com/ingotmetal/ingot/cmd/internal/operators"
	"github.com/ingotmetal/ingot/cmd/internal/secrets"
	"github.com/ingotmetal/ingot/cmd/internal/simnet"
	"github.com/ingotmetal/ingot/cmd/internal/store"
	"github.com/ingotmetal/ingot/cmd/internal/store/storetest"
	"github.com/ingotmetal/ingot/statemachine/lifecycle"
	"github.com/ingotmetal/ingot/statemachine/provision"
)

// heard is a text that is written from many goroutines.
type heard struct {
	mu sync.Mutex
	b  strings.Builder
}

func (w *heard) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.b.Write(b)
}

func (w *heard) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.b.String()
}

// shop is a site with one BMC, all in a bubble.
type shop struct {
	t     *testing.T
	disk  storetest.Disk
	net   *simnet.Net
	sim   *bmctest.Simulator
	stage bmctest.Simulation
	rs    daemon.Resolvers
	brk   daemon.Broker
	said  heard // what was logged
	asked heard // all answers
	op    *api.Client

	change func(*shop, *daemon.Ingotd)

	store store.Store // of the process that runs
	stop  func()      // the process that runs
	crash func()      // it: nothing that it does from now on is kept
}

// inShop runs fn with a site whose one BMC is staged so.
func inShop(t *testing.T, named bmctest.Scene, fn func(*shop)) {
	t.Helper()
	inShopOf(t, named, func(*shop, *daemon.Ingotd) {}, fn)
}

// inShopOf is inShop with an ingotd that is changed before each of its lives.
func inShopOf(t *testing.T, named bmctest.Scene, change func(*shop, *daemon.Ingotd), fn func(*shop)) {
	t.Helper()
	cryptotest.SetGlobalRandom(t, 7)
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		s := &shop{t: t, disk: storetest.Disk{Name: "lab"}, sim: &bmctest.Simulator{}, change: change}
		s.net = simnet.New(1, simnet.Options{})
		st, err := s.sim.Stage(t.Context(), named)
		s.must(err)
		s.stage = st.(bmctest.Simulation)
		s.rs, s.brk, err = secrets.Setup{Store: filepath.Join(dir, "secrets.age"), Identity: filepath.Join(dir, "id.age"), Entropy: &drawn{n: 3}}.Open()
		s.must(err)
		s.start()
		defer func() {
			s.stop()
			s.net.Close()
			_ = s.stage.Close()
		}()
		s.signIn()
		fn(s)
	})
}

func (s *shop) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

// start begins a life of ingotd's process.
func (s *shop) start() {
	s.t.Helper()
	host := s.net.Host("ingotd")
	open, err1 := host.Listen("tcp", "ingotd:80")
	admin, err2 := host.Listen("tcp", "ingotd:81")
	master, err3 := secrets.NewMaster([secrets.Size]byte{1})
	s.must(errors.Join(err1, err2, err3))
	st := s.disk.Open()
	s.store = st
	d := daemon.Ingotd{Version: "test", Config: (&world{}).config(), Store: st, Master: master, Now: time.Now, Entropy: &drawn{n: uint64(time.Now().UnixNano())},
		Log: slog.New(slog.NewJSONHandler(&s.said, nil)), Listeners: []daemon.Listener{{Listener: open}, {Listener: local{admin}}},
		Credentials: func(net.Conn) (uint32, int32, bool) { return 0, 1, true }, Host: func(uint32) bool { return true },
		Hashing: operators.Hashing{Cost: operators.Cost{Time: 1, Memory: 64, Threads: 1}},
		DialBMC: s.sim.Dial, Drivers: func(dial daemon.Dialer) []daemon.Driver {
			return []daemon.Driver{redfish.Driver{Wire: wire.Options{Dial: dial}}}
		}, Resolvers: s.rs, Broker: s.brk}
	s.change(s, &d)
	ctx, cancel := context.WithCancel(context.Background())
	var ran sync.WaitGroup
	ran.Go(func() { _ = d.Run(ctx) })
	s.crash = func() {
		_ = st.Close()
		cancel()
		ran.Wait()
	}
	s.stop = func() {
		cancel()
		ran.Wait()
		_ = st.Close()
	}
}

// kept notes what is answered.
type kept struct {
	next http.RoundTripper
	said io.Writer
}

func (k kept) RoundTrip(r *http.Request) (*http.Response, error) {
	res, err := k.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	body := res.Body
	res.Body = struct {
		io.Reader
		io.Closer
	}{io.TeeReader(body, k.said), body}
	return res, nil
}

func (s *shop) client(port string) *api.Client {
	t := &http.Transport{DialContext: s.net.Host("ops").DialContext, DisableKeepAlives: true}
	return &api.Client{Base: "http://ingotd:" + port, HTTP: &http.Client{Transport: kept{t, &s.asked}}}
}

func (s *shop) signIn() {
	s.t.Helper()
	add := api.AddOperator{}
	add.Body.Name, add.Body.Password = "ada", "correct horse battery"
	_, err := api.OperatorAdd.Call(s.t.Context(), s.client("81"), &add)
	s.must(err)
	in := api.OpenSession{}
	in.Body.Operator, in.Body.Password = "ada", "correct horse battery"
	out, err := api.SessionOpen.Call(s.t.Context(), s.client("80"), &in)
	s.must(err)
	s.op = s.client("80")
	s.op.Credential = api.Bearer(out.Token.Show)
}

// enrolls makes the machine a node, by inline credentials, and ends the attempt that
// holds it.
func (s *shop) enrolls(password string) string {
	s.t.Helper()
	in := &api.EnrollMetal{}
	e := s.stage.Endpoint()
	in.Body.BMC, in.Body.Pin, in.Body.RequestID = e.URL, e.Trust.Pin, "req-1"
	in.Body.Username, in.Body.Password = bmcsim.DefaultUser, api.Secret(password)
	out, err := api.MetalEnroll.Call(s.t.Context(), s.op, in)
	s.must(err)
	if m := out.Node.Metal; m == nil || !m.CredentialsSet || !m.Serviced || m.BMC != e.URL || m.Trust != "pin" {
		s.t.Fatalf("the metal view: %+v", m)
	}
	again, err := api.MetalEnroll.Call(s.t.Context(), s.op, in)
	s.must(err)
	if again.Node.ID != out.Node.ID {
		s.t.Fatalf("the same request made %s and %s (PROV-17)", out.Node.ID, again.Node.ID)
	}
	return out.Node.ID
}

func (s *shop) aborts(id string) {
	s.t.Helper()
	_, err := api.MetalAbort.Call(s.t.Context(), s.op, &api.NodeChange{NodeRef: api.NodeRef{Node: id}})
	s.must(err)
}

func (s *shop) right() string { return s.stage.Credentials().Password.Show() }

// queue asks for a power command.
func (s *shop) queue(id, action, request string) error {
	in := &api.PowerNode{NodeChange: api.NodeChange{NodeRef: api.NodeRef{Node: id}}}
	in.Body.Action, in.Body.RequestID = action, request
	_, err := api.NodePower.Call(s.t.Context(), s.op, in)
	return err
}

// ended is how a command ended.
func (s *shop) ended(id, request string) string {
	s.t.Helper()
	for end := time.Now().Add(20 * time.Minute); time.Now().Before(end); time.Sleep(time.Second) {
		all, err := api.NodeCommands.Call(s.t.Context(), s.op, &api.NodeRef{Node: id})
		s.must(err)
		for _, c := range all.Commands {
			if c.ID == request && c.Done {
				return c.Result
			}
		}
	}
	s.t.Fatalf("%s never ended", request)
	return ""
}

func coded(err error) string {
	if p, ok := errors.AsType[*api.Problem](err); ok {
		return p.Code()
	}
	return ""
}

func TestPowerByItsBMC(t *testing.T) {
	inShop(t, bmctest.Plain, func(s *shop) {
		t := s.t
		id := s.enrolls(s.right())
		if err := s.queue(id, "off", "p-held"); coded(err) != "CONFLICT" || !strings.Contains(err.Error(), "enrolling") {
			t.Errorf("while the attempt holds the machine: %v", err)
		}
		s.aborts(id)
		for i, c := range []struct{ action, begins, power string }{
			{"off", "done: the machine is off", "off"}, {"off", "unchanged: the machine is off", "off"}, {"reset", "failed: ", "off"},
			{"on", "done: the machine is on", "on"}, {"cycle", "done: the machine is on", "on"}, {"reset", "done", "on"}, {"nmi", "done", "on"},
			{"graceful-restart", "done: the machine is on", "on"}, {"graceful-off", "done: the machine is off", "off"},
		} {
			request := c.action + string(rune('a'+i))
			s.must(s.queue(id, c.action, request))
			if got := s.ended(id, request); !strings.HasPrefix(got, c.begins) {
				t.Errorf("%s: %q", request, got)
			}
			if got := s.stage.Power(); string(got) != c.power {
				t.Errorf("after %s it is %s", request, got)
			}
		}
		time.Sleep(2 * time.Minute) // polls
		n, err := api.NodeShow.Call(t.Context(), s.op, &api.NodeRef{Node: id})
		if err != nil || n.Metal.Power.State != "off" || time.Since(n.Metal.Power.At) > 90*time.Second {
			t.Errorf("what was seen: %+v, %v", n.Metal, err)
		}
		s.hunt(s.right())
	})
}

// Commands of a node are carried out one after the other, in their order; off waits for
// none, and what came before it does not turn the machine on again.
func TestCommandsInOrder(t *testing.T) {
	inShop(t, bmctest.Plain, func(s *shop) {
		t := s.t
		id := s.enrolls(s.right())
		s.aborts(id)
		for i, action := range []string{"graceful-off", "on", "cycle", "reset"} {
			s.must(s.queue(id, action, "a"+string(rune('0'+i))))
		}
		for _, request := range []string{"a0", "a1", "a2", "a3"} {
			if got := s.ended(id, request); !strings.HasPrefix(got, "done") {
				t.Errorf("%s: %q", request, got)
			}
		}
		if got := s.stage.Power(); got != "on" {
			t.Errorf("after all of them it is %s", got)
		}
		for i, action := range []string{"cycle", "on", "cycle", "off"} {
			s.must(s.queue(id, action, "b"+string(rune('0'+i))))
		}
		if got := s.ended(id, "b3"); !strings.HasSuffix(got, "the machine is off") {
			t.Errorf("off: %q", got)
		}
		for _, request := range []string{"b1", "b2"} {
			if got := s.ended(id, request); !strings.Contains(got, "nothing was sent") {
				t.Errorf("%s: %q", request, got)
			}
		}
		time.Sleep(10 * time.Minute)
		if got := s.stage.Power(); got != "off" {
			t.Errorf("it was turned off last, and is %s", got)
		}
	})
}

// A verb that may be sent twice goes on when its agent does, within its time.
func TestOffGoesOnAfterARestart(t *testing.T) {
	inShop(t, bmctest.LateOff, func(s *shop) {
		id := s.enrolls(s.right())
		s.aborts(id)
		s.must(s.queue(id, "off", "o-1"))
		for s.stage.Tally().Sent[bmc.SendOff] == 0 {
			time.Sleep(10 * time.Millisecond)
		}
		s.stop()
		s.start()
		if got := s.ended(id, "o-1"); !strings.HasSuffix(got, "the machine is off") || s.stage.Power() != bmc.Off {
			s.t.Errorf("%q, and it is %s", got, s.stage.Power())
		}
	})
}

// MACH-1: one machine that is two nodes, or another than its node's, is driven by
// neither.
func TestMachineOfAnotherNode(t *testing.T) {
	inShop(t, bmctest.Plain, func(s *shop) {
		t := s.t
		one := s.enrolls(s.right())
		s.aborts(one)
		found, err := api.NodeInspect.Call(t.Context(), s.op, &api.NodeRef{Node: one})
		s.must(err)
		enroll := func(system, product string) string {
			in := &api.EnrollMetal{}
			e := s.stage.Endpoint()
			in.Body.BMC, in.Body.Pin, in.Body.System, in.Body.Product = e.URL, e.Trust.Pin, system, product
			in.Body.Username, in.Body.Password = bmcsim.DefaultUser, api.Secret(s.right())
			out, err := api.MetalEnroll.Call(t.Context(), s.op, in)
			s.must(err)
			s.aborts(out.Node.ID)
			return out.Node.ID
		}
		other := enroll(found.Product, "4c4c4544-0000-4000-8000-000000000077")
		s.must(s.queue(other, "off", "x-1"))
		if got := s.ended(other, "x-1"); !strings.Contains(got, "product UUID") {
			t.Errorf("another product: %q", got)
		}
		twice := enroll(strings.ToUpper(found.Product), "")
		for _, id := range []string{twice, one} {
			s.must(s.queue(id, "off", "y-1"))
			if got := s.ended(id, "y-1"); !strings.Contains(got, "also that of node") {
				t.Errorf("%s: %q", id, got)
			}
		}
		if n := len(s.stage.Tally().Sent); n != 0 {
			t.Errorf("%d actions were sent", n)
		}
	})
}

// hunt looks for a password in all that is kept, said and answered.
func (s *shop) hunt(password string) {
	s.t.Helper()
	for what, text := range map[string]string{"the log": s.said.String(), "the answers": s.asked.String()} {
		if strings.Contains(text, password) {
			s.t.Errorf("the password is in %s", what)
		}
	}
	st := s.disk.Open()
	defer st.Close()
	s.must(st.View(s.t.Context(), func(r store.Reader) error {
		for key, val := range r.Range(" ", "~") {
			if strings.Contains(key+string(val), password) {
				s.t.Errorf("the password is in %s", key)
			}
		}
		return nil
	}))
}

// BOOT-11: a boot override and a cycle, and what is noted of them.
func TestBootIntoPXE(t *testing.T) {
	inShop(t, bmctest.Plain, func(s *shop) {
		t := s.t
		id := s.enrolls(s.right())
		s.aborts(id)
		in := &api.SetBoot{NodeChange: api.NodeChange{NodeRef: api.NodeRef{Node: id}}}
		in.Body.Target = "pxe"
		set, err := api.NodeOverrideSet.Call(t.Context(), s.op, in)
		if err != nil || set.Boot.Target != "pxe" || set.Boot.Life != "once" || len(set.Facts) != 1 {
			t.Fatalf("%+v, %v", set, err)
		}
		s.must(s.queue(id, "cycle", "c-1"))
		if got := s.ended(id, "c-1"); !strings.HasPrefix(got, "done") {
			t.Errorf("%q", got)
		}
		if all := s.stage.Boots(); len(all) == 0 || all[len(all)-1].Target != bmc.BootPXE {
			t.Errorf("it booted %+v", all)
		}
		put := &api.InsertMedia{NodeChange: api.NodeChange{NodeRef: api.NodeRef{Node: id}}}
		put.Body.Image = s.stage.Image()
		if slot, err := api.NodeMediaInsert.Call(t.Context(), s.op, put); err != nil || !slot.Slot.Inserted {
			t.Errorf("%+v, %v", slot, err)
		}
		if found, err := api.NodeInspect.Call(t.Context(), s.op, &api.NodeRef{Node: id}); err != nil || len(found.NICs) == 0 {
			t.Errorf("%+v, %v", found, err)
		}
		s.stop()
		st := s.disk.Open()
		s.must(st.View(t.Context(), func(r store.Reader) error {
			if at := control.CycledAt(r, lifecycle.NodeID(id)); time.Since(at) > 5*time.Minute {
				t.Errorf("the cycle is noted at %s", at)
			}
			return nil
		}))
		_ = st.Close()
		s.start()
	})
}

// MACH-6: who answers first is the one that must answer from then on.
func TestFirstUseIsPinned(t *testing.T) {
	inShop(t, bmctest.Plain, func(s *shop) {
		t := s.t
		in := &api.EnrollMetal{}
		in.Body.BMC, in.Body.FirstUse, in.Body.Username, in.Body.Password = s.stage.Endpoint().URL, true, bmcsim.DefaultUser, api.Secret(s.right())
		out, err := api.MetalEnroll.Call(t.Context(), s.op, in)
		s.must(err)
		s.aborts(out.Node.ID)
		s.must(s.queue(out.Node.ID, "off", "p-1"))
		if got := s.ended(out.Node.ID, "p-1"); !strings.HasPrefix(got, "done") {
			t.Errorf("%q", got)
		}
		n, err := api.NodeShow.Call(t.Context(), s.op, &api.NodeRef{Node: out.Node.ID})
		if err != nil || n.Metal.Trust != "pin" || n.Metal.Pin != s.stage.Endpoint().Trust.Pin {
			t.Errorf("%+v, %v", n.Metal, err)
		}
	})
}

// RUN-6, BMC-2: a retirement that took the machine from an attempt waits until it is
// proved off, and the agent proves it.
func TestRetirementIsProvedOff(t *testing.T) {
	inShop(t, bmctest.LateOff, func(s *shop) {
		t := s.t
		id := s.enrolls(s.right())
		door := control.New(control.Config{Store: s.store, Now: time.Now})
		done, err := door.Do(t.Context(), control.Call{Actor: "test"}, control.Target{Node: lifecycle.NodeID(id)},
			control.Just(lifecycle.Verb{Call: lifecycle.Call{By: "test", Operator: true}, On: provision.Retire}))
		s.must(err)
		if !done.Next.Node.Prov.AwaitOff {
			t.Fatalf("%+v waits for nothing", done.Next.Node.Prov)
		}
		for end := time.Now().Add(5 * time.Minute); time.Now().Before(end); time.Sleep(time.Second) {
			st, _, err := door.Read(t.Context(), control.Target{Node: lifecycle.NodeID(id)})
			s.must(err)
			if !st.Node.Prov.AwaitOff {
				if s.stage.Power() != bmc.Off {
					t.Error("it was called off while it had power")
				}
				s.must(s.store.View(t.Context(), func(r store.Reader) error {
					if !control.IsOff(r, &st.Node, time.Now()) || control.IsOff(r, &st.Node, time.Now().Add(2*time.Minute)) {
						t.Error("the proof is not there, or does not age")
					}
					return nil
				}))
				return
			}
		}
		t.Error("it is never proved off")
	})
}

// RUN-5, RUN-6: that a retirement waits for off is told once, with what the BMC said, and
// once more when it is a danger, also by an agent that begins anew.
func TestWaitForOffIsTold(t *testing.T) {
	inShop(t, bmctest.Plain, func(s *shop) {
		t := s.t
		id := s.enrolls("not the password")
		door := control.New(control.Config{Store: s.store, Now: time.Now})
		_, err := door.Do(t.Context(), control.Call{Actor: "test"}, control.Target{Node: lifecycle.NodeID(id)},
			control.Just(lifecycle.Verb{Call: lifecycle.Call{By: "test", Operator: true}, On: provision.Retire}))
		s.must(err)
		for _, c := range []struct {
			after            time.Duration
			awaited, overdue int
		}{{10 * time.Minute, 1, 0}, {6 * time.Minute, 1, 1}, {time.Hour, 1, 1}} {
			time.Sleep(c.after)
			awaited, overdue := s.told(control.OffAwaited, id, "auth"), s.told(control.OffOverdue, id, "auth")
			if awaited != c.awaited || overdue != c.overdue {
				t.Errorf("after %s more: told %d and %d times, want %d and %d", c.after, awaited, overdue, c.awaited, c.overdue)
			}
			s.stop()
			s.start()
		}
	})
}

// told is how often the log has a fact of a node that says why.
func (s *shop) told(name, id, why string) (n int) {
	s.t.Helper()
	out, err := api.EventListing.Call(s.t.Context(), s.op, &api.EventList{Limit: 200})
	s.must(err)
	for _, e := range out.Events {
		if e.Type == name && e.Subject == id && strings.Contains(string(e.Body), why) {
			n++
		}
	}
	return n
}

// BMC-3: the process ends between what it wrote down and the answer.
func TestResetIsNeverSentTwice(t *testing.T) {
	inShop(t, bmctest.LostReply, func(s *shop) {
		t := s.t
		id := s.enrolls(s.right())
		s.aborts(id)
		s.disk.Arm(4, storetest.Lost) // the command, that it is begun, its entry, and then what became of it
		s.must(s.queue(id, "reset", "r-1"))
		for s.stage.Tally().Sent[bmc.SendReset] == 0 {
			time.Sleep(10 * time.Millisecond)
		}
		s.crash()
		s.start()
		result := s.ended(id, "r-1")
		time.Sleep(10 * time.Minute)
		if n := s.stage.Tally().Sent[bmc.SendReset]; n != 1 || !strings.Contains(result, "not sent again") {
			t.Errorf("reset was sent %d times; it ended with %q", n, result)
		}
	})
}

func TestWrongPasswordLatches(t *testing.T) {
	inShop(t, bmctest.Plain, func(s *shop) {
		t := s.t
		id := s.enrolls("not the password")
		s.aborts(id)
		s.must(s.queue(id, "on", "p-1"))
		if got := s.ended(id, "p-1"); !strings.Contains(got, "auth") || !strings.Contains(got, "credentials") {
			t.Errorf("it does not say what to do: %q", got)
		}
		time.Sleep(30 * time.Minute)
		if n := s.stage.Tally().Failed; n > 1 {
			t.Errorf("%d logins failed; the second would help to lock the account", n)
		}
		s.hunt("not the password")
	})
}
