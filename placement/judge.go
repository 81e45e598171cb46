package placement

import (
	"iter"
	"math/bits"
	"strings"
)

// Causes is a set of things that keep work off a node. The empty set means
// that nothing does.
type Causes uint16

// The causes. The first six are facts of the node and stand in [Node.Holds].
// The next two are facts of a device and stand in [Device.Holds]. The last
// three are what [Judge] finds in the reasons.
const (
	Tombstoned    Causes = 1 << iota // the node is deleted (PROV-8)
	Disabled                         // its registration row is disabled (REG-11)
	Quarantined                      // its certificate is quarantined (LIVE-5)
	Unprovisioned                    // its provision state takes no work (PROV-1)
	Maintenance                      // a failure or an operator took it out (SCHED-3)
	Cordoned                         // an operator stopped new work (SCHED-1)

	Missing    // the device is not in the node's inventory
	Unbookable // the device may not be booked

	Foreign   // the node is dedicated to another tenant (TAINT-2)
	Contested // two dedications or more: nobody's (TAINT-2)
	Reasoned  // a NoSchedule reason other than a dedication (TAINT-2)

	end
)

// causeNames are the wire names, in the order of the bits.
var causeNames = [...]string{
	"tombstoned", "disabled", "quarantined", "unprovisioned", "maintenance", "cordoned",
	"missing", "unbookable",
	"foreign-dedication", "contested-dedication", "reason",
}

// Placeable reports whether nothing is in the way.
func (c Causes) Placeable() bool { return c == 0 }

// Each yields the causes one by one, the most final first.
func (c Causes) Each() iter.Seq[Causes] {
	return func(yield func(Causes) bool) {
		for ; c != 0; c &= c - 1 {
			if !yield(c & -c) {
				return
			}
		}
	}
}

// String joins the wire names by "+", such as "cordoned+reason". The empty set
// is "none"; a bit of a newer version is "unknown".
func (c Causes) String() string {
	if c == 0 {
		return "none"
	}
	var names []string
	for one := range c.Each() {
		name := "unknown"
		if one < end {
			name = causeNames[bits.TrailingZeros16(uint16(one))]
		}
		names = append(names, name)
	}
	return strings.Join(names, "+")
}

// Policy says which reasons a path heeds. Flags and dedications count under
// every policy.
type Policy uint8

const (
	// EveryReason is for work on devices, on every path: inline, shortlist,
	// lease index, bulk commit and repair (PLACE-1). A policy that is not
	// known counts as this one.
	EveryReason Policy = iota
	// DedicationsOnly is for whole-node leases, which have binding node or
	// come from the tenant's root pool (TAINT-2).
	DedicationsOnly
)

// Node is all that [Judge] needs of a node, flat and small. The zero value is
// a node that lets everyone through. [Flatten] makes it from the reasons.
type Node struct {
	Holds       Causes // what keeps everyone out, whatever the reasons; an unknown bit does so too
	Dedications uint8  // 0, 1, or 2 for two and more
	Others      bool   // some reason that is no dedication
	Tenant      Tenant // whom the node is dedicated to; meaningful when Dedications is 1
}

// Flatten returns what Judge needs of a node with these holds and reasons.
func Flatten(holds Causes, reasons Reasons) Node {
	n := Node{Holds: holds}
	for _, r := range reasons.sorted {
		t, ok := r.Dedication()
		switch {
		case !ok:
			n.Others = true
		case n.Dedications == 0:
			n.Dedications, n.Tenant = 1, t
		default:
			n.Dedications, n.Tenant = 2, ""
		}
	}
	return n
}

// Judge returns everything that keeps t's work off n under p: the one
// predicate of TAINT-2. Any reason blocks, except that exactly one dedication
// and no other reason lets its tenant through. DedicationsOnly does not look
// at the other reasons. Holds block everyone under every policy.
//
// It looks at nothing but the node and does not allocate.
func Judge(n Node, t Tenant, p Policy) Causes {
	c := n.Holds
	switch {
	case n.Dedications > 1:
		c |= Contested
	case n.Dedications == 1 && (t == "" || t != n.Tenant):
		c |= Foreign
	}
	if n.Others && p != DedicationsOnly {
		c |= Reasoned
	}
	return c
}
