package placement

// Blocker is one thing that keeps a tenant's work off a node.
type Blocker struct {
	Cause  Causes // exactly one cause
	Reason Reason // the reason it stems from; empty for a hold
	Owner  Owner  // who alone can lift it
	Remedy string // what would lift it, for an operator to read
}

// remedies tells, for each cause that is no reason, who lifts it and how.
var remedies = map[Causes]Blocker{
	Tombstoned:    {Owner: Provision, Remedy: "none for this node: the machine may join as a new one (PROV-20)"},
	Disabled:      {Owner: Registration, Remedy: "register and approve the machine again, or reset it (REG-3, REG-12)"},
	Quarantined:   {Owner: Identity, Remedy: "find the twin, then let the machine come back with fresh evidence (LIVE-5, ID-2)"},
	Unprovisioned: {Owner: Provision, Remedy: "wait for its workflow to end, or recover the node (PROV-3)"},
	Maintenance:   {Owner: Operator, Remedy: "clear maintenance, with a reason (SCHED-4)"},
	Cordoned:      {Owner: Operator, Remedy: "uncordon the node (SCHED-1)"},
	Missing:       {Owner: Inventory, Remedy: "choose a device that the node announces"},
	Unbookable:    {Owner: Inventory, Remedy: "choose another device"},
}

// Explain lists everything that keeps t's work off a node with these holds and
// reasons, the most final first, then reason by reason in ascending order. It
// is empty where [Judge] finds nothing. The list is minimal: t is let through
// once all of it is lifted, and not before.
//
// So t's own dedication is never in the list: with another reason beside it,
// it is the other that has to go.
func Explain(holds Causes, reasons Reasons, t Tenant, p Policy) []Blocker {
	list := explainHolds(holds)
	n := Flatten(0, reasons)
	for r := range reasons.All() {
		to, isDedication := r.Dedication()
		switch {
		case isDedication && t != "" && to == t, !isDedication && p == DedicationsOnly:
			continue
		case !isDedication:
			list = append(list, Blocker{Reasoned, r, r.Owner(), lift(r)})
		case n.Dedications > 1:
			list = append(list, Blocker{Contested, r, Operator, lift(r)})
		default:
			list = append(list, Blocker{Foreign, r, Operator, lift(r)})
		}
	}
	return list
}

// explainHolds lists the holds. One that this version does not know has no
// owner.
func explainHolds(holds Causes) []Blocker {
	var list []Blocker
	for c := range holds.Each() {
		b, ok := remedies[c]
		if !ok {
			b.Remedy = "none known to this version"
		}
		b.Cause = c
		list = append(list, b)
	}
	return list
}

// lift says how r goes away.
func lift(r Reason) string {
	switch r.Owner() {
	case Operator:
		return "remove the taint (TAINT-1)"
	case Drain:
		return "uncordon the node, or wait for the drain to end (SCHED-2)"
	case Connectivity:
		return "bring the node's agent back: a new session clears it (LIVE-6)"
	case Health:
		return "repair the node: its conditions clear it"
	}
	return "none known to this version"
}
