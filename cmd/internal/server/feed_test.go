package server_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/ingotmetal/ingot/cmd/api"
	"github.com/ingotmetal/ingot/cmd/internal/control"
	"github.com/ingotmetal/ingot/statemachine/lifecycle"
)

// follower is a booter's copy of the boot records.
type follower struct {
	s      *site
	c      *api.Client
	name   string
	rev    uint64
	policy api.Policy
	boots  map[string]api.ServedBoot
	resets int
}

func (f *follower) fresh() {
	snap := ask(f.s, api.BooterSnapshot, f.c, &api.Empty{})
	f.name, f.rev, f.policy, f.boots = snap.Incarnation, snap.Revision, snap.Policy, map[string]api.ServedBoot{}
	for _, b := range snap.Boots {
		f.boots[b.MAC] = b
	}
}

// poll takes one answer, and reports whether there may be more.
func (f *follower) poll() bool {
	d := ask(f.s, api.BooterChanges, f.c, &api.BootChanges{Incarnation: f.name, Revision: f.rev})
	if d.Reset {
		f.resets++
		f.fresh()
		return true
	}
	more := d.Revision != f.rev
	f.rev = d.Revision
	if d.Policy != nil {
		f.policy = *d.Policy
	}
	for _, b := range d.Put {
		f.boots[b.MAC] = b
	}
	for _, mac := range d.Delete {
		delete(f.boots, mac)
	}
	return more
}

// same compares the copy with what a snapshot says now.
func (f *follower) same(t interface{ Errorf(string, ...any) }) {
	for f.poll() {
	}
	now := &follower{s: f.s, c: f.c}
	now.fresh()
	if !reflect.DeepEqual(now.boots, f.boots) || !reflect.DeepEqual(now.policy, f.policy) {
		t.Errorf("the copy is %s\nthe site %s", text(f.boots, f.policy), text(now.boots, now.policy))
	}
}

func text(all ...any) string { raw, _ := json.Marshal(all); return string(raw) }

// chaos are steps that may or may not be legal.
func (s *site) chaos(ms []*machine) map[string]func(pick int) {
	c := s.t.Context()
	m := func(i int) *machine { return ms[i%len(ms)] }
	boot := func(op api.Op[api.BootChange, api.BootChanged]) func(int) {
		return func(i int) {
			_, _ = op.Call(c, s.ada, &api.BootChange{BootRef: api.BootRef{MAC: macOf(1 + i%5)}})
		}
	}
	row := func(op api.Op[api.RegistrationChange, api.RegistrationChanged]) func(int) {
		return func(i int) { _, _ = op.Call(c, s.ada, m(i).change()) }
	}
	return map[string]func(int){
		"sight": func(i int) {
			_, _ = api.BooterSightings.Call(c, ms[0].booter, sightings("b1", seenBoot(macOf(1+i%5)), seenBoot(macOf(1+i/5%5))))
		},
		"enroll": boot(api.BootEnroll), "decommission": boot(api.BootDecommission), "reactivate": boot(api.BootReactivate),
		"purge": func(i int) {
			_, _ = api.BootPurge.Call(c, s.ada, &api.BootChange{BootRef: api.BootRef{MAC: macOf(1 + i%5)}})
		},
		"mode": func(i int) {
			in := &api.SetMode{BootChange: api.BootChange{BootRef: api.BootRef{MAC: macOf(1 + i%5)}}}
			in.Body.Mode = []string{"normal", "rescue"}[i/5%2]
			_, _ = api.BootMode.Call(c, s.ada, in)
		},
		"announce": func(i int) { _, _ = api.SetupAnnounce.Call(c, m(i).enroll, m(i).announcing()) },
		"approve": func(i int) {
			p, err := api.RegistrationPlan.Call(c, s.ada, &api.PlanSetup{RegistrationRef: m(i).ref(), Body: m(i).request()})
			if err == nil {
				_, _ = api.RegistrationApproveSetup.Call(c, s.ada, m(i).approving(p))
			}
		},
		"drain": func(i int) { _, _ = api.SetupDrain.Call(c, m(i).enroll, m(i).draining(s.epoch(m(i)))) },
		"complete": func(i int) {
			in := &api.SetupOutcome{RegistrationRef: m(i).ref()}
			in.Body.Epoch = s.epoch(m(i))
			_, _ = api.SetupComplete.Call(c, m(i).enroll, in)
		},
		"fail": func(i int) { _, _ = api.SetupFailed.Call(c, m(i).enroll, m(i).failing(s.epoch(m(i)), "x")) },
		"root": func(i int) {
			in := &api.SetRootPassword{RegistrationChange: *m(i).change()}
			if in.Body.Hash = api.Secret(fmt.Sprint("$6$salt$x", i)); i%3 == 0 {
				in.Body.Hash, in.Body.Clear = "", true
			}
			_, _ = api.RegistrationRootPassword.Call(c, s.ada, in)
		},
		"disable": row(api.RegistrationDisable), "reset": row(api.RegistrationFactoryReset),
		"delete": func(i int) { _, _ = api.RegistrationDelete.Call(c, s.ada, m(i).change()) },
		"register": func(i int) {
			out, err := api.RegistrationRegister.Call(c, s.as(""), m(i).registering())
			if err == nil && i%2 == 0 {
				_, _ = api.RegistrationApprove.Call(c, s.ada, approving(out.Code))
			}
		},
		"policy": func(i int) {
			set := &api.SetPolicy{Body: api.Policy{AutoEnroll: i%2 == 0, Network: "10.0.0.0/24", EnrollmentImage: fmt.Sprint("enrol", i%3), RescueImage: "help"}}
			_, _ = api.PolicySet.Call(c, s.ada, set)
		},
		"node": func(i int) {
			if id := s.node(m(i)); id != "" {
				_, _ = api.NodeCordon.Call(c, s.ada, &api.NodeChange{NodeRef: api.NodeRef{Node: id}})
			}
		},
	}
}

func (s *site) load(m *machine) lifecycle.State {
	s.t.Helper()
	id, err := serverOf(m.uuid)
	must(s.t, err)
	st, _, err := s.door.Read(s.t.Context(), control.Target{Server: id})
	must(s.t, err)
	return st
}

func (s *site) epoch(m *machine) uint64 { return max(1, s.load(m).Node.Reg.Epoch) }

func (s *site) node(m *machine) string { return string(s.load(m).Node.ID) }

// A booter's snapshot and the changes after it are the site's records, after any
// sequence of calls.
func TestFollowerHasWhatTheSiteHas(t *testing.T) {
	s := newSite(t)
	ms := []*machine{s.machine(1), s.machine(2)}
	staged := bootReport(macOf(1))
	staged.Body.Staged = []string{"enrol0", "enrol1", "enrol2"}
	ask(s, api.BooterBoots, ms[0].booter, staged)
	steps := s.chaos(ms)
	var names []string
	for name := range steps {
		names = append(names, name)
	}
	slicesSort(names)
	moved := map[string]bool{}
	rapid.Check(t, func(rt *rapid.T) {
		f := &follower{s: s, c: ms[0].booter}
		f.fresh()
		for range rapid.IntRange(5, 25).Draw(rt, "steps") {
			before := s.head()
			name := rapid.SampledFrom(names).Draw(rt, "step")
			steps[name](rapid.IntRange(0, 29).Draw(rt, "pick"))
			if s.head() != before {
				moved[name] = true
			}
			if rapid.IntRange(0, 3).Draw(rt, "poll") == 0 {
				f.poll()
			}
		}
		f.same(rt)
	})
	for _, name := range names {
		if !moved[name] {
			t.Errorf("%s never did anything", name)
		}
	}
}

// What is held of another incarnation, or of rows that have left, or of a revision
// that is not there yet, begins anew; and many rows without a boot record neither
// hide one that follows nor hold the answer back.
func TestFollowerOfAnOldLog(t *testing.T) {
	s := newSite(t)
	s.policy()
	b := s.mint("booter")
	f := &follower{s: s, c: b}
	f.fresh()
	for _, in := range []*api.BootChanges{{Incarnation: "inc_other", Revision: f.rev}, {Incarnation: f.name, Revision: f.rev + 1000}} {
		s.check(ask(s, api.BooterChanges, b, in).Reset, "reset", in)
	}
	for range 2100 {
		s.write("test/x", 1)
	}
	ask(s, api.BooterSightings, b, sightings("b1", seenBoot(macOf(1))))
	begin := time.Now()
	in := &api.BootChanges{Incarnation: f.name, Revision: f.rev, LongPoll: api.LongPoll{Wait: api.Duration{Duration: 30 * time.Second}}}
	d := ask(s, api.BooterChanges, b, in)
	s.check(len(d.Put) == 0 && d.Revision == f.rev+2000, "a part of the log", d)
	in.Revision = d.Revision
	d = ask(s, api.BooterChanges, b, in)
	s.check(len(d.Put) == 1, "the rest of it", d)
	s.check(time.Since(begin) < 10*time.Second, "it waited", time.Since(begin))
	s.seal()
	s.check(ask(s, api.BooterChanges, b, &api.BootChanges{Incarnation: f.name, Revision: f.rev}).Reset, "rows that have left")
	f.same(t)
	s.check(f.resets == 1, "resets", f.resets)
}

// seal makes all but the newest rows leave the store.
func (s *site) seal() {
	s.t.Helper()
	sealed, err := (&control.Sealer{Door: s.door, Dir: s.t.TempDir()}).Pass(s.t.Context())
	must(s.t, err)
	s.check(len(sealed) > 0, "nothing was sealed")
}
