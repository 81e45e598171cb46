package lifecycle_test

import (
	"github.com/ingotmetal/ingot/statemachine/explore"
	"github.com/ingotmetal/ingot/statemachine/lifecycle"
	"github.com/ingotmetal/ingot/statemachine/netboot"
	"github.com/ingotmetal/ingot/statemachine/provision"
	"github.com/ingotmetal/ingot/statemachine/registration"
	"github.com/ingotmetal/ingot/statemachine/schedule"
)

const (
	sys   = explore.System
	oper  = explore.Operator
	fault = explore.Fault
)

var (
	operator = lifecycle.Call{By: "op", Operator: true}
	mint     = lifecycle.Mint{Bound: bound, Tickets: tickets, Sealed: "sealed"}
	staged   = lifecycle.World{Staged: []string{imageName}, Engine: true, Serviced: true}
	busy     = lifecycle.World{Staged: []string{imageName}, Engine: true, Serviced: true, Open: 1, Tenant: 1}
	wipedOK  = []lifecycle.DiskWipe{{Serial: "disk", Result: "done"}}
)

// fixed is an input that is the same everywhere.
func fixed(in lifecycle.Input) func(*full) lifecycle.Input {
	return func(*full) lifecycle.Input { return in }
}

// clears takes reports out of the mail once they are delivered.
func clears(m mail) func(*full) bool {
	return func(f *full) bool { f.mail &^= m; return true }
}

func has(m mail) func(*full) bool { return func(f *full) bool { return f.mail&m == m } }

// sends lets the machine's agent report the attempt that it works on.
func sends(m mail, may func(f *full) bool) func(*full) bool {
	return func(f *full) bool {
		if !may(f) || f.mail&m != 0 {
			return false
		}
		f.mail |= m
		return true
	}
}

func settingUp(f *full) bool {
	return f.Node.Reg.State == registration.SettingUp && f.Node.Reg.Bundle.Consumed
}

func working(f *full) bool { return provision.Table.Open(f.Node.Prov.At) }

// A crash needs no act of its own: of a control plane it is an input that
// never came, or came again; of a booter or agent, a report that is never sent
// or is lost. All of these are below.

// registrationActs are the acts of the registration axis.
func registrationActs() []do {
	register := lifecycle.Register{NewID: selfID, Server: server, Inventory: found,
		Code: registration.Expiring{Hash: codeOK, Until: later}, Poll: registration.Expiring{Hash: pollToken, Until: later}, Bound: bound, Waiting: "waiting"}
	announce := lifecycle.Announce{NewID: selfID, Routing: server, Server: server, Inventory: found, AgentKey: agentA}
	other := announce
	other.AgentKey = agentB
	approve := lifecycle.Approve{Call: operator, Hash: codeOK, Bound: bound, Waiting: "waiting"}
	setup := lifecycle.ApproveSetup{Call: operator, World: staged, Shown: realized.Digest, MACs: found.Seen, Realized: realized, Mint: mint}
	return []do{
		{name: "register", class: oper, input: fixed(register)},
		{name: "announce", class: oper, input: fixed(announce)},
		{name: "approve", class: oper, input: fixed(approve)},
		{name: "approve-setup", class: oper, input: func(f *full) lifecycle.Input {
			in := setup
			in.AgentKey = f.Node.Reg.AgentKey // as the page shows it
			return in
		}},
		{name: "drain", class: sys, input: func(f *full) lifecycle.Input {
			return lifecycle.Drain{Epoch: f.Node.Reg.Epoch, AgentKey: agentA, Held: true}
		}},
		{name: "refresh", class: oper, input: fixed(lifecycle.Refresh{Key: bound.Hash, Inventory: found})},
		{name: "disable", class: oper, input: fixed(lifecycle.Disable{Call: operator})},
		{name: "factory-reset", class: oper, input: fixed(lifecycle.FactoryReset{Call: operator, World: staged, NewID: selfID})},
		{name: "delete-row", class: oper, input: fixed(lifecycle.DeleteRow{Call: operator, World: staged})},
		{name: "time passes for the setup", class: sys, can: settingUpAtAll, world: func(f *full) bool {
			f.Node.Reg.Deadline = past
			return true
		}},
		expireAct()[0],
		{name: "announce with another key", class: fault, input: fixed(other)},
		{name: "drain with another key", class: fault, input: func(f *full) lifecycle.Input {
			return lifecycle.Drain{Epoch: f.Node.Reg.Epoch, AgentKey: agentB, Held: true}
		}},
		{name: "factory-reset without an image", class: oper, input: fixed(lifecycle.FactoryReset{Call: operator, NewID: selfID})},
	}
}

// expireAct is the sweeper.
func expireAct() []do {
	return []do{{name: "expire", class: sys, input: fixed(lifecycle.Expire{})}}
}

func settingUpAtAll(f *full) bool {
	return f.Node.Reg.State == registration.SettingUp && f.Node.Reg.Deadline.After(noon)
}

// windowActs are the acts around codes and windows.
func windowActs() []do {
	wrong := lifecycle.Approve{Call: operator, Hash: registration.Hash{0xee}, Bound: bound, Waiting: "waiting"}
	return []do{
		{name: "approve with a wrong code", class: oper, input: fixed(wrong)},
		{name: "acknowledge the key", class: oper, input: fixed(lifecycle.Acknowledge{Token: pollToken})},
		{name: "open a window of one slot", class: oper, input: fixed(lifecycle.SetWindow{Call: operator, Kind: lifecycle.AutoApproveWindow,
			Window: lifecycle.Window{End: later, Budget: true, Slots: 1}})},
		{name: "time passes for codes and tokens", class: sys, world: func(f *full) bool {
			r := &f.Node.Reg
			if !r.Code.Holds(noon) && !r.Poll.Holds(noon) && !r.Spent.Holds(noon) && f.Site.AutoApprove == (lifecycle.Window{}) {
				return false
			}
			r.Code.Until, r.Poll.Until, r.Spent.Until, f.Site.AutoApprove = past, past, past, lifecycle.Window{}
			return true
		}},
	}
}

// setupReports deliver the setup's reports at once.
func setupReports() []do {
	report := func(ok bool) func(*full) lifecycle.Input {
		return func(f *full) lifecycle.Input { return lifecycle.SetupReport{Epoch: f.Node.Reg.Epoch, OK: ok, Why: "w"} }
	}
	return []do{
		{name: "setup completes", class: sys, can: settingUp, input: report(true)},
		{name: "setup fails", class: sys, can: settingUp, input: report(false)},
	}
}

// setupMails send, deliver, repeat and lose the setup's reports.
func setupMails() []do {
	report := func(ok bool, late bool) func(*full) lifecycle.Input {
		return func(f *full) lifecycle.Input {
			epoch := f.Node.Reg.Epoch
			if late {
				epoch = lateEpoch
			}
			return lifecycle.SetupReport{Epoch: epoch, OK: ok, Why: "w"}
		}
	}
	list := []do{
		{name: "the setup's success is sent", class: sys, world: sends(setupDone, settingUp)},
		{name: "the setup's failure is sent", class: sys, world: sends(setupFail, settingUp)},
	}
	for _, m := range []struct {
		name string
		mail mail
		ok   bool
	}{{"setup-complete", setupDone, true}, {"setup-failed", setupFail, false}} {
		late := m.mail << staleShift
		list = append(list,
			do{name: m.name + " arrives", class: sys, can: has(m.mail), input: report(m.ok, false), world: clears(m.mail)},
			do{name: m.name + " arrives and will again", class: fault, can: has(m.mail), input: report(m.ok, false)},
			do{name: m.name + " is lost", class: fault, can: has(m.mail), world: clears(m.mail)},
			do{name: m.name + " of an older attempt arrives", class: fault, can: has(late), input: report(m.ok, true)},
			do{name: m.name + " of an older attempt is lost", class: fault, can: has(late), world: clears(late)})
	}
	return list
}

// nicActs are the acts of both boot records.
func nicActs(rescue bool) []do {
	var list []do
	for i, mac := range macs {
		n := string('1' + byte(i))
		verb := func(on netboot.Kind) lifecycle.BootVerb { return lifecycle.BootVerb{Call: operator, On: on, MAC: mac} }
		list = append(list,
			do{name: "sight " + n, class: oper, input: fixed(lifecycle.Sighted{MAC: mac})},
			do{name: "decommission " + n, class: oper, input: fixed(verb(netboot.Decommission))},
			do{name: "reactivate " + n, class: oper, input: fixed(verb(netboot.Reactivate))},
			do{name: "purge " + n, class: oper, input: fixed(verb(netboot.Purge))})
		if rescue {
			to, from := verb(netboot.SetMode), verb(netboot.SetMode)
			to.Mode, from.Mode = netboot.Rescue, netboot.Normal
			list = append(list,
				do{name: "rescue mode " + n, class: oper, input: fixed(to)},
				do{name: "normal mode " + n, class: oper, input: fixed(from)},
				do{name: "enroll by hand " + n, class: oper, input: fixed(verb(netboot.Enroll))})
		}
	}
	return list
}

// identityActs are joins, renewals and revocations.
func identityActs() []do {
	join := lifecycle.Join{NewID: selfID, Claims: lifecycle.Claims{Server: server}, Certificate: "c1"}
	return []do{
		{name: "join", class: oper, can: func(f *full) bool { return len(f.Node.Identity.Live) == 0 },
			input: fixed(join), world: func(f *full) bool { f.cert = currentCert; return true }},
		{name: "renew", class: oper, can: func(f *full) bool { return f.cert == revokedCert },
			input: fixed(lifecycle.Renew{Generation: 0, Serial: "c1", Next: "c2"})},
		{name: "revoke-identity", class: oper, input: fixed(lifecycle.RevokeIdentity{Call: operator})},
	}
}

// acceptanceActs end the acceptance run that a join begins.
func acceptanceActs() []do {
	return append(flowReports(), flowPasses())
}

// flowPasses is the time of the workflow that passes.
func flowPasses() do {
	return do{name: "time passes for the workflow", class: sys, can: func(f *full) bool { return f.Node.Prov.Deadline.After(noon) },
		world: func(f *full) bool { f.Node.Prov.Deadline = past; return true }}
}

// metalActs are the acts of the provision axis, its reports aside.
func metalActs() []do {
	enroll := lifecycle.EnrollMetal{Call: operator, NewID: selfID, Metal: lifecycle.Metal{BMC: "bmc", Server: server, ReportsMACs: true}}
	list := []do{
		{name: "enroll metal", class: oper, input: fixed(enroll)},
		{name: "cordon", class: oper, input: fixed(lifecycle.Schedule{Call: operator, On: schedule.Cordon})},
		{name: "uncordon", class: oper, input: fixed(lifecycle.Schedule{Call: operator, On: schedule.Uncordon})},
		{name: "clear maintenance", class: oper, input: fixed(lifecycle.Maintain{Call: lifecycle.Call{By: "op", Reason: "r"}})},
		{name: "node-delete", class: oper, input: fixed(lifecycle.DeleteNode{Call: operator, World: staged})},
		flowPasses(),
		{name: "wipe evidence", class: sys, can: func(f *full) bool { return f.power == on && f.Node.Prov.Proof == provision.Hash{} },
			input: func(f *full) lifecycle.Input {
				return lifecycle.WipeEvidence{Epoch: f.Node.Prov.Epoch, Generation: f.Node.Identity.Generation, Signed: true, Digest: evidence, Disks: wipedOK}
			}},
		{name: "wipe evidence by an old identity", class: fault, can: func(f *full) bool { return f.power == on },
			input: func(f *full) lifecycle.Input {
				return lifecycle.WipeEvidence{Epoch: f.Node.Prov.Epoch, Signed: true, Digest: evidence, Disks: wipedOK}
			}},
		{name: "the retirement's ramdisk reports", class: sys, can: func(f *full) bool { return f.power == on && f.Node.Inventory.Digest == provision.Hash{} },
			input: func(f *full) lifecycle.Input {
				return lifecycle.Inspected{Epoch: f.Node.Prov.Epoch, Inspection: inspected}
			}},
		{name: "off is confirmed", class: sys, can: func(f *full) bool { return f.seen == off && f.Node.Prov.AwaitOff },
			input: func(f *full) lifecycle.Input { return lifecycle.OffConfirmed{Epoch: f.Node.Prov.Epoch} }},
	}
	for _, k := range []provision.Kind{provision.Manage, provision.Inspect, provision.Provide, provision.ToRescue, provision.Unrescue,
		provision.Abort, provision.Recover, provision.Retire, provision.Adopt} {
		list = append(list, do{name: string(k), class: oper, input: fixed(lifecycle.Verb{Call: operator, On: k, World: staged})})
	}
	deploy := lifecycle.Verb{Call: operator, On: provision.Deploy, World: staged, Profile: provision.Profile{ID: "p", Version: 1, Role: "r"}}
	none := lifecycle.Verb{Call: operator, On: provision.Undeploy, World: staged, Wipe: provision.WipeNone}
	quick := lifecycle.Verb{Call: operator, On: provision.Undeploy, World: staged}
	held := lifecycle.Verb{Call: operator, On: provision.Retire, World: busy}
	return append(list,
		do{name: "deploy", class: oper, input: fixed(deploy)},
		do{name: "undeploy without a wipe", class: oper, input: fixed(none)},
		do{name: "undeploy", class: oper, input: fixed(quick)},
		do{name: "retire with an open allocation", class: oper, input: fixed(held)})
}

// flowReport is the report of the open attempt, as the world is.
func flowReport(ok, late bool) func(*full) lifecycle.Input {
	return func(f *full) lifecycle.Input {
		r := lifecycle.Report{Epoch: f.Node.Prov.Epoch, OK: ok, World: staged}
		if late {
			r.Epoch = lateEpoch
		}
		r.World.Off = f.seen == off
		if f.Node.Prov.State == provision.Inspecting {
			r.Inspected = &inspected
		}
		return r
	}
}

// flowReports deliver the workflow's reports at once.
func flowReports() []do {
	return []do{
		{name: "the workflow succeeds", class: sys, can: working, input: flowReport(true, false)},
		{name: "the workflow fails", class: sys, can: working, input: flowReport(false, false)},
	}
}

// flowMails send, deliver, repeat and lose the workflow's reports.
func flowMails() []do {
	list := []do{
		{name: "the workflow's success is sent", class: sys, world: sends(flowDone, working)},
		{name: "the workflow's failure is sent", class: sys, world: sends(flowFail, working)},
	}
	for _, m := range []struct {
		name string
		mail mail
		ok   bool
	}{{"success", flowDone, true}, {"failure", flowFail, false}} {
		late := m.mail << staleShift
		list = append(list,
			do{name: m.name + " arrives", class: sys, can: has(m.mail), input: flowReport(m.ok, false), world: clears(m.mail)},
			do{name: m.name + " arrives and will again", class: fault, can: has(m.mail), input: flowReport(m.ok, false)},
			do{name: m.name + " is lost", class: fault, can: has(m.mail), world: clears(m.mail)},
			do{name: m.name + " of an older attempt arrives", class: fault, can: has(late), input: flowReport(m.ok, true)},
			do{name: m.name + " of an older attempt is lost", class: fault, can: has(late), world: clears(late)})
	}
	return list
}

// powerActs are the machine's power and what the BMC shows of it.
func powerActs() []do {
	turn := func(to uint8) func(*full) bool {
		return func(f *full) bool {
			was := f.power
			f.power = to
			return was != to
		}
	}
	return []do{
		{name: "the machine turns on", class: sys, world: turn(on)},
		{name: "the machine turns off", class: sys, world: turn(off)},
		{name: "the BMC is read", class: sys, world: func(f *full) bool {
			was := f.seen
			f.seen = f.power
			return was != f.seen
		}},
		{name: "the reading is stale", class: fault, world: func(f *full) bool {
			was := f.seen
			f.seen = unseen
			return was != unseen
		}},
	}
}
