package lifecycle_test

import (
	"strings"
	"testing"
	"time"

	sm "github.com/ingotmetal/ingot/statemachine"
	"github.com/ingotmetal/ingot/statemachine/lifecycle"
	"github.com/ingotmetal/ingot/statemachine/netboot"
	"github.com/ingotmetal/ingot/statemachine/provision"
	"github.com/ingotmetal/ingot/statemachine/registration"
	"github.com/ingotmetal/ingot/statemachine/run"
	"github.com/ingotmetal/ingot/statemachine/schedule"
)

// The corpus: troubles that real systems had, as scenarios that stay. Each
// names the public report it is about, where it begins, what happens, and
// demands the outcome that would have been right.
//
// Those that need a socket, a device or a clock of their own are the tests of
// other parts:
//
//   - bmc and its kit: an accepted power command that shows no progress
//     (IC#5355), a cached "on" (IC#1110), a command refused because the goal
//     is reached (Ironic LP#2119423), power off and on two seconds apart
//     (IC#708), a stored step trusted over real power (IC#1072), a start that
//     power-cycles a running machine (MAAS LP#1645067);
//   - the store and its kit: a compare-and-swap whose result is ignored
//     (IC#409, IC#709), a version that nobody raises, a dead controller's lock
//     (Ironic LP#1588901), a lock upgraded without reading again
//     (Ironic LP#1619232);
//   - the reconciler: a queue that starves machines (IC#413), a restart in the
//     middle of an action (tinkerbell/tinkerbell#700);
//   - disklayout: kernel disk names that move between boots
//     (siderolabs/talos#4766);
//   - the secret broker: credentials half rotated (IC#4978, IC#3848).
//
// IC is NVIDIA's infra-controller, BMO metal3-io/baremetal-operator, CAPM3
// metal3-io/cluster-api-provider-metal3.
var corpus = []struct {
	name, ref string
	from      func(testing.TB) *host
	then      func(h *host)
}{
	{"a late report rewrites a finished workflow", "tinkerbell/tinkerbell#945", deploying, func(h *host) {
		late := h.reported(true)
		h.wait(provision.DeployingDeadline).do(lifecycle.Expire{}).prov(provision.Failed)
		h.refused(sm.Conflict, late)
		h.idles(h.reported(false)).prov(provision.Failed) // what the deadline decided is acknowledged
	}},
	{"a timed-out attempt's result lands on the next", "IC#1195", deploying, func(h *host) {
		late := h.reported(true)
		h.wait(provision.DeployingDeadline).do(lifecycle.Expire{}, verb(provision.Recover)).prov(provision.Releasing)
		h.refused(sm.Conflict, late)
		h.prov(provision.Releasing)
	}},
	{"the same for a setup", "IC#1195", settingUpHost, func(h *host) {
		late := h.ended(true)
		h.wait(registration.SetupDeadline).do(lifecycle.Expire{})
		h.do(h.approveSetup())
		h.do(h.drain()).refused(sm.Conflict, late)
		h.reg(registration.SettingUp)
	}},
	{"a phone-home of the last deployment hides the release", "metal-stack/metal-api#630, #166", deployed, func(h *host) {
		home := h.reported(true)
		h.idles(home) // its own repeat
		h.do(verb(provision.Undeploy)).prov(provision.Releasing)
		h.try(home)
		h.prov(provision.Releasing)
	}},
	{"ready as soon as a restart was asked for", "IC#5100", deploying, func(h *host) {
		h.refused(sm.InvalidState, lifecycle.Power{Call: ops, World: idle, Request: "r1", Action: "reset"})
		h.do(lifecycle.Join{Certificate: "c-1"}, lifecycle.SessionOpened{Epoch: 1, Gateway: "gw"}).prov(provision.Deploying) // a session is no proof
	}},
	{"a controller dies in an -ing state", "Ironic LP#1461937, LP#1651092, Story 2003147", newMachine, func(h *host) {
		for name, life := range inFlight(h.t) {
			due, in, ok := lifecycle.Due(&life.Node)
			if !ok {
				h.t.Errorf("%s: nothing is ever due", name)
				continue
			}
			life.now = due
			if life.do(in); lifecycle.SlotOf(&life.Node).Holder != lifecycle.Free && lifecycle.SlotOf(&life.Node).Deadline.IsZero() && !life.Node.Run.Retiring() {
				h.t.Errorf("%s: still held", name)
			}
		}
	}},
	{"a destroy without an edge leaves a machine half cleaned", "Ironic LP#2087523", newMachine, func(h *host) {
		for name, life := range inFlight(h.t) { // each is deleted whole or refused whole; try checks which
			if err := life.try(lifecycle.DeleteNode{Call: ops, World: idle, Gone: true}); err == nil && life.Node.Live() {
				h.t.Errorf("%s: neither deleted nor refused", name)
			}
		}
	}},
	{"no abort while a callback is awaited", "Ironic LP#2138310", deploying, func(h *host) {
		h.do(h.entry(nicA), verb(provision.Abort)).prov(provision.Failed)
		if h.Node.Prov.LastError.Code != provision.Aborted || h.record(nicA).Entry != (netboot.Entry{}) {
			h.t.Errorf("%+v, %+v", h.Node.Prov, h.record(nicA))
		}
	}},
	{"an erase inherits an expired deadline", "MAAS LP#2155614", deployed, func(h *host) {
		h.wait(1000*time.Hour).do(verb(provision.Undeploy)).refused(sm.Conflict, lifecycle.Expire{})
		if due, _, _ := lifecycle.Due(&h.Node); !due.Equal(h.now.Add(provision.ReleasingDeadline)) {
			h.t.Errorf("due %s", due)
		}
	}},
	{"a power manager undoes a workflow's shutdown", "IC#1958", deploying, func(h *host) {
		h.refused(sm.InvalidState, lifecycle.Power{Call: ops, World: idle, Request: "p1", Action: "on"})
		setup := settingUpHost(h.t)
		setup.refused(sm.Conflict, lifecycle.Power{Call: ops, World: idle, Request: "p1", Action: "on"})
	}},
	{"a delete hangs on an inspection's backend", "BMO#2478", inspecting, func(h *host) {
		h.refused(sm.InvalidState, lifecycle.DeleteNode{Call: ops, World: idle})
		h.do(verb(provision.Abort), verb(provision.Recover)).prov(provision.Enrolling)
		h.do(lifecycle.DeleteNode{Call: ops, World: idle})
	}},
	{"undeletable with bad credentials or no backend", "BMO#170, #1163", enrolledMetal, func(h *host) {
		h.do(lifecycle.DeleteNode{Call: ops}).told(lifecycle.NodeDeleted) // nothing of the world is up
		h.boot(nicA, netboot.Decommissioned)
	}},
	{"two machines choose one host", "metal3-io/cluster-api-provider-metal3#1004", ready, func(h *host) {
		first := verb(provision.Deploy)
		first.Version = h.Node.Version
		second := first
		h.do(first).refused(sm.InvalidState, second)
		if h.Node.Prov.Epoch != h.Site.Epoch {
			h.t.Error("the second claim opened an attempt")
		}
	}},
	{"an update overwrites a foreign owner", "CAPM3#3516", awaiting, func(h *host) {
		h.Node.NICs[0].Owner = netboot.Owner{Node: string(another)}
		h.refused(sm.Conflict, h.approveSetup())
		if h.record(nicA).Owner.Node != string(another) {
			h.t.Error("the owner changed")
		}
	}},
	{"claim and release swing back and forth", "ironcore-dev/metal-operator#772", ready, func(h *host) {
		h.do(verb(provision.Deploy))
		epoch := h.Node.Prov.Epoch
		for range 3 {
			h.refused(sm.InvalidState, verb(provision.Deploy))
			h.refused(sm.InvalidState, verb(provision.Undeploy))
		}
		if h.Node.Prov.Epoch != epoch {
			h.t.Error("the holder changed")
		}
	}},
	{"two maintenances are both granted", "ironcore-dev/metal-operator#775", ready, func(h *host) {
		h.do(lifecycle.Maintain{Call: because("first"), Set: true}).idles(lifecycle.Maintain{Call: because("second"), Set: true})
		if h.Node.Sched.Why != "first" {
			h.t.Errorf("held for %q", h.Node.Sched.Why)
		}
	}},
	{"a writer that read an older version", "IC#409, #709", deployed, func(h *host) {
		stale := verb(provision.Undeploy)
		stale.Version = h.Node.Version
		h.do(lifecycle.Schedule{Call: ops, On: schedule.Cordon}).refused(sm.Conflict, stale)
		h.prov(provision.Deployed)
	}},
	{"a stale save reverts a state", "MAAS LP#2042540", deploying, func(h *host) {
		h.do(h.reported(true)).prov(provision.Deployed)
		h.do(lifecycle.CommandDone{ID: "p0", Result: "ok"}).prov(provision.Deployed)
	}},
	{"an adoption error erases a healthy host", "BMO#915", adopted, func(h *host) {
		h.do(verb(provision.Adopt)).prov(provision.Adopting)
		h.do(h.reported(false)).prov(provision.Adopting)
		if h.Node.Grant.Writing != "" {
			h.t.Errorf("grant %+v", h.Node.Grant)
		}
		h.do(verb(provision.Adopt))
		h.do(h.reported(true)).prov(provision.Adopted)
	}},
	{"a failed clean is shown as available", "BMO#1182", deployed, func(h *host) {
		h.do(verb(provision.Undeploy))
		h.do(h.reported(false)).prov(provision.Failed)
		if h.Node.Sched.Service != schedule.Maintenance {
			h.t.Error("a failed machine takes work")
		}
	}},
	{"reuse without a wipe", "ironcore-dev/metal-operator#613", deployed, func(h *host) {
		h.do(verb(provision.Undeploy))
		h.do(h.reported(true)).prov(provision.Failed)
		if h.Node.Prov.LastError.Code != provision.UnverifiedWipe {
			h.t.Errorf("%+v", h.Node.Prov.LastError)
		}
		h.do(verb(provision.Recover)).prov(provision.Releasing)
		h.do(h.wiped())
		h.do(h.reported(true)).prov(provision.Ready)
	}},
	{"a wipe loops until the disks are pulled", "siderolabs/omni-infra-provider-bare-metal#37", deployed, func(h *host) {
		h.do(verb(provision.Undeploy)).wait(provision.ReleasingDeadline).do(lifecycle.Expire{}).prov(provision.Failed)
		for need := range lifecycle.Needs(&h.Node) {
			h.t.Errorf("it still wants %+v", need)
		}
	}},
	{"a deleted host stays on and works", "BMO#410", deployed, func(h *host) {
		h.refused(sm.InvalidState, lifecycle.DeleteNode{Call: ops, World: idle}) // released, and so off, first
	}},
	{"a machine that comes back inherits its end", "oxidecomputer/omicron#5625", retiredMetal, func(h *host) {
		h.do(lifecycle.DeleteNode{Call: ops, World: idle})
		back := newHost(h.t).do(lifecycle.Join{NewID: another, Claims: lifecycle.Claims{EK: "ek"}, Certificate: "c1"}).prov(provision.Adopting)
		if back.Node.ID == h.Node.ID || back.Node.Identity.Generation != 0 {
			h.t.Errorf("%+v", back.Node)
		}
	}},
	{"a failed allocation leaves its flag", "metal-stack/metal-api#195, #215, #228", ready, func(h *host) {
		in := verb(provision.Deploy)
		in.Profile.ID = "" // a later check fails
		h.refused(sm.InvalidInput, in)
		h.do(verb(provision.Deploy)).prov(provision.Deploying)
	}},
	{"a dead machine blocks its delete", "siderolabs/omni#583, #2035, #1272", adopted, func(h *host) {
		h.do(lifecycle.Judged{Session: h.Node.Conn.Session, Link: lifecycle.Unreachable}, lifecycle.Schedule{Call: ops, On: schedule.Cordon})
		h.do(lifecycle.DeleteNode{Call: ops, World: idle}).told(lifecycle.NodeDeleted, lifecycle.IdentityRevoked)
	}},
	{"a reboot keeps the last boot's token", "Ironic Story 2008097", settingUpHost, func(h *host) {
		old := h.drain()
		in := h.announce()
		in.AgentKey = registration.Hash{0x77} // the new boot's
		h.do(in).reg(registration.AwaitingSetup)
		h.do(h.approveSetup())
		old.Epoch = h.Node.Reg.Epoch
		h.refused(sm.Conflict, old)
		old.AgentKey = in.AgentKey
		h.do(old)
	}},
	{"one UUID on two machines", "metal-stack/metal-hammer#52, siderolabs/talos#7694, siderolabs/omni#2836", installed, func(h *host) {
		h.refused(sm.Conflict, h.register()) // the second machine's agent, with the first's UUID
		h.idles(h.announce())
		h.refused(sm.Conflict, lifecycle.Join{Found: []lifecycle.NodeID{aNode, another}, Certificate: "c"})
		metal := byUUID(h.t)
		metal.refused(sm.Conflict, lifecycle.Propose{Proposal: lifecycle.Proposal{MAC: nicA, Cycled: true, SecondMAC: true}})
	}},
	{"a run without BMC trusts anyone's word", "RUN-5: where nothing else can tell", retirableDevice, func(h *host) {
		h.do(lifecycle.RetireDevice{Serial: "disk-1"})
		h.do(lifecycle.RetireReport{On: run.Wiped, Epoch: h.Node.Run.Retire.Epoch})
		h.refused(sm.Conflict, lifecycle.OffConfirmed{Epoch: h.Node.Run.Retire.Epoch + 1, Word: true})
		h.do(lifecycle.OffConfirmed{Epoch: h.Node.Run.Retire.Epoch, Word: true})
	}},
	{"a disabled machine's key lives on", "REG-11: what other systems forget", installed, func(h *host) {
		key := h.Node.Reg.Bound.Hash
		h.do(lifecycle.Disable{Call: ops}).refused(sm.Unauthenticated, lifecycle.Refresh{Key: key, Inventory: sysinfo()})
	}},
}

// Every scenario of the corpus, on every run.
func TestCorpus(t *testing.T) {
	for _, c := range corpus {
		t.Run(strings.ReplaceAll(c.name, " ", "-"), func(t *testing.T) {
			if c.ref == "" {
				t.Error("no source")
			}
			c.then(c.from(t))
		})
	}
}

func newMachine(t testing.TB) *host { t.Helper(); return newHost(t) }

func inspecting(t testing.TB) *host {
	t.Helper()
	h := enrolledMetal(t)
	return h.do(h.reported(true)).prov(provision.Inspecting)
}

func deploying(t testing.TB) *host {
	t.Helper()
	return ready(t).do(verb(provision.Deploy)).prov(provision.Deploying)
}

func deployed(t testing.TB) *host {
	t.Helper()
	h := deploying(t)
	return h.do(h.reported(true)).prov(provision.Deployed)
}

func retirableDevice(t testing.TB) *host {
	t.Helper()
	return newHost(t).do(lifecycle.Listed{NewID: aNode, Device: "dev-1"})
}

// inFlight are lives with an open attempt of every kind.
func inFlight(t testing.TB) map[string]*host {
	t.Helper()
	commissioning := inspecting(t)
	in := commissioning.reported(true)
	in.Inspected = &lifecycle.Inspection{MACs: []netboot.MAC{nicA}, Inventory: lifecycle.Inventory{Digest: provision.Hash{1}, Serials: []string{"disk-1"}}}
	commissioning.do(in).prov(provision.Commissioning)
	rescued := deployed(t).do(verb(provision.ToRescue))
	back := deployed(t).do(verb(provision.ToRescue))
	back.do(back.reported(true), verb(provision.Unrescue))
	return map[string]*host{
		"setup": settingUpHost(t), "drained": drained(t),
		"acceptance": approved(t).do(lifecycle.SessionOpened{Epoch: 1, Gateway: "gw"}),
		"enrolling":  enrolledMetal(t), "inspecting": inspecting(t), "commissioning": commissioning, "deploying": deploying(t),
		"releasing": deployed(t).do(verb(provision.Undeploy)), "rescue boot": rescued, "unrescue": back,
		"retiring": ready(t).do(verb(provision.Retire)),
		"run":      retirableDevice(t).do(lifecycle.RunRequest{Action: run.Attest}, lifecycle.RunBegin{World: idle}),
		"wiping":   retirableDevice(t).do(lifecycle.RetireDevice{Serial: "disk-1"}),
	}
}
