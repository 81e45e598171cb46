package server_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ingotmetal/ingot/cmd/api"
)

// REG-2, REG-3, REG-4, EDGE-17: what a register does in each state of the row.
func TestRegisterByState(t *testing.T) {
	s := newSite(t)
	s.policy()
	m := s.machine(1)
	first, poll := m.registers()
	s.check(m.row().KeyID == "" && ask(s, api.BootShow, s.ada, &api.BootRef{MAC: m.mac}).State == "absent", "REG-2: neither key nor boot record", m.row())
	second, _ := m.registers()
	s.check(second.Code != first.Code && second.State == "pending", "REG-4: a new code", second)
	refuses(s, "UNAUTHENTICATED", api.RegistrationStatusPoll, poll, &api.RegistrationPoll{})
	refuses(s, "INVALID_INPUT", api.RegistrationApprove, s.ada, approving(first.Code))
	ask(s, api.RegistrationApprove, s.ada, approving(second.Code))
	refuses(s, "CONFLICT", api.RegistrationRegister, m.as(""), m.registering())
	ask(s, api.RegistrationDisable, s.ada, m.change())
	third, _ := m.registers()
	s.check(third.State == "pending" && m.row().KeyID == "" && third.Code != second.Code, "REG-3: armed again", third)
	refuses(s, "INVALID_INPUT", api.RegistrationApprove, s.ada, approving(second.Code))

	waits := s.machine(2)
	waits.announces()
	before := waits.row()
	p := refuses(s, "CONFLICT", api.RegistrationRegister, m.as(""), waits.registering())
	s.check(p.Holder == nil && waits.row().Version == before.Version, "REG-4: nothing changes", p)
	epoch := waits.approvesSetup().Registration.SetupEpoch
	p = refuses(s, "CONFLICT", api.RegistrationRegister, m.as(""), waits.registering())
	s.check(p.Holder == nil && waits.row().SetupEpoch == epoch, "REG-4: and tells nobody of the setup", p)
}

// REG-6: the poll hands out one key, the same again until it is acknowledged or the
// token ends; then it is gone, and a key that nobody acknowledged is dead.
func TestKeyIsFetchedUntilItIsAcknowledged(t *testing.T) {
	s := newSite(t)
	s.policy()
	m := s.machine(1)
	out, poll := m.registers()
	waited := make(chan api.RegistrationStatus, 1)
	go func() {
		st, _ := api.RegistrationStatusPoll.Call(t.Context(), poll, &api.RegistrationPoll{LongPoll: api.LongPoll{Wait: api.Duration{Duration: 20 * time.Second}}})
		waited <- st
	}()
	ask(s, api.RegistrationApprove, s.ada, approving(out.Code))
	first := <-waited
	again := ask(s, api.RegistrationStatusPoll, poll, &api.RegistrationPoll{})
	s.check(first.Key != "" && first.Key == again.Key && first.KeyID == m.row().KeyID, "a lost answer is fetched again", first.State, again.State)
	ask(s, api.RegistrationAcknowledge, poll, &api.Empty{})
	refuses(s, "UNAUTHENTICATED", api.RegistrationStatusPoll, poll, &api.RegistrationPoll{})
	ask(s, api.RegistrationRefresh, s.as(first.Key), m.refreshing())

	late := s.machine(2)
	out, poll = late.registers()
	ask(s, api.RegistrationApprove, s.ada, approving(out.Code))
	key := ask(s, api.RegistrationStatusPoll, poll, &api.RegistrationPoll{}).Key
	s.pass(time.Hour + time.Second)
	s.ada = s.signIn("ada", password)
	refuses(s, "UNAUTHENTICATED", api.RegistrationStatusPoll, poll, &api.RegistrationPoll{})
	refuses(s, "UNAUTHENTICATED", api.RegistrationAcknowledge, poll, &api.Empty{})
	refuses(s, "UNAUTHENTICATED", api.RegistrationRefresh, s.as(key), late.refreshing())
}

// REG-5, REG-14: any case, dashes and spaces, I and L for 1, O for 0; and dead codes.
func TestClaimCodeAsPeopleTypeIt(t *testing.T) {
	s := newSite(t)
	for n, typed := range []func(string) string{
		strings.ToLower,
		func(c string) string { return strings.ReplaceAll(c, "-", "") },
		func(c string) string { return " " + strings.Join(strings.Split(c, ""), "-") + " " },
		func(c string) string {
			return strings.NewReplacer("1", "l", "0", "o").Replace(strings.ToLower(c))
		},
	} {
		m := s.machine(n + 1)
		out, _ := m.registers()
		got := ask(s, api.RegistrationApprove, s.ada, approving(api.Secret(typed(out.Code.Show()))))
		s.check(got.Registration.Server == m.uuid, "approved", got)
	}
	m := s.machine(9)
	out, _ := m.registers()
	refuses(s, "INVALID_INPUT", api.RegistrationApprove, s.ada, approving("UUU-UUU"))
	named := approving(out.Code)
	named.Body.Server = uuidOf(8)
	refuses(s, "INVALID_INPUT", api.RegistrationApprove, s.ada, named)
	s.pass(time.Hour + time.Second)
	refuses(s, "INVALID_INPUT", api.RegistrationApprove, s.ada, approving(out.Code))
	s.check(m.row().State == "pending", "REG-14: an expired code leaves the row", m.row())
}

// REG-5, REG-14, EDGE-16: 20 wrong codes an hour for one operator, also at once and
// also in dry runs; the right one is heard until then, and does not count.
func TestWrongCodesAreCounted(t *testing.T) {
	for name, dry := range map[string]bool{"calls": false, "dry runs": true} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t)
			m := s.machine(1)
			out, _ := m.registers()
			var wrong, limited atomic.Int64
			var wg sync.WaitGroup
			for i := range 60 {
				wg.Go(func() {
					in := approving(api.Secret(fmt.Sprintf("AAA-%03d", i)))
					in.DryRun = dry
					_, err := api.RegistrationApprove.Call(t.Context(), s.ada, in)
					switch codeOf(err) {
					case "INVALID_INPUT":
						wrong.Add(1)
					case "RATE_LIMITED":
						limited.Add(1)
					default:
						t.Error(err)
					}
				})
			}
			wg.Wait()
			s.check(wrong.Load() == 20 && limited.Load() == 40, "20 of 60 are heard", wrong.Load(), limited.Load())
			in := approving(out.Code)
			in.DryRun = dry
			refuses(s, "RATE_LIMITED", api.RegistrationApprove, s.ada, in)
			s.check(m.row().State == "pending", "the row", m.row())
			s.add("bob")
			ask(s, api.RegistrationApprove, s.signIn("bob", password), approving(out.Code))
			s.pass(time.Hour + time.Second)
			s.ada = s.signIn("ada", password)
			out, _ = s.machine(2).registers()
			ask(s, api.RegistrationApprove, s.ada, approving(out.Code))
		})
	}
}

// REG-5: 200 in all, and no refusal leaves a row of the log.
func TestWrongCodesOfAll(t *testing.T) {
	s := newSite(t)
	before := s.head()
	heard := 0
	for op := range 12 {
		c := s.mint("full")
		before++ // the key's row
		for i := range 20 {
			_, err := api.RegistrationApprove.Call(t.Context(), c, approving(api.Secret(fmt.Sprintf("B%02d-%03d", op, i))))
			if codeOf(err) == "INVALID_INPUT" {
				heard++
			}
		}
	}
	s.check(heard == 200, "heard", heard)
	s.check(s.head() == before, "rows of the log", s.head(), before)
}

// EDGE-16: the same operator's repeat succeeds, changes nothing and is not counted;
// another operator is told that the row is approved.
func TestRepeatedApproval(t *testing.T) {
	s := newSite(t)
	m := s.machine(1)
	out, poll := m.registers()
	first := ask(s, api.RegistrationApprove, s.ada, approving(out.Code))
	for range 25 {
		again := ask(s, api.RegistrationApprove, s.ada, approving(out.Code))
		s.check(len(again.Facts) == 0 && again.Registration.KeyID == first.Registration.KeyID, "the repeat", again)
	}
	status := ask(s, api.RegistrationStatusPoll, poll, &api.RegistrationPoll{})
	ask(s, api.RegistrationRefresh, s.as(status.Key), m.refreshing())
	s.add("bob")
	refuses(s, "INVALID_STATE", api.RegistrationApprove, s.signIn("bob", password), approving(out.Code))
}

// REG-7: N machines at once never take more than a window's slots.
func TestAutoApproveSlots(t *testing.T) {
	s := newSite(t)
	s.policy()
	in := &api.OpenWindow{}
	in.Body.Ends, in.Body.Slots = time.Now().Add(time.Hour), 5
	ask(s, api.AutoApproveOpen, s.ada, in)
	ms := make([]*machine, 40)
	for i := range ms {
		ms[i] = s.machine(100 + i)
	}
	var approved, pending atomic.Int64
	var wg sync.WaitGroup
	for _, m := range ms {
		wg.Go(func() {
			out, err := api.RegistrationRegister.Call(t.Context(), m.as(""), m.registering())
			switch {
			case err != nil:
				t.Error(err)
			case out.State == "approved" && out.Code == "":
				approved.Add(1)
				if st, err := api.RegistrationStatusPoll.Call(t.Context(), m.as(out.PollToken), &api.RegistrationPoll{}); err != nil || st.Key == "" {
					t.Errorf("its key: %v", err)
				}
			case out.State == "pending" && out.Code != "":
				pending.Add(1)
			default:
				t.Errorf("%+v", out)
			}
		})
	}
	wg.Wait()
	s.check(approved.Load() == 5 && pending.Load() == 35, "slots", approved.Load(), pending.Load())
	w := ask(s, api.WindowList, s.ada, &api.Empty{}).Windows[0]
	s.check(!w.Open && *w.Slots == 0, "the window", w)
}

// REG-3, REG-7: a window takes a pending row, and none that was disabled.
func TestWindowAndRearmedRow(t *testing.T) {
	s := newSite(t)
	plain, rearmed := s.machine(1), s.machine(2)
	plain.registers()
	rearmed.registers()
	ask(s, api.RegistrationDisable, s.ada, rearmed.change())
	in := &api.OpenWindow{}
	in.Body.Ends = time.Now().Add(time.Hour)
	ask(s, api.AutoApproveOpen, s.ada, in)
	a, _ := plain.registers()
	b, _ := rearmed.registers()
	s.check(a.State == "approved" && b.State == "pending", "approved and pending", a.State, b.State)
	s.pass(time.Hour)
	c, _ := s.machine(3).registers()
	s.check(c.State == "pending", "after its end", c.State)
}

// REG-10: ten registers of one UUID an hour, a bound on rows that nobody approved,
// and the window of a strict site.
func TestStrangersAreBounded(t *testing.T) {
	s := newSite(t)
	p := &api.SetPolicy{Body: api.Policy{AutoEnroll: true, MaxUnapproved: 3}}
	ask(s, api.PolicySet, s.ada, p)
	m := s.machine(1)
	for range 10 {
		m.registers()
	}
	refuses(s, "RATE_LIMITED", api.RegistrationRegister, m.as(""), m.registering())
	swapped := m.registering() // the same machine in the other byte order
	swapped.Body.Server, swapped.Body.Sysinfo = "3d2c1f6b-0100-0040-8000-000000000001", json.RawMessage(`{"nics":[],"disks":[]}`)
	refuses(s, "RATE_LIMITED", api.RegistrationRegister, m.as(""), swapped)
	s.pass(time.Hour)
	m.registers()
	s.machine(2).registers()
	s.machine(3).announces()
	over := s.machine(4)
	refuses(s, "RATE_LIMITED", api.RegistrationRegister, m.as(""), over.registering())
	refuses(s, "RATE_LIMITED", api.SetupAnnounce, over.enroll, over.announcing())
	s.machine(3).announces() // it is no stranger

	p.Body.AutoEnroll, p.Body.MaxUnapproved = false, 0
	ask(s, api.PolicySet, s.ada, p)
	refuses(s, "ACCESS_DENIED", api.SetupAnnounce, over.enroll, over.announcing())
	in := &api.OpenWindow{}
	in.Body.Ends, in.Body.Slots = s.now().Add(time.Hour), 1
	ask(s, api.EnrollWindowOpen, s.ada, in)
	s.machine(3).announces() // a known UUID takes no slot
	over.announces()
	next := s.machine(5)
	refuses(s, "ACCESS_DENIED", api.SetupAnnounce, next.enroll, next.announcing())
}

// REG-15: an agent's key opens its own machine's routes in any byte order, and no
// other's; a placeholder or foreign UUID in the sysinfo is refused.
func TestAgentKeyReachesItsOwnRow(t *testing.T) {
	s := newSite(t)
	s.policy()
	one, two := s.machine(1), s.machine(2)
	first, second := one.installed(), two.installed()
	in := one.refreshing()
	ask(s, api.RegistrationRefresh, first, in)
	in.Server = strings.ToUpper(one.uuid)
	ask(s, api.RegistrationRefresh, first, in)
	refuses(s, "ACCESS_DENIED", api.RegistrationRefresh, second, one.refreshing())
	lies := two.refreshing()
	lies.Body.Sysinfo = one.sysinfo()
	refuses(s, "INVALID_INPUT", api.RegistrationRefresh, second, lies)
	ref := two.ref()
	refuses(s, "ACCESS_DENIED", api.RegistrationShow, second, &ref)
	s.check(two.row().LastSeen.After(time.Now().Add(-time.Minute)), "last seen", two.row().LastSeen)
}

// REG-11, and the seed of Triton: a disabled machine's keys are dead at the next
// call, and a poll that waits is told.
func TestDisableEndsAllThatWaits(t *testing.T) {
	s := newSite(t)
	s.policy()
	m := s.machine(1)
	out, poll := m.registers()
	ended := make(chan error, 1)
	go func() {
		_, err := api.RegistrationStatusPoll.Call(t.Context(), poll, &api.RegistrationPoll{LongPoll: api.LongPoll{Wait: api.Duration{Duration: 50 * time.Second}}})
		ended <- err
	}()
	time.Sleep(20 * time.Millisecond)
	ask(s, api.RegistrationDisable, s.ada, m.change())
	if err := <-ended; codeOf(err) != "UNAUTHENTICATED" {
		t.Error(err)
	}
	refuses(s, "INVALID_INPUT", api.RegistrationApprove, s.ada, approving(out.Code))
}
