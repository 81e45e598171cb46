package server

import (
	"encoding/hex"
	"encoding/json"
	"time"

	"github.com/ingotmetal/ingot/cmd/api"
	"github.com/ingotmetal/ingot/cmd/internal/control"
	"github.com/ingotmetal/ingot/cmd/internal/store"
	"github.com/ingotmetal/ingot/disklayout"
	"github.com/ingotmetal/ingot/statemachine/lifecycle"
	"github.com/ingotmetal/ingot/statemachine/netboot"
	"github.com/ingotmetal/ingot/statemachine/registration"
)

// digits is a hash in hexadecimal; "" for none.
func digits(h registration.Hash) string {
	if h == (registration.Hash{}) {
		return ""
	}
	return hex.EncodeToString(h[:])
}

// macTexts are addresses in their text form.
func macTexts(all []registration.MAC) []string {
	out := make([]string, 0, len(all))
	for _, m := range all {
		out = append(out, netboot.MAC(m).String())
	}
	return out
}

// registrationView is a registration row as people see it.
func registrationView(r store.Reader, n *lifecycle.Node) api.Registration {
	reg := &n.Reg
	v := api.Registration{
		Server: reg.Server.String(), Node: string(n.ID), State: string(reg.State), Version: n.Version,
		Inventory: api.Inventory{Digest: digits(reg.Inventory.Digest), MACs: macTexts(reg.Inventory.MACs), Seen: macTexts(reg.Inventory.Seen)},
		AgentKey:  digits(reg.AgentKey), CodeExpires: reg.Code.Until, KeyID: reg.Bound.ID,
		Labels: reg.Settings.Labels, Reservoir: reg.Settings.Reservoir, RootPasswordSet: reg.Settings.RootHash != "",
		Image: reg.Image, LastSetupError: reg.LastError, ApprovedAt: reg.ApprovedAt, LastSeen: lastSeen(r, reg.Server),
	}
	if reg.State == registration.SettingUp {
		v.SetupEpoch, v.SetupDeadline = reg.Epoch, reg.Deadline
	}
	if reg.Plan.Digest != (registration.Hash{}) {
		v.Plan = approvedPlan(r, reg)
	}
	if said, ok, err := control.SysinfoOf(r, reg.Server); ok && err == nil {
		if disks, err := disklayout.ParseDisks(said.Raw); err == nil {
			v.Inventory.Disks = disks
		}
	}
	return v
}

// approvedPlan is the plan that a row was approved with. What of it decides is the
// row's; how it looks was kept beside it.
func approvedPlan(r store.Reader, reg *registration.Record) *api.SetupPlan {
	p := api.SetupPlan{Digest: digits(reg.Plan.Digest), Inventory: digits(reg.Plan.Inventory), Hostname: reg.Plan.Hostname,
		AgentKey: digits(reg.AgentKey), MACs: macTexts(reg.Plan.MACs), LeftOut: macTexts(reg.Plan.LeftOut),
		Approver: reg.Plan.Approver, InClear: reg.Plan.InClear}
	if raw, ok := control.PlanOf(r, reg.Server); ok {
		var kept disklayout.Plan
		if json.Unmarshal(raw, &kept) == nil && kept.Digest == disklayout.Digest(reg.Plan.Digest) {
			p.Layout = &kept
		}
	}
	return &p
}

// heard notes that a machine was heard of.
func heard(l *control.Look, server registration.ServerID) {
	l.Note(control.SeenLedger+server.Key().String(), instantText(l.Now))
}

func lastSeen(r store.Reader, server registration.ServerID) time.Time {
	return instant(r, control.SeenLedger+server.Key().String())
}
