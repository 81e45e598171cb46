package lifecycle

import (
	"strings"

	"github.com/ingotmetal/ingot/statemachine/provision"
	"github.com/ingotmetal/ingot/statemachine/registration"
	"github.com/ingotmetal/ingot/statemachine/schedule"
)

// The audiences that are no tenant. Tenants cannot have these names, which
// have a space (API-5).
const (
	nobody   = "no tenant"
	everyone = "every tenant"
)

// dedication begins the taint key that dedicates a node to a tenant (TAINT-2).
const dedication = "dedicated="

// audience is who may place new work on n: nobody, everyone or one tenant, as
// far as the node itself says. It decides the wake edge (JOINT-8, TAINT-2);
// placement decides each request.
func audience(n *Node) string {
	if !n.Live() || n.Run.Retiring() || n.Identity.Quarantined || n.Sched.Cordoned() || n.Sched.Service != schedule.InService || n.Conn.silent() ||
		len(n.Conditions) > 0 || n.shutOut() || n.beforeSetup() || !placeable(n.Prov.State) {
		return nobody
	}
	switch taints := n.Sched.Taints; {
	case len(taints) == 0:
		return everyone
	case len(taints) == 1 && strings.HasPrefix(taints[0], dedication):
		return strings.TrimPrefix(taints[0], dedication)
	}
	return nobody
}

// shutOut reports whether the machine was disabled and no person has approved
// it since. It gets no session, no certificate and no work: whoever registers
// as a disabled machine has proved nothing (REG-3, REG-11).
func (n *Node) shutOut() bool { return n.Reg.State == registration.Disabled || n.Reg.Rearmed }

// beforeSetup reports whether the machine was reset and waits for its setup,
// which erases, or is in one: nothing may be placed on it (SET-1, REG-12). A row
// that was never approved does not count while it waits: anybody on the segment
// could announce a member's UUID, and take it out of service.
func (n *Node) beforeSetup() bool {
	return n.Reg.State == registration.SettingUp || n.Reg.State == registration.AwaitingSetup && n.Reg.OnceApproved
}

// placeable reports whether a provision state lets work be placed at all. A
// machine without that axis was never accepted.
func placeable(s provision.State) bool {
	return s == provision.Adopted || s == provision.Deployed || s == provision.Ready
}

// Reasons lists the NoSchedule reasons of n: operator taints as taint:<key>,
// draining, unreachable and the controllers' conditions, each with one owner.
func Reasons(n *Node) []string {
	var out []string
	for _, key := range n.Sched.Taints {
		out = append(out, "taint:"+key)
	}
	if n.Sched.State == schedule.Draining {
		out = append(out, "draining")
	}
	if n.Conn.silent() {
		out = append(out, "unreachable")
	}
	return append(out, n.Conditions...)
}
