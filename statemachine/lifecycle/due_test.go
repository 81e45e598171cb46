package lifecycle_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	sm "github.com/ingotmetal/ingot/statemachine"
	"github.com/ingotmetal/ingot/statemachine/lifecycle"
	"github.com/ingotmetal/ingot/statemachine/provision"
	"github.com/ingotmetal/ingot/statemachine/registration"
	"github.com/ingotmetal/ingot/statemachine/run"
	"github.com/ingotmetal/ingot/statemachine/schedule"
)

// bneeds are the needs of a machine as "verb what".
func bneeds(h *host) []string {
	var out []string
	for n := range lifecycle.Needs(&h.Node) {
		if n.Node != h.Node.ID {
			h.t.Errorf("%+v is of another node", n)
		}
		out = append(out, strings.TrimSpace(n.Verb+" "+n.What))
	}
	return out
}

// What each state wants is read off the state, so that a crash between commit
// and call loses nothing: needs stand until the state moves on, and are keyed
// by node, epoch and verb.
func TestNeeds(t *testing.T) {
	power := lifecycle.Power{Call: ops, World: idle, Request: "p-1", Action: "on"}
	for name, c := range map[string]struct {
		life func(t testing.TB) *host
		want []string
	}{
		"nobody":        {func(t testing.TB) *host { return newHost(t) }, nil},
		"ready":         {ready, nil},
		"enrolling":     {enrolledMetal, []string{"workflow enrolling"}},
		"commissioning": {bways()["commissioning"], []string{"workflow commissioning"}},
		"deploying":     {bways()["deploying"], []string{"workflow deploying"}},
		"acceptance":    {bways()["adopting running"], []string{"workflow acceptance"}},
		"red":           {bways()["adopting red"], nil},
		"rescue boot":   {bways()["rescue booting"], []string{"workflow rescue-boot"}},
		"rescue":        {bways()["rescue up"], nil},
		"unrescue":      {bways()["rescue returning"], []string{"workflow unrescue"}},
		"failed":        {bways()["failed deploying"], nil},
		"retired":       {retiredMetal, nil},
		"taken over":    {func(t testing.TB) *host { return enrolledMetal(t).do(verb(provision.Retire)) }, []string{"power-off"}},
		"fails taken over": {func(t testing.TB) *host {
			h := enrolledMetal(t).do(verb(provision.Retire))
			return h.do(h.reported(false))
		}, []string{"power-off"}},
		"power":       {func(t testing.TB) *host { return ready(t).do(power) }, []string{"power p-1"}},
		"power, held": {func(t testing.TB) *host { return ready(t).do(power, verb(provision.Deploy)) }, []string{"workflow deploying"}},
		"drain":       {func(t testing.TB) *host { return ready(t).do(bsched(schedule.Drain)) }, []string{"drain"}},
		"request":     {func(t testing.TB) *host { return bdevice(t).do(lifecycle.RunRequest{Action: run.Wipe}) }, []string{"begin-run wipe"}},
		"request, held": {func(t testing.TB) *host {
			return enrolledMetal(t).do(lifecycle.Listed{Device: "d"}, lifecycle.RunRequest{Action: run.Wipe})
		}, []string{"workflow enrolling"}},
		"run":          {func(t testing.TB) *host { return brunning(t, run.Attest) }, []string{"workflow attest"}},
		"interrupting": {func(t testing.TB) *host { return brunning(t, run.Attest).do(lifecycle.RetireDevice{Serial: "d"}) }, []string{"power-off interrupting"}},
		"wiping":       {func(t testing.TB) *host { return bdevice(t).do(lifecycle.RetireDevice{Serial: "d"}) }, []string{"workflow wiping"}},
		"awaiting off": {func(t testing.TB) *host {
			h := bdevice(t).do(lifecycle.RetireDevice{Serial: "d"})
			return h.do(h.stepped(run.Wiped))
		}, []string{"power-off awaiting-off"}},
		"offline": {retiredDevice, nil},
	} {
		h := c.life(t)
		if got := bneeds(h); !slices.Equal(got, c.want) {
			t.Errorf("%s needs %v, want %v", name, got, c.want)
		}
		reread, err := lifecycle.Load(lifecycle.Rows(h.State)) // after a crash
		if h.State = reread; err != nil || !slices.Equal(bneeds(h), c.want) {
			t.Errorf("%s after a crash: %v, %v", name, bneeds(h), err)
		}
		for range lifecycle.Needs(&h.Node) {
			break // and a consumer may stop
		}
	}
	steps := bdevice(t).do(lifecycle.RetireDevice{Serial: "d"})
	steps.do(steps.stepped(run.Wiped), lifecycle.OffConfirmed{Epoch: steps.Node.Run.Retire.Epoch})
	if got := bneeds(steps); !slices.Equal(got, []string{"evict evicting"}) {
		t.Errorf("%v", got)
	}
	if steps.do(steps.stepped(run.Evicted)); !slices.Equal(bneeds(steps), []string{"clean cleaning"}) {
		t.Errorf("%v", bneeds(steps))
	}
	wait := approved(t)
	wait.do(lifecycle.Listed{Device: "d"}, lifecycle.RunRequest{Action: run.Attest}, bbegin(), opened(1))
	wait.do(wait.ran(true))
	if got := bneeds(wait); !slices.Equal(got, []string{"begin-acceptance"}) {
		t.Errorf("a queued acceptance run: %v", got)
	}
}

// The epoch of a need is the one that its report must name (MACH-4).
func TestNeedsNameTheEpoch(t *testing.T) {
	for _, life := range []func(testing.TB) *host{enrolledMetal, bways()["deploying"], bways()["rescue booting"], func(t testing.TB) *host { return brunning(t, run.Wipe) }} {
		h := life(t)
		for n := range lifecycle.Needs(&h.Node) {
			if n.Epoch != lifecycle.SlotOf(&h.Node).Epoch || n.Epoch == 0 {
				t.Errorf("%+v, slot %+v", n, lifecycle.SlotOf(&h.Node))
			}
		}
	}
	h := brunning(t, run.Wipe).do(lifecycle.RetireDevice{Serial: "d"})
	for n := range lifecycle.Needs(&h.Node) {
		h.do(lifecycle.OffConfirmed{Epoch: n.Epoch})
	}
	h = enrolledMetal(t).do(verb(provision.Retire))
	for n := range lifecycle.Needs(&h.Node) {
		h.do(lifecycle.OffConfirmed{Epoch: n.Epoch})
	}
}

// MACH-4, SET-12: what is open without a deadline is due at once, on each axis
// that has attempts.
func TestOverdueAtOnce(t *testing.T) {
	for name, c := range map[string]struct {
		life func(t testing.TB) *host
		lose func(*lifecycle.Node)
	}{
		"setup":      {settingUpHost, func(n *lifecycle.Node) { n.Reg.Deadline = time.Time{} }},
		"workflow":   {bways()["deploying"], func(n *lifecycle.Node) { n.Prov.Deadline = time.Time{} }},
		"run":        {func(t testing.TB) *host { return brunning(t, run.Wipe) }, func(n *lifecycle.Node) { n.Run.Deadline = time.Time{} }},
		"retirement": {func(t testing.TB) *host { return bdevice(t).do(lifecycle.RetireDevice{Serial: "d"}) }, func(n *lifecycle.Node) { n.Run.Retire.Deadline = time.Time{} }},
	} {
		h := c.life(t)
		c.lose(&h.Node)
		at, in, ok := lifecycle.Due(&h.Node)
		if !ok || !at.IsZero() {
			t.Errorf("%s is due at %s, %t", name, at, ok)
			continue
		}
		first := ""
		for key := range lifecycle.Rows(h.State) {
			if strings.HasPrefix(key, lifecycle.RowDue) {
				first = key
			}
		}
		if want := lifecycle.RowDue + strings.Repeat("0", 19) + "/" + string(h.Node.ID); first != want {
			t.Errorf("%s: row %q, want %q", name, first, want)
		}
		before := lifecycle.SlotOf(&h.Node)
		if h.do(in); lifecycle.SlotOf(&h.Node) == before {
			t.Errorf("%s goes on", name)
		}
	}
}

// One Expire ends all that is due, and only that (PROV-7, REG-6).
func TestExpire(t *testing.T) {
	h := approved(t) // its key waits for the poll, for an hour
	h.do(lifecycle.Power{Call: ops, World: idle, Request: "p-1", Action: "on"})
	h.wait(2 * time.Minute).do(lifecycle.Power{Call: ops, World: idle, Request: "p-2", Action: "off"})
	h.wait(3*time.Minute-1).refused(sm.Conflict, lifecycle.Expire{})
	h.wait(1).do(lifecycle.Expire{}).told(lifecycle.CommandEnded)
	if c := h.Node.Commands; len(c) != 1 || c[0].ID != "p-2" {
		t.Errorf("%+v", c)
	}
	if at, _, _ := lifecycle.Due(&h.Node); !at.Equal(dawn.Add(7 * time.Minute)) {
		t.Errorf("due %s", at)
	}
	h.wait(time.Hour).do(lifecycle.Expire{}).told(lifecycle.CommandEnded, lifecycle.KeyRevoked).reg(registration.Approved)
	if _, _, ok := lifecycle.Due(&h.Node); ok || h.Node.Reg.Bound.ID != "" || h.Node.Reg.Waiting != "" {
		t.Errorf("%+v", h.Node.Reg)
	}
	h.refused(sm.Conflict, lifecycle.Expire{})
	newHost(t).refused(sm.Conflict, lifecycle.Expire{})

	many := approved(t).do(opened(1), lifecycle.Listed{Device: "d"})
	many.wait(2*time.Hour).do(lifecycle.Expire{}).told("node.provision.failed", lifecycle.KeyRevoked).prov(provision.Failed)

	late := brunning(t, run.Attest).do(lifecycle.RunRequest{Action: run.Wipe})
	late.wait(time.Hour).do(lifecycle.Expire{}).told("run.failed", "run.waiting")
	if late.Node.Run.Action != run.Wipe {
		t.Errorf("what waited is lost: %+v", late.Node.Run)
	}
}

// EDGE-6: a report after its deadline counts until something expired it.
func TestLateReports(t *testing.T) {
	h := bway("deploying", t).wait(24 * time.Hour)
	h.do(h.reported(true)).prov(provision.Deployed)
	e := bway("deploying", t).wait(24 * time.Hour)
	in := e.reported(true)
	e.do(lifecycle.Expire{}).prov(provision.Failed).refused(sm.Conflict, in)
	e.idles(lifecycle.Report{Epoch: in.Epoch, World: idle}) // the failure that was decided
}
