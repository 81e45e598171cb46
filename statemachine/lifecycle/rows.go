package lifecycle

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strings"
	"time"

	sm "github.com/ingotmetal/ingot/statemachine"
	"github.com/ingotmetal/ingot/statemachine/netboot"
	"github.com/ingotmetal/ingot/statemachine/registration"
)

// The prefixes of rows. A primary row holds a record; an index row holds the
// name of the record that has a claim, so that the store's own key uniqueness
// keeps claims unique (MACH-1).
const (
	RowNode         = "node/"
	RowRegistration = "registration/"
	RowBoot         = "boot/"
	RowSite         = "site/"
	RowBy           = "by/"
	RowDue          = "due/"
)

// nodeRow is the node's own row: the node without its registration row and boot
// records, which have theirs. Its Version counts the changes of all of them, so
// they are written in one commit (API-1).
type nodeRow Node

// regRow is a registration row with the node that it belongs to. Node is empty
// where the node is gone: only a register or a factory reset brings the row
// another one (PROV-20).
type regRow struct {
	Schema uint32
	Node   NodeID
	Record registration.Record
}

// bootRow is a boot record.
type bootRow struct {
	Schema uint32
	Record netboot.Record
}

// Rows yields all that a store keeps of s: primary and index rows, each key
// once. It is a pure function of the value; a commit writes the difference to
// the rows of the state before. A value that JSON cannot carry cannot occur.
//
// The commit deletes what only the state before has, and writes the outcome's facts
// in the same transaction (EVENT-1). A new RowBy row whose key the store has with
// another value must fail the commit: two machines claim one name, and to overwrite
// the row would merge them.
func Rows(s State) iter.Seq2[string, []byte] {
	return func(yield func(string, []byte) bool) {
		r := rows{yield: yield}
		r.site(&s.Site)
		r.machine(&s.Node)
	}
}

// SiteRows yields the rows of Rows that are the site's. Most steps change one or
// none of them, so who keeps them between steps need not make those before again.
func SiteRows(s Site) iter.Seq2[string, []byte] {
	return func(yield func(string, []byte) bool) {
		r := rows{yield: yield}
		r.site(&s)
	}
}

// NodeRows yields the rows of Rows that are the node's and its boot records'.
func NodeRows(n Node) iter.Seq2[string, []byte] {
	return func(yield func(string, []byte) bool) {
		r := rows{yield: yield}
		r.machine(&n)
	}
}

// rows yields until the consumer stops. Records are JSON, so that a store can
// be read by a person; index rows hold a name, or nothing where the key says
// all.
type rows struct {
	yield func(string, []byte) bool
	done  bool
}

func (r *rows) put(key string, val []byte) {
	if !r.done {
		r.done = !r.yield(key, val)
	}
}

func (r *rows) record(key string, v any) {
	if b, err := json.Marshal(v); err == nil { // no field that a step made can fail, and an empty row could never be read
		r.put(key, b)
	}
}

// site has a row for each part, so that a sighting that takes an address does
// not rewrite the policy.
func (r *rows) site(s *Site) {
	r.record(RowSite+"epoch", s.Epoch)
	r.record(RowSite+"policy", s.Policy)
	r.record(RowSite+"pool", s.Pool)
	r.record(RowSite+"auto-approve", s.AutoApprove)
	r.record(RowSite+"enroll", s.Enroll)
	r.record(RowSite+"unapproved", s.Unapproved)
	r.record(RowSite+"discovered", s.Discovered)
}

// machine has all that is not the site's.
func (r *rows) machine(n *Node) {
	r.node(n)
	r.registration(n)
	r.boots(n)
}

// node has its own row, one for each claim, and one by which the sweeper finds
// it. A tombstone keeps its row and has no claims (PROV-20).
func (r *rows) node(n *Node) {
	if n.ID == "" {
		return
	}
	// A copy, so that what is taken out here stays in the value.
	row := nodeRow(*n)
	row.Reg, row.NICs = registration.Record{}, nil
	r.record(RowNode+string(n.ID), row)
	c := &n.Claims
	// One form for both byte orders, so that they meet in one key (MACH-1).
	server := ""
	if c.Server != (registration.ServerID{}) {
		server = c.Server.Key().String()
	}
	for _, by := range [...]struct{ what, name string }{
		{"server/", server}, {"ek/", c.EK}, {"hardware-key/", c.HardwareKey},
		{"bmc/", c.BMC}, {"device/", c.Device}, {"request/", n.Request},
	} {
		if by.name != "" {
			r.put(RowBy+by.what+by.name, []byte(n.ID))
		}
	}
	// The sweeper reads these in key order up to now: it need not know which axes a
	// node has, nor read nodes that wait for nothing.
	if t, _, ok := Due(n); ok {
		r.put(RowDue+dueKey(t)+"/"+string(n.ID), nil)
	}
}

// dueKey orders by time; what is due at once comes first. The 19 digits are of
// nanoseconds since 1970, padded so that keys sort as times do, until 2262.
func dueKey(t time.Time) string {
	if t.IsZero() {
		t = time.Unix(0, 0)
	}
	return fmt.Sprintf("%019d", t.UnixNano())
}

// registration is keyed by the UUID in its one form (EDGE-13); the row of a
// tombstone belongs to no node. Its secrets are found by their hashes.
func (r *rows) registration(n *Node) {
	reg := &n.Reg
	if reg.State == registration.Absent || reg.State == "" {
		return
	}
	row := regRow{Schema: Schema, Record: *reg}
	// So that a live node that holds the UUID may take the row (EDGE-24).
	if n.Deleted.IsZero() {
		row.Node = n.ID
	}
	key := reg.Server.Key().String()
	r.record(RowRegistration+key, row)
	// Only hashes, so that a copy of the store opens nothing. A key of a ticket is
	// found as the bound one is; what each opens is its scope's to say.
	for _, secret := range [...]struct {
		what string
		hash registration.Hash
	}{{"claim/", reg.Code.Hash}, {"claim/", reg.Spent.Hash}, {"poll/", reg.Poll.Hash}, {"key/", reg.Bound.Hash},
		{"key/", reg.Tickets[0].Hash}, {"key/", reg.Tickets[1].Hash}, {"key/", reg.Tickets[2].Hash}} {
		if secret.hash != (registration.Hash{}) {
			r.put(RowBy+secret.what+hex.EncodeToString(secret.hash[:]), []byte(key))
		}
	}
}

// boots are keyed by MAC; the indexes find the records of a node, its
// candidates, and who holds an address.
func (r *rows) boots(n *Node) {
	for i := range n.NICs {
		b := &n.NICs[i]
		if b.State == netboot.Absent || b.State == "" {
			continue
		}
		mac := b.MAC.String()
		r.record(RowBoot+mac, bootRow{Schema, *b})
		if b.Owner.Node != "" && b.State != netboot.Decommissioned { // else it is a claim no more
			r.put(RowBy+"node-mac/"+b.Owner.Node+"/"+mac, nil)
		}
		if b.Candidate != "" {
			r.put(RowBy+"candidate/"+b.Candidate+"/"+mac, nil)
		}
		// In every state: a decommissioned record keeps its address until it is purged
		// (BOOT-12).
		if b.Address.IsValid() {
			r.put(RowBy+"address/"+b.Address.String(), []byte(mac))
		}
	}
}

// What is wrong with rows that can be read, each by itself: to go on would mix
// machines that must never be merged (MACH-1).
var (
	errMisplaced = errors.New("the record belongs under another key")
	errSecond    = errors.New("a state has one such record")
	errForeign   = errors.New("the row is another node's")
)

// RowError reports a row that cannot be read.
type RowError struct {
	Key string
	Err error
}

// Error names the row.
func (e *RowError) Error() string { return fmt.Sprintf("row %q: %v", e.Key, e.Err) }

// Unwrap is the decoder's error.
func (e *RowError) Unwrap() error { return e.Err }

// Code is UNAVAILABLE: the store holds what this version cannot read.
func (*RowError) Code() string { return string(sm.Unavailable) }

// Load reads a state back from its rows, in any order; index rows are passed
// over. A row of a newer schema marks the node, which Step then refuses to
// write (MACH-8). States that this version does not know are kept. A second
// node or registration row, and a registration row of a node that is not the
// loaded one, are *RowError: a state is one machine (MACH-1).
//
// The caller gives the rows of one machine and of its site, read in one
// transaction. Without the site's rows it is the zero Site, whose epochs start
// anew: to step such a state gives out epochs twice (EDGE-7).
func Load(all iter.Seq2[string, []byte]) (State, error) {
	s := State{Node: Fresh()}
	var reg *regRow
	for key, val := range all {
		if err := s.load(key, val, &reg); err != nil {
			return State{}, &RowError{key, err}
		}
	}
	// After all rows, since they come in any order and this compares two of them.
	if reg != nil {
		if reg.Node != "" && reg.Node != s.Node.ID {
			return State{}, &RowError{RowRegistration + reg.Record.Server.Key().String(), errForeign}
		}
		s.Node.Reg = reg.Record
		s.Node.Schema = max(s.Node.Schema, reg.Schema)
	}
	// What was written by hand, or by a version with other limits, is checked as if it
	// were set now: else a pool might lend an address twice.
	if err := s.Site.Policy.prepare(); err != nil {
		return State{}, &RowError{RowSite + "policy", err}
	}
	if err := s.Site.Pool.check(); err != nil {
		return State{}, &RowError{RowSite + "pool", err}
	}
	return s, nil
}

func (s *State) load(key string, val []byte, reg **regRow) error {
	switch {
	case strings.HasPrefix(key, RowNode):
		return s.loadNode(key, val)
	case strings.HasPrefix(key, RowRegistration):
		if *reg != nil {
			return errSecond
		}
		*reg = &regRow{}
		if err := json.Unmarshal(val, *reg); err != nil {
			return err
		}
		if key != RowRegistration+(*reg).Record.Server.Key().String() {
			return errMisplaced
		}
	// Whose record it is says nothing here: a state also holds strangers' records that
	// its input names.
	case strings.HasPrefix(key, RowBoot):
		var row bootRow
		if err := json.Unmarshal(val, &row); err != nil {
			return err
		}
		if m := row.Record.MAC; !m.Valid() || key != RowBoot+m.String() {
			return errMisplaced
		}
		s.Node.NICs = append(s.Node.NICs, row.Record)
		s.Node.Schema = max(s.Node.Schema, row.Schema)
	case strings.HasPrefix(key, RowSite):
		return s.Site.load(strings.TrimPrefix(key, RowSite), val)
	}
	return nil
}

// loadNode reads the node's own row, and keeps what other rows brought.
func (s *State) loadNode(key string, val []byte) error {
	// A part that an older version did not write yet is a fresh node's, not Go's zero
	// value.
	row := nodeRow(Fresh())
	if err := json.Unmarshal(val, &row); err != nil {
		return err
	}
	switch {
	case row.ID == "" || key != RowNode+string(row.ID):
		return errMisplaced
	case s.Node.ID != "":
		return errSecond
	}
	row.NICs, row.Reg, row.Schema = s.Node.NICs, s.Node.Reg, max(row.Schema, s.Node.Schema)
	s.Node = Node(row)
	return nil
}

func (s *Site) load(name string, val []byte) error {
	parts := map[string]any{"epoch": &s.Epoch, "policy": &s.Policy, "pool": &s.Pool, "auto-approve": &s.AutoApprove,
		"enroll": &s.Enroll, "unapproved": &s.Unapproved, "discovered": &s.Discovered}
	into, ok := parts[name]
	// A newer version's part. A commit writes differences alone, so it stays as it is.
	if !ok {
		return nil
	}
	return json.Unmarshal(val, into)
}
