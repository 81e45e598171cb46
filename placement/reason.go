package placement

import "strings"

// Reason is the wire key of one NoSchedule reason, such as "draining" or
// "taint:dedicated=acme". The key alone decides its [Owner].
type Reason string

// The reasons that controllers hold. Each key has one controller.
const (
	Draining    Reason = "draining"    // the node is being emptied (SCHED-2)
	Unreachable Reason = "unreachable" // its heartbeat is overdue (LIVE-3)
	Conditions  Reason = "conditions"  // its health conditions are bad
)

// MaxTaint is the length of the longest taint key (TAINT-1), in bytes.
const MaxTaint = 128

const (
	taint      = "taint:"
	dedicated  = "dedicated="
	taintMarks = "._/=:-"
)

// Owner is who alone may set and lift a blocker.
type Owner string

// The owners. A reason of a key that this version does not know has no owner:
// it blocks, and nobody moves it.
const (
	Nobody       Owner = ""
	Operator     Owner = "operator"     // taints, cordon, maintenance
	Drain        Owner = "drain"        // draining
	Connectivity Owner = "connectivity" // unreachable
	Health       Owner = "health"       // conditions
	Registration Owner = "registration" // disabled
	Identity     Owner = "identity"     // quarantine
	Provision    Owner = "provision"    // provision state and tombstone
	Inventory    Owner = "inventory"    // the devices of a node, and its labels
	System       Owner = "system"       // labels of ours
)

// String is the wire name, "nobody" for Nobody.
func (o Owner) String() string {
	if o == Nobody {
		return "nobody"
	}
	return string(o)
}

// Taint returns the operator's reason for a taint key: 1 to [MaxTaint] of the
// letters, digits and . _ / = : -, first and last alphanumeric (TAINT-1).
func Taint(k string) (Reason, error) {
	if !key(k, taintMarks, MaxTaint) {
		return "", &Invalid{"taint key", k, "1 to 128 letters, digits or . _ / = : -, first and last alphanumeric", "TAINT-1"}
	}
	return Reason(taint + k), nil
}

// DedicatedTo returns the operator's reason that keeps a node for t.
func DedicatedTo(t Tenant) (Reason, error) {
	if !t.Dedicable() {
		return "", &Invalid{"dedicated tenant", string(t), "a tenant of at most 118 bytes that ends alphanumeric", "TAINT-1"}
	}
	return Taint(dedicated + string(t))
}

// ParseReason reads a reason as a store or a peer wrote it. A key that this
// version does not know is kept, since state enumerations are open; it must
// have the form of a taint key.
func ParseReason(s string) (Reason, error) {
	if !key(strings.TrimPrefix(s, taint), taintMarks, MaxTaint) {
		return "", &Invalid{"reason", s, "draining, unreachable, conditions or taint:<key>", "TAINT-1"}
	}
	return Reason(s), nil
}

// Owner is who may add and remove r.
func (r Reason) Owner() Owner {
	switch {
	case strings.HasPrefix(string(r), taint):
		return Operator
	case r == Draining:
		return Drain
	case r == Unreachable:
		return Connectivity
	case r == Conditions:
		return Health
	}
	return Nobody
}

// Dedication reports whether r dedicates the node, and to whom. A dedication
// that names no possible tenant, such as taint:dedicated=a/b, is one to the
// empty Tenant, and so keeps everyone out, whole-node leases too: the safer
// of the two readings of TAINT-2.
func (r Reason) Dedication() (Tenant, bool) {
	name, ok := strings.CutPrefix(string(r), taint+dedicated)
	if !ok {
		return "", false
	}
	t, err := ParseTenant(name)
	if err != nil {
		return "", true
	}
	return t, true
}
