package netboot_test

import (
	"net/netip"
	"slices"
	"testing"

	"github.com/ingotmetal/ingot/statemachine/netboot"
	"pgregory.net/rapid"
)

// draw is an event as callers make them: of one of two machines, or of nobody
// where nobody acts.
func draw(t *rapid.T) netboot.Event {
	e := bring(rapid.SampledFrom(slices.Collect(netboot.Table.Events())).Draw(t, "on"))
	if rapid.Bool().Draw(t, "stranger") {
		e.By, e.Candidate = stranger, stranger.Node
	}
	if rapid.Bool().Draw(t, "exhausted") {
		e.Address, e.Networking = netip.Addr{}, netboot.Networking{}
	}
	if rapid.IntRange(0, 3).Draw(t, "no image") == 0 {
		e.Image = ""
	}
	if rapid.Bool().Draw(t, "admitted") {
		e.Facts |= netboot.Admitted
	}
	if rapid.IntRange(0, 3).Draw(t, "claimed") == 0 {
		e.Facts |= netboot.Claimed
	}
	e.Entry.Epoch = rapid.Uint64Range(1, 3).Draw(t, "epoch")
	return e
}

// What holds of every record, however it came to be.
func TestEveryRecord(t *testing.T) {
	laws := map[string]func(r, before *netboot.Record) bool{
		"an image is for enrolled records alone (BOOT-3)": func(r, _ *netboot.Record) bool { return (r.State == netboot.Enrolled) == (r.Image != "") },
		"a booting record has an address (BOOT-7)": func(r, _ *netboot.Record) bool {
			return r.Address.IsValid() || r.State != netboot.Enrolling && r.State != netboot.Enrolled && r.Entry == netboot.Entry{}
		},
		"an address has its network (BOOT-7)": func(r, _ *netboot.Record) bool { return r.Address.IsValid() == (r.Networking != netboot.Networking{}) },
		"a boot entry has a machine (BOOT-14)": func(r, _ *netboot.Record) bool {
			return r.Entry == netboot.Entry{} || r.Owner != netboot.Owner{}
		},
		"a candidate is nobody's, and only seen (BOOT-11)": func(r, _ *netboot.Record) bool {
			return r.Candidate == "" || r.State == netboot.Discovered && r.Owner == netboot.Owner{}
		},
		"a MAC stays": func(r, _ *netboot.Record) bool { return r.MAC == mac },
		"an address is freed by purge alone (BOOT-12)": func(r, before *netboot.Record) bool {
			return !before.Address.IsValid() || r.Address == before.Address || before.State == netboot.Decommissioned && r.State == netboot.Absent
		},
		"a machine loses its record by decommission alone (BOOT-4)": func(r, before *netboot.Record) bool {
			return before.Owner == netboot.Owner{} || r.Owner.Node == before.Owner.Node || before.State == netboot.Decommissioned
		},
	}
	rapid.Check(t, func(t *rapid.T) {
		rec := netboot.New(mac)
		t.Repeat(map[string]func(*rapid.T){"step": func(t *rapid.T) {
			before, e := rec, draw(t)
			next, err := netboot.Step(rec, e)
			if err != nil && next != before {
				t.Fatalf("%s was refused and changed %+v", e.On, next)
			}
			rec = next
			for name, law := range laws {
				if !law(&rec, &before) {
					t.Fatalf("%s: not so after %s, from\n%+v to\n%+v", name, e.On, before, rec)
				}
			}
		}})
	})
}
