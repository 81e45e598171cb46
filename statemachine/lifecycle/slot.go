package lifecycle

import (
	"time"

	sm "github.com/ingotmetal/ingot/statemachine"
	"github.com/ingotmetal/ingot/statemachine/provision"
	"github.com/ingotmetal/ingot/statemachine/registration"
	"github.com/ingotmetal/ingot/statemachine/run"
)

// Holder names what holds a machine's power, boot entry and disks (MACH-3).
type Holder string

// The holders. Free is none.
const (
	Free       Holder = ""
	Setup      Holder = "setup"
	Workflow   Holder = "provision" // an in-flight state, an acceptance run, a rescue boot or unrescue
	OwnerRun   Holder = "run"
	Retirement Holder = "retirement" // of an inventory device, from its first step to its last
)

// Slot is the one attempt of a machine. Deadline is zero where a retirement
// waits by reminder.
type Slot struct {
	Holder   Holder
	State    string // of the axis that holds it
	Epoch    uint64
	Deadline time.Time
}

// SlotOf is the attempt that holds n. It is read off the axes, and every step
// that opens an attempt asks it first, so that there is never a second.
func SlotOf(n *Node) Slot {
	slots := holders(n)
	for _, s := range slots {
		if s.Holder != Free {
			return s
		}
	}
	return Slot{}
}

// HeldBy is who holds n against whatever would drive it: its attempt's holder, or
// a retirement that waits for confirmed off (EDGE-5). Free is nobody.
func HeldBy(n *Node) Slot { return heldBy(n) }

// heldBy is who holds n against every other axis: its attempt's holder, or a
// retirement that still waits for confirmed off. Until then whatever ran before
// may still drive the machine, though that retirement has failed (EDGE-5).
func heldBy(n *Node) Slot {
	if slot := SlotOf(n); slot.Holder != Free || !n.Prov.AwaitOff {
		return slot
	}
	return Slot{Holder: Workflow, State: string(n.Prov.State), Epoch: n.Prov.Epoch}
}

// boots is the epoch of the attempt that may give n's MACs boot entries, and
// whose entries are served: an open one whose state drives the boot order
// (BOOT-14). Zero is none.
func boots(n *Node) uint64 {
	slot := SlotOf(n)
	var drives sm.Actuators
	switch slot.Holder {
	case Setup:
		drives = registration.Table.Drives(n.Reg.State)
	case Workflow:
		drives = provision.Table.Drives(n.Prov.State)
	case OwnerRun:
		drives = run.Table.Drives(n.Run.State)
	case Retirement: // its stable steps drive no boot order
		drives = run.Retirement.Drives(n.Run.Retire.State)
	}
	if drives&sm.BootOrder == 0 {
		return 0
	}
	return slot.Epoch
}

// holders lists what each axis holds. At most one of them is not Free: the
// guard held of every rule that opens an attempt sees to it (MACH-3).
func holders(n *Node) [4]Slot {
	var s [4]Slot
	if registration.Table.Open(n.Reg.At) {
		s[0] = Slot{Setup, string(n.Reg.State), n.Reg.Epoch, n.Reg.Deadline}
	}
	if provision.Table.Open(n.Prov.At) {
		s[1] = Slot{Workflow, string(n.Prov.State), n.Prov.Epoch, n.Prov.Deadline}
	}
	if run.Table.Open(n.Run.At) {
		s[2] = Slot{OwnerRun, string(n.Run.State), n.Run.Epoch, n.Run.Deadline}
	}
	if n.Run.Retiring() {
		s[3] = Slot{Retirement, string(n.Run.Retire.State), n.Run.Retire.Epoch, n.Run.Retire.Deadline}
	}
	return s
}
