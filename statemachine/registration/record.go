package registration

import (
	"time"

	sm "github.com/ingotmetal/ingot/statemachine"
)

// At is where a row stands.
type At = sm.At[State, Kind]

// MAC is a NIC's hardware address.
type MAC [6]byte

// Hash is a SHA-256, or an HMAC with it. Secrets are compared by their hash.
type Hash [32]byte

// Sealed is ciphertext: whoever mints a secret seals it before it comes here.
// It prints as a mark all the same; only an encoding of the row carries it.
type Sealed string

// String hides s.
func (s Sealed) String() string {
	if s == "" {
		return ""
	}
	return "[sealed]"
}

// GoString hides s.
func (s Sealed) GoString() string { return `"` + s.String() + `"` }

// Key is a credential as a fact: who it speaks for and its hash. The secret is
// never here.
type Key struct {
	ID         string
	Hash       Hash
	Scope      string // "agent" for the bound key, "ticket" for ticket keys
	Generation uint64 // the setup epoch, which Step stamps, or 0 for a claim-code approval
}

// Expiring is a secret's hash with its end.
type Expiring struct {
	Hash  Hash
	Until time.Time
}

// Holds reports whether the secret is set and alive at now.
func (e Expiring) Holds(now time.Time) bool { return e.Hash != Hash{} && now.Before(e.Until) }

// Spent remembers the code that just approved, so that the same operator may
// repeat it (EDGE-16).
type Spent struct {
	Expiring
	By string
}

// Bundle is the sealed credential bundle of one setup (SET-5). It is consumed
// once; then only the mark is left.
type Bundle struct {
	Sealed   Sealed
	Consumed bool
}

// Inventory is what of a machine's sysinfo decisions need. Slices in a record
// are never changed in place.
type Inventory struct {
	Digest  Hash // of the whole sysinfo
	MACs    []MAC
	Seen    []MAC    // with which the announcing session was seen (SET-18)
	Serials []string // of its disks
}

// Plan is what an approval lets a setup write (SET-5, SET-14, SET-18). It is
// fixed at approval: what the machine announces later changes none of it.
type Plan struct {
	Digest    Hash // of the realized layout, disk image included
	Inventory Hash // Inventory.Digest it was realized on
	MACs      []MAC
	LeftOut   []MAC // of the inventory, not seen with the announcing session
	Serials   []string
	Hostname  string
	Disk      string // digest of the disk image; empty writes the layout alone
	Approver  string
	InClear   bool // the bundle is not sealed to an agent key
}

// Settings are what an operator sets on a row without moving it (REG-16). They
// are no state's, and stay for the row's life.
type Settings struct {
	Labels    map[string]string
	Reservoir uint64 // bytes of memory kept back from placement
	RootHash  Sealed // crypt(3) hash; never readable
}

// Record is one registration row. The zero Record is no row.
type Record struct {
	At
	Server    ServerID
	Inventory Inventory
	// OnceApproved stays for the row's life, through reset and re-arm
	// (EDGE-8).
	OnceApproved bool
	Settings     Settings

	// The rest is owned by states: each may hold what Table says.
	Rearmed    bool
	Code, Poll Expiring
	Waiting    Sealed
	Spent      Spent
	Bound      Key
	Tickets    [3]Key
	Bundle     Bundle
	AgentKey   Hash // zero: a stock agent
	Plan       Plan
	Image      string
	ApprovedAt time.Time
	LastError  string
}

// New is no row, at the start of the table. Step takes the zero Record for it.
func New() Record { return Record{At: At{State: Absent}} }

// Fields are the fields that r has, in the order of their bits.
func (r *Record) Fields() sm.Fields {
	return sm.FieldsOf(r.Code != Expiring{}, r.Poll != Expiring{}, r.Waiting != "", r.Spent != Spent{}, r.Rearmed,
		r.Bound != Key{}, r.Tickets != [3]Key{}, r.Bundle != Bundle{}, r.AgentKey != Hash{}, r.Plan.Approver != "" || r.Plan.Digest != Hash{},
		r.Image != "", !r.ApprovedAt.IsZero(), r.LastError != "")
}

// drop clears the fields in f, one bit at a time. A new field needs a line here
// and in Fields.
func (r *Record) drop(f sm.Fields) {
	for ; f != 0; f &= f - 1 {
		switch f & -f {
		case FieldCode:
			r.Code = Expiring{}
		case FieldPoll:
			r.Poll = Expiring{}
		case FieldWaiting:
			r.Waiting = ""
		case FieldSpent:
			r.Spent = Spent{}
		case FieldRearmed:
			r.Rearmed = false
		case FieldBound:
			r.Bound = Key{}
		case FieldTickets:
			r.Tickets = [3]Key{}
		case FieldBundle:
			r.Bundle = Bundle{}
		case FieldAgentKey:
			r.AgentKey = Hash{}
		case FieldPlan:
			r.Plan = Plan{}
		case FieldImage:
			r.Image = ""
		case FieldApproved:
			r.ApprovedAt = time.Time{}
		case FieldLastError:
			r.LastError = ""
		}
	}
}
