package control_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/netip"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ingotmetal/ingot/cmd/internal/control"
	"github.com/ingotmetal/ingot/cmd/internal/store/storetest"
	"github.com/ingotmetal/ingot/statemachine/lifecycle"
	"github.com/ingotmetal/ingot/statemachine/netboot"
	"github.com/ingotmetal/ingot/statemachine/registration"
)

var (
	uuid  = registration.ServerID{0xde, 0xad, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14}
	disks = registration.Inventory{Digest: registration.Hash{7}, MACs: []registration.MAC{registration.MAC(mac(1))}, Seen: []registration.MAC{registration.MAC(mac(1))}, Serials: []string{"S1"}}
)

// announced brings a machine to the gate.
func (s *site) announced(id lifecycle.NodeID) {
	s.do(control.Target{Server: uuid}, lifecycle.Announce{NewID: id, Routing: uuid, Server: uuid, Inventory: disks, AgentKey: registration.Hash{5}})
}

const nodeA = lifecycle.NodeID("node_00000000000000000000000001")

// setup is an approval of the machine's setup.
func setup() lifecycle.ApproveSetup {
	key := func(i byte, scope string) registration.Key {
		return registration.Key{ID: string('a' + i), Hash: registration.Hash{100, i}, Scope: scope}
	}
	return lifecycle.ApproveSetup{Call: ada, Shown: registration.Hash{9}, AgentKey: registration.Hash{5}, MACs: disks.MACs,
		Realized: registration.Plan{Digest: registration.Hash{9}, Inventory: disks.Digest, Serials: disks.Serials, Hostname: "n1"},
		Mint: lifecycle.Mint{Bound: key(0, lifecycle.ScopeAgent), Sealed: "sealed",
			Tickets: [3]registration.Key{key(1, lifecycle.ScopeTicket), key(2, lifecycle.ScopeTicket), key(3, lifecycle.ScopeTicket)}}}
}

// A machine's whole life through the door: what is read back is what was stepped.
func TestLifeThroughTheDoor(t *testing.T) {
	s := newSite(t)
	s.do(control.Target{MAC: mac(1)}, lifecycle.Sighted{MAC: mac(1)})
	s.announced(nodeA)
	server := control.Target{Server: uuid}
	epoch := s.step(server, setup()).Node.Reg.Epoch
	s.step(server, lifecycle.Drain{Epoch: epoch, AgentKey: registration.Hash{5}, Held: true})
	done := s.step(server, lifecycle.SetupReport{Epoch: epoch, OK: true})
	if done.Node.Reg.State != registration.Approved || len(done.Node.MACs()) != 1 {
		t.Fatalf("%s with %v", done.Node.Reg.State, done.Node.MACs())
	}
	if by, _, err := s.Read(t.Context(), control.Target{By: "by/key/" + hex(registration.Hash{100, 0})}); err != nil || by.Node.ID != nodeA {
		t.Errorf("by its key: %v, %v", by.Node.ID, err)
	}
	if by, _, err := s.Read(t.Context(), control.Target{MAC: mac(1)}); err != nil || by.Node.ID != nodeA {
		t.Errorf("by its MAC: %v, %v", by.Node.ID, err)
	}
	s.step(control.Target{Node: nodeA}, lifecycle.Schedule{Call: ada, On: "cordon"})
	s.step(server, lifecycle.Disable{Call: ada})
	s.step(server, lifecycle.FactoryReset{Call: ada, World: lifecycle.World{Staged: []string{"enrol"}}})
	s.step(server, lifecycle.DeleteRow{Call: ada})
	if gone, _, err := s.Read(t.Context(), server); err != nil || gone.Node.ID != "" || gone.Node.Reg.State != registration.Absent {
		t.Errorf("after the delete: %v, %v", gone.Node.Reg.State, err)
	}
	s.verify()
}

func hex(h registration.Hash) string {
	const digits = "0123456789abcdef"
	var b []byte
	for _, c := range h {
		b = append(b, digits[c>>4], digits[c&15])
	}
	return string(b)
}

// step is do, and reads back what was stepped.
func (s *site) step(t control.Target, in lifecycle.Input) lifecycle.State {
	s.t.Helper()
	done := s.do(t, in)
	if id := done.Next.Node.ID; id != "" {
		t = control.Target{Node: id}
	}
	got, _, err := s.Read(s.t.Context(), t)
	if err != nil {
		s.t.Fatal(err)
	}
	if want := picture(done.Next); done.Next.Node.Live() && picture(got) != want {
		s.t.Fatalf("%s\nstepped to %s\nread back  %s", in.Name(), want, picture(got))
	}
	return got
}

// picture is a state as text, its boot records in order.
func picture(s lifecycle.State) string {
	s.Node.NICs = slices.Clone(s.Node.NICs)
	slices.SortFunc(s.Node.NICs, func(a, b netboot.Record) int { return bytes.Compare(a.MAC[:], b.MAC[:]) })
	raw, err := json.Marshal(s)
	if err != nil {
		return err.Error()
	}
	return string(raw)
}

// SET-12: no node wedges in setting_up, at its own deadline and not before, also
// where the sweeper was away when it passed.
func TestSweeperEndsASetup(t *testing.T) {
	for _, late := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			s := bubble(t)
			s.announced(nodeA)
			s.do(control.Target{Server: uuid}, setup())
			if late {
				time.Sleep(2 * time.Hour)
				s.overdue(t, 2*time.Hour-45*time.Minute)
			}
			ctx, stop := context.WithCancel(t.Context())
			ended := make(chan struct{})
			go func() {
				defer close(ended)
				(&control.Sweeper{Door: s.Door, Log: slog.New(slog.DiscardHandler)}).Run(ctx)
			}()
			if !late {
				time.Sleep(45*time.Minute - time.Second)
				synctest.Wait()
				if got := s.state(t); got != registration.SettingUp {
					t.Errorf("a second before its deadline: %s", got)
				}
				time.Sleep(time.Second)
			}
			synctest.Wait()
			if got := s.state(t); got != registration.AwaitingSetup {
				t.Errorf("after its deadline: %s", got)
			}
			s.overdue(t, 0)
			stop()
			<-ended
			s.verify()
			if err := s.Store().Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

func (s *site) overdue(t *testing.T, want time.Duration) {
	t.Helper()
	if late, err := s.Overdue(t.Context()); late != want || err != nil {
		t.Errorf("overdue by %s, %v; want %s", late, err, want)
	}
}

func (s *site) state(t *testing.T) registration.State {
	got, _, err := s.Read(t.Context(), control.Target{Server: uuid})
	if err != nil {
		t.Fatal(err)
	}
	return got.Node.Reg.State
}

// bubble is a site on the bubble's clock. Its store is closed by the test.
func bubble(t *testing.T) *site {
	st := storetest.Hostile(storetest.Memory("lab"))
	s := &site{control.New(control.Config{Store: st, Now: time.Now}), t}
	s.do(control.Target{}, lifecycle.SetPolicy{Call: ada, Policy: lifecycle.Policy{Network: netip.MustParsePrefix("10.0.0.0/16"), Enrollment: "enrol"}})
	return s
}

// A need is begun once, tried again after an error, and ended with the need; what
// nobody carries out is counted.
func TestReconciler(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := bubble(t)
		var began, ended int
		doer := func(ctx context.Context, n lifecycle.Need) error {
			if began++; began == 1 {
				return errors.New("not yet")
			}
			<-ctx.Done()
			ended++
			return nil
		}
		r := &control.Reconciler{Door: s.Door, Log: slog.New(slog.DiscardHandler), Doers: map[string]control.Doer{lifecycle.NeedDrain: doer}}
		ctx, stop := context.WithCancel(t.Context())
		over := make(chan struct{})
		go func() { defer close(over); r.Run(ctx) }()
		s.announced(nodeA)
		node := control.Target{Node: nodeA}
		s.do(node, lifecycle.Schedule{Call: ada, On: "drain"})
		time.Sleep(time.Minute)
		synctest.Wait()
		if began != 2 || ended != 0 {
			t.Errorf("began %d times, ended %d", began, ended)
		}
		s.do(node, lifecycle.Schedule{Call: ada, On: "uncordon"})
		synctest.Wait()
		if ended != 1 {
			t.Errorf("ended %d times", ended)
		}
		s.do(node, lifecycle.Listed{Device: "d1"})
		s.do(node, lifecycle.RunRequest{Action: "wipe"})
		synctest.Wait()
		if got := r.Unserved(); got[lifecycle.NeedRun] != 1 || len(got) != 1 {
			t.Errorf("unserved: %v", got)
		}
		stop()
		<-over
		if err := s.Store().Close(); err != nil {
			t.Error(err)
		}
	})
}
