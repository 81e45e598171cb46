package netboot

import (
	"net/netip"

	sm "github.com/ingotmetal/ingot/statemachine"
)

// Event is what happens to a record, with what it brings. Which fields matter
// depends on On; the others are ignored, so that one caller may fill them all.
type Event struct {
	On      Kind
	By      Owner    // the machine that acts; zero for operators and sightings
	Facts   sm.Guard // of Admitted and Claimed, what others know
	Product ServerID

	Address    netip.Addr // the lowest free one, for a record that holds none
	Networking Networking
	Image      string
	Entry      Entry
	Mode       Mode
	Candidate  string
}

// Guards computes the guards for e on r. Admitted is the caller's alone: policy
// and allow-list are the site's. Claimed is either's: a metal node's MAC is known
// outside the record, a candidate or an entry within.
func Guards(r *Record, e *Event) sm.Guard {
	g := e.Facts & (Admitted | Claimed)
	return g.With(Address, r.Address.IsValid() || e.Address.IsValid()).
		With(Claimed, r.Candidate != "" || r.Entry != Entry{} || r.State == Discovered && r.Owner != Owner{}).
		With(Image, e.Image != "").
		With(Bound, r.Owner != Owner{}).
		With(Foreign, r.Owner != Owner{} && r.Owner.Node != e.By.Node).
		With(Kept, r.Address.IsValid()).
		With(Unconfirmed, r.Candidate != "")
}

// Step decides e on r and returns the record after it; on error that is r. A
// record that came to Absent keeps only its MAC. Its errors are *sm.Refused.
func Step(r Record, e Event) (Record, error) {
	from := r.State
	if from == "" {
		from = Absent
	}
	to, err := Table.Next(from, e.On, Guards(&r, &e))
	if err != nil {
		return r, err
	}
	if to == Absent {
		return New(r.MAC), nil
	}
	r.State = to
	r.write(from, &e)
	r.drop(Table.Drops(to))
	return r, nil
}

// write puts into the record what an accepted event brings. An event that may
// stay without effect writes only where it moved.
func (r *Record) write(from State, e *Event) {
	switch e.On {
	case Sight:
		if from == Absent {
			r.Product = e.Product
		}
	case Admit, Enroll:
		if from != r.State {
			r.reserve(e)
		}
	case Complete:
		if r.State != from {
			r.Owner, r.Image = e.By, e.Image
		}
	case Reactivate:
		r.Owner = Owner{}
	case SetMode:
		r.Mode = e.Mode
	case SetEntry:
		r.enter(e)
	case EndEntry:
		r.leave(e)
	case Propose:
		r.Candidate = e.Candidate
	case Dismiss:
		if r.Candidate == e.Candidate { // another machine's candidate is not ours to dismiss
			r.Candidate = ""
		}
	case Bind:
		r.bind(e.By)
	}
}

// enter gives the record a boot entry. A record that nobody owns becomes the
// holder's with it (MACH-1).
func (r *Record) enter(e *Event) {
	r.reserve(e)
	r.Entry = e.Entry
	if r.Owner == (Owner{}) {
		r.bind(e.By)
	}
}

// leave takes the entry of e's attempt away. Another attempt's entry, set in
// the meantime, stays; so do address and owner (EDGE-19).
func (r *Record) leave(e *Event) {
	if r.Entry.Epoch == e.Entry.Epoch {
		r.Entry = Entry{}
	}
}

// bind makes the record a machine's; it is nobody's candidate then.
func (r *Record) bind(by Owner) { r.Owner, r.Candidate = by, "" }

// reserve takes the address that came along, unless one is kept (BOOT-19). Which
// is the lowest free one lifecycle has worked out in the same commit (BOOT-7).
func (r *Record) reserve(e *Event) {
	if !r.Address.IsValid() {
		r.Address, r.Networking = e.Address, e.Networking
	}
}
