package netboot

import (
	"net/netip"

	sm "github.com/ingotmetal/ingot/statemachine"
)

// At is where a record stands. This axis has no attempts: only State is used.
type At = sm.At[State, Kind]

// ServerID is an SMBIOS product UUID; registration.ServerID is its full type.
type ServerID [16]byte

// Mode is what a record boots beside its state's answer (BOOT-5). It moves no
// state, and only SetMode changes it; it goes with the record.
type Mode string

// The modes. The zero Mode is normal.
const (
	Normal Mode = "normal"
	Rescue Mode = "rescue"
)

// Networking is the spec that is written with an address (BOOT-7). It stays with
// the address when policy changes: a machine may have it in its configuration.
type Networking struct {
	Network netip.Prefix
	Gateway netip.Addr
}

// Owner is the machine that a record belongs to, by its ID and its UUID. The
// zero Owner is nobody. A metal machine's record may have no server.
type Owner struct {
	Node   string
	Server ServerID
}

// Entry is what the holder of the attempt slot boots (BOOT-14). Its epoch says
// whose it is: an attempt takes away only its own.
type Entry struct {
	Epoch uint64 // the holder's attempt; zero is no entry
	Image string
	Args  string
}

// Record is one boot record. The zero Record is none. It is comparable.
type Record struct {
	At
	MAC  MAC
	Mode Mode
	// Product is the product UUID of the sighting that made the record, as
	// sent; zero when none was. Later sightings stay in ledgers (MACH-9).
	Product ServerID

	Address    netip.Addr
	Networking Networking
	Owner      Owner
	Image      string
	Entry      Entry
	Candidate  string // the node it may belong to
}

// New is no record, at the start of the table. Reading an unknown MAC gives this,
// and writes nothing (BOOT-1).
func New(mac MAC) Record { return Record{At: At{State: Absent}, MAC: mac} }

// Fields are the fields that r has, in the order of their bits. MAC, Mode and
// Product are none: they are the record's in every state.
func (r *Record) Fields() sm.Fields {
	return sm.FieldsOf(r.Address.IsValid(), r.Networking != Networking{}, r.Owner != Owner{},
		r.Image != "", r.Entry != Entry{}, r.Candidate != "")
}

// drop clears the fields in f, one bit at a time. A new field needs a line here
// and in Fields.
func (r *Record) drop(f sm.Fields) {
	for ; f != 0; f &= f - 1 {
		switch f & -f {
		case FieldAddress:
			r.Address = netip.Addr{}
		case FieldNetworking:
			r.Networking = Networking{}
		case FieldOwner:
			r.Owner = Owner{}
		case FieldImage:
			r.Image = ""
		case FieldEntry:
			r.Entry = Entry{}
		case FieldCandidate:
			r.Candidate = ""
		}
	}
}
