package netboot_test

import (
	"errors"
	"net/netip"
	"testing"

	sm "github.com/ingotmetal/ingot/statemachine"
	"github.com/ingotmetal/ingot/statemachine/netboot"
)

type edit = func(*netboot.Event)

// walk steps rec through events that must succeed.
func walk(t *testing.T, rec netboot.Record, events ...netboot.Event) netboot.Record {
	t.Helper()
	for _, e := range events {
		next, err := netboot.Step(rec, e)
		if err != nil {
			t.Fatal(err)
		}
		rec = next
	}
	return rec
}

// ev is an event with everything, changed by edits.
func ev(on netboot.Kind, edits ...edit) netboot.Event {
	e := bring(on)
	for _, f := range edits {
		f(&e)
	}
	return e
}

func admitted(e *netboot.Event)   { e.Facts = netboot.Admitted }
func byStranger(e *netboot.Event) { e.By = stranger }
func byNobody(e *netboot.Event)   { e.By = netboot.Owner{} }

// none is an exhausted admin network.
func none(e *netboot.Event) { e.Address, e.Networking = netip.Addr{}, netboot.Networking{} }

// The usual ways to a state.
func discovered(t *testing.T) netboot.Record {
	t.Helper()
	return walk(t, netboot.New(mac), ev(netboot.Sight))
}

func enrolling(t *testing.T) netboot.Record {
	t.Helper()
	return walk(t, discovered(t), ev(netboot.Admit, admitted))
}

func enrolled(t *testing.T) netboot.Record {
	t.Helper()
	return walk(t, enrolling(t), ev(netboot.Complete))
}

func withdrawn(t *testing.T) netboot.Record {
	t.Helper()
	return walk(t, enrolled(t), ev(netboot.Withdraw))
}

// refused demands a refusal with a code, by which nothing changes.
func refused(t *testing.T, rec netboot.Record, code sm.Code, e netboot.Event) {
	t.Helper()
	next, err := netboot.Step(rec, e)
	if codeOf(err) != string(code) {
		t.Errorf("%s in %s: %v, want %s", e.On, rec.State, err, code)
	}
	if next != rec {
		t.Errorf("%s was refused and changed the record:\n%+v\n%+v", e.On, rec, next)
	}
}

func codeOf(err error) string {
	if coded, ok := errors.AsType[interface {
		error
		Code() string
	}](err); ok {
		return coded.Code()
	}
	return ""
}

// What each way writes, and what it clears; everything else of the record is
// as it was.
func TestWhatEachWayWrites(t *testing.T) {
	candidate := walk(t, discovered(t), ev(netboot.Propose))
	for name, c := range map[string]struct {
		got, from netboot.Record
		want      func(*netboot.Record) // changes from
	}{
		"sighted, BOOT-1": {discovered(t), netboot.New(mac), func(r *netboot.Record) { r.State, r.Product = netboot.Discovered, product }},
		"sighted again, MACH-9": {walk(t, discovered(t), ev(netboot.Sight, func(e *netboot.Event) { e.Product[0] = 9 })), discovered(t),
			func(*netboot.Record) {}},
		"admitted, BOOT-7": {enrolling(t), discovered(t), func(r *netboot.Record) {
			r.State, r.Address, r.Networking = netboot.Enrolling, free, admin
		}},
		"not admitted, BOOT-19":     {walk(t, discovered(t), ev(netboot.Admit)), discovered(t), func(*netboot.Record) {}},
		"admitted twice, BOOT-7":    {walk(t, enrolling(t), ev(netboot.Admit, admitted, func(e *netboot.Event) { e.Address = next })), enrolling(t), func(*netboot.Record) {}},
		"enrolled by hand, BOOT-12": {walk(t, netboot.New(mac), ev(netboot.Enroll)), netboot.New(mac), func(r *netboot.Record) { r.State, r.Address, r.Networking = netboot.Enrolling, free, admin }},
		"enrolled twice, EDGE-19":   {walk(t, enrolling(t), ev(netboot.Enroll, func(e *netboot.Event) { e.Address = next })), enrolling(t), func(*netboot.Record) {}},
		"completed, SET-10":         {enrolled(t), enrolling(t), func(r *netboot.Record) { r.State, r.Owner, r.Image = netboot.Enrolled, own, "pi1" }},
		"completed without image, SET-10": {walk(t, enrolling(t), ev(netboot.Complete, func(e *netboot.Event) { e.Image = "" })), enrolling(t),
			func(*netboot.Record) {}},
		"completed by another, SET-10": {walk(t, walk(t, enrolling(t), ev(netboot.SetEntry)), ev(netboot.Complete, byStranger)), walk(t, enrolling(t), ev(netboot.SetEntry)),
			func(*netboot.Record) {}},
		"reset, REG-12":                {walk(t, enrolled(t), ev(netboot.Reset)), enrolled(t), func(r *netboot.Record) { r.State, r.Image = netboot.Enrolling, "" }},
		"reset of another, REG-12":     {walk(t, enrolled(t), ev(netboot.Reset, byStranger)), enrolled(t), func(*netboot.Record) {}},
		"withdrawn, BOOT-4":            {withdrawn(t), enrolled(t), func(r *netboot.Record) { r.State, r.Image = netboot.Decommissioned, "" }},
		"withdrawn by another, REG-13": {walk(t, enrolled(t), ev(netboot.Withdraw, byStranger)), enrolled(t), func(*netboot.Record) {}},
		"withdrawn unbound, REG-13":    {walk(t, enrolling(t), ev(netboot.Withdraw)), enrolling(t), func(r *netboot.Record) { r.State = netboot.Decommissioned }},
		"withdrawn with an entry": {walk(t, enrolled(t), ev(netboot.SetEntry), ev(netboot.Withdraw)), enrolled(t), func(r *netboot.Record) {
			r.State, r.Image = netboot.Decommissioned, ""
		}},
		"decommissioned candidate, BOOT-4": {walk(t, candidate, ev(netboot.Decommission, byNobody)), candidate, func(r *netboot.Record) {
			r.State, r.Candidate = netboot.Decommissioned, ""
		}},
		"reactivated, BOOT-4": {walk(t, withdrawn(t), ev(netboot.Reactivate)), withdrawn(t), func(r *netboot.Record) {
			r.State, r.Owner = netboot.Discovered, netboot.Owner{}
		}},
		"purged, BOOT-12":    {walk(t, withdrawn(t), ev(netboot.SetMode), ev(netboot.Purge)), netboot.New(mac), func(*netboot.Record) {}},
		"evicted, BOOT-16":   {walk(t, discovered(t), ev(netboot.Evict)), netboot.New(mac), func(*netboot.Record) {}},
		"proposed, BOOT-11":  {candidate, discovered(t), func(r *netboot.Record) { r.Candidate = "node_a" }},
		"dismissed, BOOT-11": {walk(t, candidate, ev(netboot.Dismiss)), candidate, func(r *netboot.Record) { r.Candidate = "" }},
		"dismissed by another": {walk(t, candidate, ev(netboot.Dismiss, func(e *netboot.Event) { e.Candidate = stranger.Node })), candidate,
			func(*netboot.Record) {}},
		"bound, BOOT-17":      {walk(t, discovered(t), ev(netboot.Bind)), discovered(t), func(r *netboot.Record) { r.Owner = own }},
		"bound unseen":        {walk(t, netboot.New(mac), ev(netboot.Bind)), netboot.New(mac), func(r *netboot.Record) { r.State, r.Owner = netboot.Discovered, own }},
		"confirmed, BOOT-17":  {walk(t, candidate, ev(netboot.Bind)), candidate, func(r *netboot.Record) { r.Owner, r.Candidate = own, "" }},
		"mode rescue, BOOT-5": {walk(t, withdrawn(t), ev(netboot.SetMode)), withdrawn(t), func(r *netboot.Record) { r.Mode = netboot.Rescue }},
		"entry, EDGE-19": {walk(t, netboot.New(mac), ev(netboot.SetEntry)), netboot.New(mac), func(r *netboot.Record) {
			r.State, r.Address, r.Networking, r.Owner, r.Entry = netboot.Discovered, free, admin, own, entry
		}},
		"entry ends, EDGE-19": {walk(t, netboot.New(mac), ev(netboot.SetEntry), ev(netboot.EndEntry)), netboot.New(mac), func(r *netboot.Record) {
			r.State, r.Address, r.Networking, r.Owner = netboot.Discovered, free, admin, own
		}},
		"entry keeps owner":    {walk(t, enrolled(t), ev(netboot.SetEntry, func(e *netboot.Event) { e.By.Server = netboot.ServerID{} })), enrolled(t), func(r *netboot.Record) { r.Entry = entry }},
		"another's entry ends": {walk(t, enrolled(t), ev(netboot.SetEntry), ev(netboot.EndEntry, func(e *netboot.Event) { e.Entry.Epoch = 6 })), enrolled(t), func(r *netboot.Record) { r.Entry = entry }},
	} {
		t.Run(name, func(t *testing.T) {
			want := c.from
			c.want(&want)
			if c.got != want {
				t.Errorf("got  %+v\nwant %+v", c.got, want)
			}
		})
	}
}

// BOOT-19: a record that kept an address keeps it, whoever wants to give it
// another, and needs none to be free.
func TestKeptAddressStays(t *testing.T) {
	kept := walk(t, withdrawn(t), ev(netboot.Reactivate))
	other := func(e *netboot.Event) { e.Address, e.Networking = next, netboot.Networking{} }
	for _, on := range []netboot.Kind{netboot.Admit, netboot.Enroll, netboot.SetEntry} {
		for name, f := range map[string]edit{"another is free": other, "none is free": none} {
			if r := walk(t, kept, ev(on, admitted, f)); r.Address != free || r.Networking != admin {
				t.Errorf("%s, %s: %s, %+v", on, name, r.Address, r.Networking)
			}
		}
	}
}

// BOOT-7, EDGE-17, EDGE-19: with the pool exhausted a sighting still makes a
// record; only what needs an address fails, and changes nothing.
func TestExhaustedPool(t *testing.T) {
	r := walk(t, netboot.New(mac), ev(netboot.Sight, none))
	refused(t, r, sm.Unavailable, ev(netboot.Admit, admitted, none))
	refused(t, r, sm.Unavailable, ev(netboot.Enroll, none))
	refused(t, r, sm.Unavailable, ev(netboot.SetEntry, none))
	refused(t, netboot.New(mac), sm.Unavailable, ev(netboot.Enroll, none))
	refused(t, netboot.New(mac), sm.Unavailable, ev(netboot.SetEntry, none))
}

// BOOT-15, EDGE-17, EDGE-19: neither policy nor hand enrolls a MAC that waits
// for its machine, is a machine's, or carries a boot entry.
func TestClaimedIsNotEnrolled(t *testing.T) {
	for name, c := range map[string]struct {
		rec  netboot.Record
		fact sm.Guard
	}{
		"candidate":   {walk(t, discovered(t), ev(netboot.Propose)), 0},
		"bound":       {walk(t, discovered(t), ev(netboot.Bind)), 0},
		"boot entry":  {walk(t, discovered(t), ev(netboot.SetEntry)), 0},
		"known apart": {discovered(t), netboot.Claimed},
	} {
		if got := walk(t, c.rec, ev(netboot.Admit, func(e *netboot.Event) { e.Facts = netboot.Admitted | c.fact })); got != c.rec {
			t.Errorf("%s was admitted: %+v", name, got)
		}
		refused(t, c.rec, sm.Conflict, ev(netboot.Enroll, func(e *netboot.Event) { e.Facts = c.fact }))
		refused(t, c.rec, sm.Conflict, ev(netboot.Propose, func(e *netboot.Event) { e.Facts = c.fact }))
		refused(t, c.rec, sm.Conflict, ev(netboot.Evict, func(e *netboot.Event) { e.Facts = c.fact }))
	}
}

// BOOT-14, BOOT-17: a MAC of one machine is no other's.
func TestForeignMachine(t *testing.T) {
	for _, r := range []netboot.Record{enrolled(t), walk(t, discovered(t), ev(netboot.Bind)), walk(t, enrolling(t), ev(netboot.SetEntry))} {
		refused(t, r, sm.Conflict, ev(netboot.SetEntry, byStranger))
		refused(t, r, sm.Conflict, ev(netboot.Bind, byStranger))
		refused(t, r, sm.Conflict, ev(netboot.Decommission, byNobody))
	}
}

// BOOT-15: a candidate gets no boot entry before a person confirmed it.
func TestCandidateGetsNoEntry(t *testing.T) {
	r := walk(t, discovered(t), ev(netboot.Propose))
	refused(t, r, sm.Conflict, ev(netboot.SetEntry))
	r = walk(t, r, ev(netboot.Bind), ev(netboot.SetEntry))
	if r.Entry != entry || r.Candidate != "" || r.Owner != own {
		t.Errorf("after confirm-mac: %+v", r)
	}
}

// BOOT-16: a record that holds an address makes no room.
func TestKeptRecordIsNotEvicted(t *testing.T) {
	refused(t, walk(t, withdrawn(t), ev(netboot.Reactivate)), sm.Conflict, ev(netboot.Evict))
}

// EDGE-17, EDGE-20: what a record that is not there, or is shut out, refuses.
func TestAbsentAndShutOut(t *testing.T) {
	for _, rec := range []netboot.Record{netboot.New(mac), {MAC: mac}} {
		for _, on := range []netboot.Kind{netboot.SetMode, netboot.Purge, netboot.Reactivate, netboot.Decommission, netboot.Propose} {
			refused(t, rec, sm.NotFound, ev(on))
		}
	}
	for _, on := range []netboot.Kind{netboot.Enroll, netboot.SetEntry, netboot.Bind} {
		refused(t, withdrawn(t), sm.InvalidState, ev(on))
	}
	refused(t, enrolled(t), sm.InvalidState, ev(netboot.Purge))
}

// The zero Record with a MAC is none, and becomes one like any other.
func TestZeroRecordIsNone(t *testing.T) {
	if got := walk(t, netboot.Record{MAC: mac}, ev(netboot.Sight)); got != discovered(t) {
		t.Errorf("%+v", got)
	}
}

// EDGE-18: a state of a newer version is left alone.
func TestUnknownStateIsLeftAlone(t *testing.T) {
	rec := enrolled(t)
	rec.State = "quarantined"
	for on := range netboot.Table.Events() {
		refused(t, rec, sm.InvalidState, ev(on))
	}
}
