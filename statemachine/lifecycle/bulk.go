package lifecycle

import (
	"slices"
	"time"

	sm "github.com/ingotmetal/ingot/statemachine"
	"github.com/ingotmetal/ingot/statemachine/provision"
)

// Limits of bulk calls (PROV-6, PROV-16).
const (
	MaxBulk   = 10_000
	BatchLife = 24 * time.Hour
)

// Bulk is one verb over many nodes of one pool (PROV-6). The caller reads the
// nodes in one transaction and writes all outcomes in it, or none.
//
// Verb.Version stays zero: one version cannot be that of many nodes. Verb.World is
// not read, since each node has its own.
type Bulk struct {
	Verb   Verb
	Nodes  []NodeID
	Batch  string // ID, drawn before
	Single bool   // a single verb's batch of one, which may be a recover (EDGE-1)
}

// Batch is a bulk verb that waits for approver keys, or is recorded for audit
// (PROV-16). Nodes do not move while it waits.
//
// It is no part of a node's state, and Rows does not hold it: the caller keeps it
// in a row of its own, and writes that in the transaction of the outcomes.
type Batch struct {
	ID      string
	Verb    provision.Kind
	Wipe    provision.Wipe
	Nodes   []NodeID
	By      string
	Reason  string
	Made    time.Time
	Quorum  int      // approver keys it waits for; zero: none
	Keys    []string // that approved
	Settled bool     // approved and carried out, or rejected
}

// Check validates a bulk call before any node is looked at: the verb, 1 to
// 10,000 nodes, each once.
func (b *Bulk) Check() error {
	bad := func(why string) error { return invalid("bulk", "PROV-6", "%s", why) }
	if b.Verb.Version != 0 {
		return bad("a bulk names no version: one cannot be that of many nodes")
	}
	switch b.Verb.On {
	case provision.Manage, provision.Inspect, provision.Provide, provision.ToRescue, provision.Retire:
		if b.Verb.Wipe != "" {
			return bad("only undeploy takes a wipe mode")
		}
	case provision.Undeploy:
	case provision.Recover:
		// PROV-6 has no bulk recover: nodes that failed on their own differ in what they
		// would recover to. One alone may erase all the same, and then asks the quorum.
		if !b.Single || len(b.Nodes) != 1 {
			return bad("a recover makes a batch of one, never a bulk")
		}
	default:
		return bad("the verbs are manage, inspect, provide, undeploy, rescue and retire")
	}
	if len(b.Nodes) == 0 || len(b.Nodes) > MaxBulk {
		return bad("want 1 to 10,000 nodes")
	}
	// Twice in one list the second verb would be decided on the state before the
	// first, and its outcome would overwrite the first one's.
	seen := make(map[NodeID]bool, len(b.Nodes))
	for _, id := range b.Nodes {
		if !id.Valid() || seen[id] {
			return bad("a node is malformed or listed twice")
		}
		seen[id] = true
	}
	if b.Batch == "" {
		return bad("the batch has no ID")
	}
	return nil
}

// Decide decides the verb for every node as if called alone; one refusal
// refuses all. The site goes from node to node, so that epochs are counted
// once. Where the verb may erase and the pool asks approver keys, no node
// moves: the batch waits. states are in the order of b.Nodes.
func (b *Bulk) Decide(states []Node, site Site, worlds []World, now time.Time) ([]Outcome, *Batch, error) {
	if err := b.Check(); err != nil {
		return nil, nil, err
	}
	// Decided even where it will only wait: what could not be carried out is refused
	// now, and to its caller.
	out, err := b.step(states, site, worlds, now)
	if err != nil {
		return nil, nil, err
	}
	// The largest quorum counts. Policy is the pool's, so they are all equal unless it
	// changed between two reads; then the stricter one stands.
	quorum, erases := 0, false
	for i := range states {
		quorum, erases = max(quorum, worlds[i].Quorum), erases || b.Verb.erases(&states[i])
	}
	if !erases {
		return out, nil, nil
	}
	batch := &Batch{ID: b.Batch, Verb: b.Verb.On, Wipe: b.Verb.Wipe, Nodes: slices.Clone(b.Nodes), By: b.Verb.By, Reason: b.Verb.Reason, Made: now, Quorum: quorum}
	if quorum > 0 {
		return nil, batch, nil
	}
	// Without a quorum the batch is a record for audit alone, and nobody can carry it.
	batch.Settled = true
	return out, batch, nil
}

// step decides the verb for every node, as part of the batch.
func (b *Bulk) step(states []Node, site Site, worlds []World, now time.Time) ([]Outcome, error) {
	// The caller reads the pool's nodes only, so one of another pool shows as one that
	// was not read.
	if len(states) != len(b.Nodes) || len(worlds) != len(b.Nodes) {
		return nil, invalid("bulk", "PROV-6", "a node is of another pool, or was not read")
	}
	out := make([]Outcome, len(states))
	for i := range states {
		if states[i].ID != b.Nodes[i] {
			return nil, &NodeError{b.Nodes[i], refuse("bulk", "PROV-6", sm.NotFound, "there is no such node in the pool", "list the pool's nodes again")}
		}
		verb := b.Verb
		verb.World, verb.batch = worlds[i], b.Batch
		o, err := Step(State{states[i], site}, verb, now)
		if err != nil {
			return nil, &NodeError{b.Nodes[i], err}
		}
		// Only the site goes on: its epoch counter must not give two nodes one epoch
		// (EDGE-7). The last outcome's site is the one to write.
		out[i], site = o, o.Next.Site
	}
	return out, nil
}

// Carry carries out a batch that its quorum approved: every verb is decided
// again, and one refusal refuses all (PROV-16). next is the settled batch, or b
// on error.
//
// States and worlds are read anew, in the transaction that writes the outcomes and
// next together: a batch that stayed unsettled could be carried out twice.
func (b Batch) Carry(states []Node, site Site, worlds []World, now time.Time) (out []Outcome, next Batch, err error) {
	if err := b.open(now); err != nil {
		return nil, b, err
	}
	quorum := b.Quorum
	for i := range worlds {
		quorum = max(quorum, worlds[i].Quorum) // a pool may have come to ask for more
	}
	if len(b.Keys) < quorum {
		return nil, b, &Refused{Input: "batch-carry", Req: "PROV-16", code: sm.Conflict, Count: quorum - len(b.Keys), Why: "approvals are missing",
			Next: "further approver keys approve it, each once"}
	}
	// No version goes along: approvals take hours, and nodes may have changed by right.
	// That every verb is decided again is what protects them.
	bulk := Bulk{Verb: Verb{Call: Call{By: b.By, Reason: b.Reason}, On: b.Verb, Wipe: b.Wipe}, Nodes: b.Nodes, Batch: b.ID}
	if out, err = bulk.step(states, site, worlds, now); err != nil {
		return nil, b, err
	}
	b.Settled = true
	return out, b, nil
}

// NodeError is the refusal of one node of many.
type NodeError struct {
	Node NodeID
	Err  error
}

// Error names the node.
func (e *NodeError) Error() string { return string(e.Node) + ": " + e.Err.Error() }

// Unwrap is the refusal.
func (e *NodeError) Unwrap() error { return e.Err }

// Code is the refusal's.
func (e *NodeError) Code() string { return code(e.Err) }

// Approve adds an approver key, each once. ready says that the quorum is
// there: then every verb is decided again (PROV-16). A batch that is settled
// or 24 h old is a conflict.
//
// The caller has verified the approver's signature; key is its name. Callers and
// approver keys must be named alike, or nobody is kept from approving a batch of
// their own.
func (b Batch) Approve(key string, now time.Time) (next Batch, ready bool, err error) {
	if err := b.open(now); err != nil {
		return b, false, err
	}
	switch key {
	case "":
		return b, false, invalid("batch-approve", "PROV-16", "the approver key has no name")
	case b.By:
		return b, false, refuse("batch-approve", "PROV-16", sm.Denied, "the caller cannot approve its own batch", "have another approver's key approve it")
	}
	keys := append([]string(nil), b.Keys...)
	for _, k := range keys {
		// A key again is answered as before: its first answer may have been lost.
		if k == key {
			return b, len(keys) >= b.Quorum, nil
		}
	}
	b.Keys = append(keys, key)
	return b, len(b.Keys) >= b.Quorum, nil
}

// Reject settles a batch without effect.
func (b Batch) Reject(now time.Time) (Batch, error) {
	if err := b.open(now); err != nil {
		return b, err
	}
	b.Settled = true
	return b, nil
}

// open refuses a batch that is settled, or as old as BatchLife. What its nodes say
// is asked by Carry alone.
func (b *Batch) open(now time.Time) error {
	if b.Settled || !now.Before(b.Made.Add(BatchLife)) {
		return refuse("batch", "PROV-16", sm.Conflict, "the batch is settled, or over 24 h old: nothing happened", "call the verb again")
	}
	return nil
}
