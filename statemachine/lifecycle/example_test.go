package lifecycle_test

import (
	"fmt"
	"net/netip"
	"time"

	"github.com/ingotmetal/ingot/statemachine/lifecycle"
	"github.com/ingotmetal/ingot/statemachine/netboot"
	"github.com/ingotmetal/ingot/statemachine/registration"
)

// The machine of the examples, and the operator who looks after it.
var (
	noonInMay = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	webSeven  = registration.ServerID{0x4c, 0x4c, 0x45, 0x44, 0, 0x31, 0x30, 0x10, 0x80, 0x43, 0xb4, 0xc0, 0x4f, 0x36, 0x42, 0x32}
	ada       = lifecycle.Call{By: "ada", Operator: true}
)

// An agent registers; an operator approves it with the code that the machine
// shows. Facts are what a log publishes, rows what a store keeps.
func ExampleStep() {
	s := lifecycle.State{Node: lifecycle.Fresh()}
	hour := noonInMay.Add(time.Hour)
	out, err := lifecycle.Step(s, lifecycle.Register{
		NewID:   "node_0123456789abcdefghjkmnpqrs",
		Server:  webSeven,
		Code:    registration.Expiring{Hash: registration.Hash{1}, Until: hour},
		Poll:    registration.Expiring{Hash: registration.Hash{2}, Until: hour},
		Bound:   registration.Key{ID: "key-1", Hash: registration.Hash{3}, Scope: lifecycle.ScopeAgent},
		Waiting: "c2VhbGVk", // used only if a window lets it in
	}, noonInMay)
	fmt.Println(out.Next.Node.Reg.State, err)

	out, err = lifecycle.Step(out.Next, lifecycle.Approve{
		Call:    ada,
		Hash:    registration.Hash{1}, // of the code that she typed
		Bound:   registration.Key{ID: "key-2", Hash: registration.Hash{4}, Scope: lifecycle.ScopeAgent},
		Waiting: "c2VhbGVk",
	}, noonInMay.Add(time.Minute))
	fmt.Println(out.Next.Node.Reg.State, err)
	for _, f := range out.Facts {
		fmt.Println("fact:", f.Name)
	}
	due, _, _ := lifecycle.Due(&out.Next.Node)
	fmt.Println("the key lapses at", due.Format(time.TimeOnly), "unless its agent fetches it")
	// Output:
	// pending <nil>
	// approved <nil>
	// fact: registration.approved
	// fact: key.made
	// the key lapses at 13:00:00 unless its agent fetches it
}

// A machine announces itself from the ramdisk; an operator approves what will
// be written to which disk. That one commit makes the grant, without which the
// agent writes nothing, and it ends with the attempt.
func ExampleApproveSetup() {
	s := lifecycle.State{Node: lifecycle.Fresh()}
	out, _ := lifecycle.Step(s, lifecycle.Announce{
		NewID:   "node_0123456789abcdefghjkmnpqrs",
		Routing: webSeven,
		Server:  webSeven,
		Inventory: registration.Inventory{Digest: registration.Hash{0x1e},
			MACs: []registration.MAC{{2, 0, 0, 0, 0, 1}}, Seen: []registration.MAC{{2, 0, 0, 0, 0, 1}}, Serials: []string{"WD-1", "WD-2"}},
		AgentKey: registration.Hash{0xa},
	}, noonInMay)

	ticket := func(id string, n byte) registration.Key {
		return registration.Key{ID: id, Hash: registration.Hash{n}, Scope: lifecycle.ScopeTicket}
	}
	out, err := lifecycle.Step(out.Next, lifecycle.ApproveSetup{
		Call:     ada,
		Shown:    registration.Hash{0x9}, // of the plan on her screen
		AgentKey: registration.Hash{0xa},
		MACs:     []registration.MAC{{2, 0, 0, 0, 0, 1}},
		Realized: registration.Plan{Digest: registration.Hash{0x9}, Inventory: registration.Hash{0x1e}, Serials: []string{"WD-1"}, Hostname: "web-7"},
		Mint: lifecycle.Mint{
			Bound:   registration.Key{ID: "agent", Hash: registration.Hash{1}, Scope: lifecycle.ScopeAgent},
			Tickets: [3]registration.Key{ticket("t1", 2), ticket("t2", 3), ticket("t3", 4)},
			Sealed:  "c2VhbGVk",
		},
	}, noonInMay)
	n := &out.Next.Node
	fmt.Println(n.Reg.State, "until", n.Reg.Deadline.Format(time.TimeOnly), err)
	fmt.Println(n.Grant.Writing, n.Grant.Serials, "attempt", n.Grant.Epoch, "by", n.Grant.Approver)

	out, err = lifecycle.Step(out.Next, lifecycle.Expire{}, n.Reg.Deadline)
	fmt.Println(out.Next.Node.Reg.State, out.Next.Node.Grant.Writing == "", err)
	// Output:
	// setting_up until 12:45:00 <nil>
	// setup [WD-1] attempt 1 by ada
	// awaiting_setup true <nil>
}

// A refusal says why, by which requirement, and what to do; it has a code for
// programs, and nothing has changed.
func ExampleRefused() {
	s := lifecycle.State{Node: lifecycle.Fresh()}
	_, err := lifecycle.Step(s, lifecycle.ApproveSetup{Call: lifecycle.Call{By: "script"}}, noonInMay)
	fmt.Println(err)
	fmt.Println(err.(*lifecycle.Refused).Code())
	// Output:
	// approve-setup is refused: only an operator session may let disks be written (SET-2); sign in as an operator
	// ACCESS_DENIED
}

// A site admits what its policy lets in: the record gets the lowest free
// address of the admin network in the same commit.
func ExampleSighted() {
	s := lifecycle.State{Node: lifecycle.Fresh()}
	out, err := lifecycle.Step(s, lifecycle.SetPolicy{Call: ada, Policy: lifecycle.Policy{
		Network: netip.MustParsePrefix("10.7.0.0/24"), Gateway: netip.MustParseAddr("10.7.0.1"), Allow: []string{"52:54:00"}, Enrollment: "enroll-1",
	}}, noonInMay)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, mac := range []netboot.MAC{{0x52, 0x54, 0, 0, 0, 1}, {0x52, 0x54, 0, 0, 0, 2}, {0x66, 0, 0, 0, 0, 3}} {
		out, _ = lifecycle.Step(out.Next, lifecycle.Sighted{MAC: mac}, noonInMay)
	}
	for _, b := range out.Next.Node.NICs {
		fmt.Println(b.MAC, b.State, b.Address)
	}
	// Output:
	// 52:54:00:00:00:01 enrolling 10.7.0.2
	// 52:54:00:00:00:02 enrolling 10.7.0.3
	// 66:00:00:00:00:03 discovered invalid IP
}
