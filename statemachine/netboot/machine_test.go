package netboot_test

import (
	"net/netip"
	"testing"
	"time"

	sm "github.com/ingotmetal/ingot/statemachine"
	"github.com/ingotmetal/ingot/statemachine/netboot"
	"github.com/ingotmetal/ingot/statemachine/render"
	"github.com/ingotmetal/ingot/statemachine/statemachinetest"
)

// What events of these tests bring.
var (
	mac      = netboot.MAC{0x52, 0x54, 0, 0x12, 0x34, 0x56}
	product  = netboot.ServerID{1, 15: 1}
	own      = netboot.Owner{Node: "node_a", Server: netboot.ServerID{2, 15: 2}}
	stranger = netboot.Owner{Node: "node_b"}
	free     = netip.MustParseAddr("10.0.0.10")
	next     = netip.MustParseAddr("10.0.0.11")
	admin    = netboot.Networking{Network: netip.MustParsePrefix("10.0.0.0/24"), Gateway: netip.MustParseAddr("10.0.0.1")}
	entry    = netboot.Entry{Epoch: 7, Image: "ramdisk", Args: "inspect"}
)

// bring is an event of kind on with everything that any event brings.
func bring(on netboot.Kind) netboot.Event {
	return netboot.Event{On: on, By: own, Product: product, Address: free, Networking: admin, Image: "pi1",
		Entry: entry, Mode: netboot.Rescue, Candidate: "node_a"}
}

// align brings record and event to the guards that the kit wants to hold, as
// far as the record's state can have what they speak of.
func align(rec netboot.Record, on netboot.Kind, g sm.Guard) (netboot.Record, netboot.Event) {
	e := bring(on)
	e.Facts = g & (netboot.Admitted | netboot.Claimed)
	rec.Address, rec.Networking, rec.Owner, rec.Entry, rec.Candidate = netip.Addr{}, netboot.Networking{}, netboot.Owner{}, netboot.Entry{}, ""
	may := func(f sm.Fields) bool { return netboot.Table.Drops(rec.State)&f == 0 }
	if g&netboot.Kept != 0 && may(netboot.FieldAddress) {
		rec.Address, rec.Networking = free, admin
	}
	switch {
	case !may(netboot.FieldOwner):
	case g&netboot.Foreign != 0:
		rec.Owner = stranger
	case g&netboot.Bound != 0:
		rec.Owner = own
	}
	if g&netboot.Unconfirmed != 0 && may(netboot.FieldCandidate) {
		rec.Candidate = "node_a"
	}
	if g&netboot.Address == 0 {
		e.Address, e.Networking = netip.Addr{}, netboot.Networking{}
	}
	if g&netboot.Image == 0 {
		e.Image = ""
	}
	return rec, e
}

func subject() statemachinetest.Subject[netboot.Record, netboot.State, netboot.Kind] {
	return statemachinetest.Subject[netboot.Record, netboot.State, netboot.Kind]{
		Table: netboot.Table,
		Start: func() netboot.Record { return netboot.New(mac) },
		At:    func(rec netboot.Record) netboot.At { return rec.At },
		Fields: func(rec netboot.Record) sm.Fields {
			return rec.Fields()
		},
		In: func(s netboot.State) netboot.Record { return netboot.Record{At: netboot.At{State: s}, MAC: mac} },
		Holds: func(rec netboot.Record, ev sm.Event[netboot.Kind], wanted sm.Guard) sm.Guard {
			aligned, e := align(rec, ev.On, wanted)
			return netboot.Guards(&aligned, &e)
		},
		Step: func(rec netboot.Record, ev sm.Event[netboot.Kind], g sm.Guard, _ time.Time) (netboot.Record, error) {
			aligned, e := align(rec, ev.On, g)
			next, err := netboot.Step(aligned, e)
			if err != nil {
				return rec, err
			}
			return next, nil
		},
	}
}

// Every row is taken by Step, and every law of tables holds.
func TestEveryRowIsTaken(t *testing.T) {
	statemachinetest.Machine(t, subject()).Require(t)
}

// The page of the table, with the cells that were decided by default.
func TestPage(t *testing.T) {
	statemachinetest.Golden(t, "../../docs/lifecycle/netboot.md", render.Page(netboot.Table))
}
