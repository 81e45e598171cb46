package server_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ingotmetal/ingot/cmd/api"
)

// BOOT-1: reading an unknown MAC writes nothing, in any of its written forms.
func TestReadingAnUnknownMACWritesNothing(t *testing.T) {
	s := newSite(t)
	before := s.rows()
	for _, form := range []string{"02:00:00:00:00:63", "02-00-00-00-00-63", "020000000063", "02:00:00:00:00:6A"} {
		b := ask(s, api.BootShow, s.ada, &api.BootRef{MAC: form})
		s.check(b.State == "absent" && b.Version == 0 && strings.HasPrefix(b.MAC, "02:00:00:00:00:6"), "absent", b)
	}
	s.check(len(differ(before, s.rows())) == 0, "what was written", differ(before, s.rows()))
	in := &api.BootChange{BootRef: api.BootRef{MAC: macOf(99)}}
	refuses(s, "NOT_FOUND", api.BootPurge, s.ada, in)
	mode := &api.SetMode{BootChange: *in}
	mode.Body.Mode = "rescue"
	refuses(s, "NOT_FOUND", api.BootMode, s.ada, mode)
}

// BOOT-7, BOOT-10: 256 MACs of one report get 256 distinct lowest addresses; a 257th
// is too many.
func TestFullReport(t *testing.T) {
	s := newSite(t)
	s.policy()
	set := &api.SetPolicy{Body: ask(s, api.PolicyShow, s.ada, &api.Empty{}).Policy}
	set.Body.Network = "10.0.0.0/22"
	ask(s, api.PolicySet, s.ada, set)
	b := s.mint("booter")
	var seen []api.SeenBoot
	for i := range 256 {
		seen = append(seen, seenBoot(macOf(i+1)))
	}
	out := ask(s, api.BooterSightings, b, sightings("b1", seen...))
	s.check(len(out.Admissions) == 256, "admissions", len(out.Admissions))
	want := ask(s, api.BooterSnapshot, b, &api.Empty{})
	got := map[string]bool{}
	for _, x := range want.Boots {
		got[x.Address] = true
	}
	s.check(len(got) == 256 && got["10.0.0.1"] && got["10.0.0.255"] && got["10.0.1.0"], "addresses", len(got))
	refuses(s, "INVALID_INPUT", api.BooterSightings, b, sightings("b1", append(seen, seenBoot(macOf(999)))...))
	page, names := api.BootRecords{}, []string{}
	for first := true; first || page.NextCursor != ""; first = false {
		page = ask(s, api.BootListing, s.ada, &api.BootList{Page: api.Page{Cursor: page.NextCursor}})
		for _, x := range page.Boots {
			names = append(names, x.MAC)
		}
	}
	s.check(len(names) == 256 && slices.IsSorted(names), "the list", len(names))
}

// BOOT-7, EDGE-17, EDGE-19: an exhausted pool admits nobody and says so; the first
// sighting is recorded all the same, and what frees an address admits the next.
func TestPoolIsExhausted(t *testing.T) {
	s := newSite(t)
	set := &api.SetPolicy{Body: api.Policy{AutoEnroll: true, Network: "10.0.0.0/30", Gateway: "10.0.0.1", EnrollmentImage: "enrol"}}
	ask(s, api.PolicySet, s.ada, set)
	b := s.mint("booter")
	out := ask(s, api.BooterSightings, b, sightings("b1", seenBoot(macOf(1)), seenBoot(macOf(2)), seenBoot(macOf(3))))
	var states []string
	for _, a := range out.Admissions {
		states = append(states, a.State)
	}
	s.check(slices.Equal(states, []string{"enrolling", "discovered", "discovered"}), "states", out)
	out = ask(s, api.BooterSightings, b, sightings("b1", seenBoot(macOf(2))))
	s.check(out.Admissions[0].Code == "UNAVAILABLE" && out.Admissions[0].Why != "", "the admission says so", out)
	by := &api.BootChange{BootRef: api.BootRef{MAC: macOf(2)}}
	refuses(s, "UNAVAILABLE", api.BootEnroll, s.ada, by)
	first := &api.BootChange{BootRef: api.BootRef{MAC: macOf(1)}}
	ask(s, api.BootDecommission, s.ada, first)
	refuses(s, "UNAVAILABLE", api.BootEnroll, s.ada, by) // it keeps its address
	ask(s, api.BootPurge, s.ada, first)
	s.check(ask(s, api.BootEnroll, s.ada, by).Boot.Address == "10.0.0.2", "the address is free")
}

// BOOT-19: exact tags and canonical prefixes; others are refused when the policy is
// written.
func TestAllowList(t *testing.T) {
	s := newSite(t)
	set := &api.SetPolicy{Body: api.Policy{AutoEnroll: true, Network: "10.0.0.0/24", Allow: []string{"02:00:00:00:01"}}}
	ask(s, api.PolicySet, s.ada, set)
	b := s.mint("booter")
	out := ask(s, api.BooterSightings, b, sightings("b1", seenBoot(macOf(0x101)), seenBoot(macOf(0x201))))
	s.check(out.Admissions[0].State == "enrolling" && out.Admissions[1].State == "discovered", "by prefix", out)
	for _, bad := range []string{"02:00:0", "02:00:00:00:01:", ""} {
		set.Body.Allow = []string{bad}
		refuses(s, "INVALID_INPUT", api.PolicySet, s.ada, set)
	}
	set.Body.Allow = nil
	ask(s, api.PolicySet, s.ada, set)
	out = ask(s, api.BooterSightings, b, sightings("b1", seenBoot(macOf(0x201))))
	s.check(out.Admissions[0].State == "enrolling", "BOOT-19: each sighting is judged anew", out)
}

// BOOT-16: discovered records are bounded: the oldest that never held an address goes
// first, and one that did stays.
func TestDiscoveredIsBounded(t *testing.T) {
	s := newSite(t)
	set := &api.SetPolicy{Body: api.Policy{AutoEnroll: true, Network: "10.0.0.0/24", MaxDiscovered: 3}}
	ask(s, api.PolicySet, s.ada, set)
	kept := &api.BootChange{BootRef: api.BootRef{MAC: macOf(1)}}
	for _, op := range []api.Op[api.BootChange, api.BootChanged]{api.BootEnroll, api.BootDecommission, api.BootReactivate} {
		ask(s, op, s.ada, kept)
	}
	set.Body.AutoEnroll = false
	ask(s, api.PolicySet, s.ada, set)
	b := s.mint("booter")
	for i := 2; i < 9; i++ {
		ask(s, api.BooterSightings, b, sightings(fmt.Sprint("b", i), seenBoot(macOf(i))))
		s.pass(time.Second)
	}
	var macs []string
	for _, x := range ask(s, api.BootListing, s.ada, &api.BootList{State: "discovered"}).Boots {
		macs = append(macs, x.MAC)
	}
	s.check(slices.Equal(macs, []string{macOf(1), macOf(7), macOf(8)}), "what stays", macs)
}

// BOOT-10, BOOT-18: what booters saw, newest first, summed, for a day and no longer,
// whatever a booter says of the time; and not what has a record of its own.
func TestDiscoveredList(t *testing.T) {
	s := newSite(t)
	ask(s, api.PolicySet, s.ada, &api.SetPolicy{Body: api.Policy{Network: "10.0.0.0/24"}})
	b := s.mint("booter")
	at := func(mac string, ago time.Duration) api.SeenBoot {
		x := seenBoot(mac)
		x.LastSeen, x.FirstSeen, x.Product = s.now().Add(-ago), s.now().Add(-ago-time.Minute), uuidOf(4)
		return x
	}
	none := at(macOf(3), 3*time.Minute)
	none.Product = "00000000-0000-0000-0000-000000000000"
	ask(s, api.BooterSightings, b, sightings("b1", at(macOf(1), time.Minute), at(macOf(2), 25*time.Hour), none, at(macOf(9), -1000*time.Hour)))
	ask(s, api.BooterSightings, b, sightings("b2", at(macOf(1), 2*time.Minute)))
	list := func() []api.Sighting {
		var all []api.Sighting
		page := api.Discovered{}
		for first := true; first || page.NextCursor != ""; first = false {
			page = ask(s, api.BootDiscovered, s.ada, &api.DiscoveredList{Page: api.Page{Limit: 1, Cursor: page.NextCursor}})
			all = append(all, page.Sightings...)
		}
		return all
	}
	all := list()
	var macs []string
	for _, x := range all {
		macs = append(macs, x.MAC)
	}
	if !slices.Equal(macs, []string{macOf(9), macOf(1), macOf(3)}) {
		t.Fatalf("%v", macs)
	}
	s.check(all[1].Count == 2 && slices.Equal(all[1].Booters, []string{"b1", "b2"}) && all[1].Product == uuidOf(4) && strings.HasPrefix(all[1].ProductSwapped, "3d2c1f6b"), "summed", all[1])
	s.check(all[2].Product == "" && !all[0].LastSeen.After(s.now()), "a placeholder, and a time ahead", all)
	ask(s, api.BootEnroll, s.ada, &api.BootChange{BootRef: api.BootRef{MAC: macOf(1)}})
	s.check(len(list()) == 2, "its record is its own business", list())
	s.pass(24*time.Hour + time.Second)
	s.ada = s.signIn("ada", password)
	s.check(len(list()) == 0, "after a day", list())
	bad := at(macOf(1), 0)
	bad.Product = "nonsense"
	refuses(s, "INVALID_INPUT", api.BooterSightings, s.mint("booter"), sightings("b1", bad))
}

// BOOT-4, BOOT-5, EDGE-17: what the verbs on a machine's record may not do.
func TestVerbsOnAMachinesRecord(t *testing.T) {
	s := newSite(t)
	s.policy()
	m := s.machine(1)
	m.installed()
	in := &api.BootChange{BootRef: api.BootRef{MAC: m.mac}}
	before := s.rows()
	refuses(s, "CONFLICT", api.BootDecommission, s.ada, in)
	refuses(s, "INVALID_STATE", api.BootPurge, s.ada, in)
	refuses(s, "INVALID_STATE", api.BootReactivate, s.ada, in)
	s.check(len(differ(before, s.rows())) == 0, "what was written", differ(before, s.rows()))
	mode := &api.SetMode{BootChange: *in}
	mode.Body.Mode = "rescue"
	got := ask(s, api.BootMode, s.ada, mode)
	s.check(got.Boot.Mode == "rescue" && got.Boot.State == "enrolled", "the mode moves no state", got)
	ask(s, api.RegistrationDisable, s.ada, m.change())
	ask(s, api.RegistrationDelete, s.ada, m.change())
	b := ask(s, api.BootShow, s.ada, &in.BootRef)
	s.check(b.State == "decommissioned" && b.Mode == "rescue", "after the delete", b)
	mode.Body.Mode = "normal"
	s.check(ask(s, api.BootMode, s.ada, mode).Boot.Mode == "normal", "set back")
	s.check(ask(s, api.BootPurge, s.ada, in).Deleted, "purged")
}
