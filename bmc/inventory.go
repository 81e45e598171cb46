package bmc

import (
	"context"
	"time"
)

// Inventory is a session whose machine can be inspected out of band.
type Inventory interface {
	// Inventory reads what the BMC knows. It changes nothing. Parts that cannot be
	// read are named in Missing, and never taken for empty.
	Inventory(ctx context.Context) (Inspection, error)
}

// An Inspection is what a BMC knows of its machine.
type Inspection struct {
	UUID    UUIDClaim
	Serials []Serial // candidates, best first
	Vendor  string
	Model   string
	CPUs    int
	Memory  int64 // in MiB; 0: not reported
	NICs    []NIC
	Drives  []Drive
	Missing []string // what could not be read, and why
}

// A Serial is one name for the machine.
type Serial struct{ Value, Source string }

// A NIC is a port as a BMC reports it. MAC means something only where Fault is
// empty.
type NIC struct {
	ID      string
	MAC     MAC
	Raw     string // the address as reported
	Fault   MACFault
	Source  string // the resource it was read from
	Link    string // as reported; empty: not
	Speed   int    // in Mbit/s; 0: not reported
	Enabled bool   // not reported as disabled
}

// A Drive is a disk as a BMC reports it.
type Drive struct {
	ID, Model, Serial string
	Bytes             int64
	Media             string // SSD, HDD, as reported
}

// MACs are the addresses of in without fault, each once.
func (in *Inspection) MACs() []MAC {
	var out []MAC
	for _, n := range in.NICs {
		if n.Fault == NoFault {
			out = append(out, n.MAC)
		}
	}
	return out
}

// JudgeNICs marks an address that a second card of the machine reports: the first
// keeps it. A port that two resources of the BMC describe is one NIC, and the
// driver leaves the second out before this. It returns nics, changed.
func JudgeNICs(nics []NIC) []NIC {
	seen := map[MAC]bool{}
	for i := range nics {
		n := &nics[i]
		if n.Fault != NoFault {
			continue
		}
		if seen[n.MAC] {
			n.Fault = Duplicate
		}
		seen[n.MAC] = true
	}
	return nics
}

// Health is a session whose machine's health can be read.
type Health interface {
	Health(ctx context.Context) (HealthReport, error)
}

// A HealthReport is the BMC's own judgement.
type HealthReport struct {
	Overall string // OK, Warning, Critical, as reported; empty: not
	Parts   []Part // that are not OK
	At      time.Time
}

// A Part is one thing that is not well.
type Part struct{ ID, Health, State, Source string }

// Firmware is a session whose machine's firmware can be listed.
type Firmware interface {
	Firmware(ctx context.Context) ([]Component, error)
}

// A Component is one firmware.
type Component struct {
	ID, Name, Version string
	Updateable        bool
}

// Accounts is a session that can change its own password.
type Accounts interface {
	// RotatePassword sets next for the account of the session, logs in with it,
	// and only then returns. On an error the old one stands, unless the error is
	// [Indeterminate]: then either may, and the caller keeps both. A password that
	// the BMC would cut or refuse is [InvalidOption], with nothing sent.
	RotatePassword(ctx context.Context, next Secret) error
}

// Events is a session whose BMC keeps a log.
type Events interface {
	// Events are the entries after the one that after names, oldest first, and
	// the place to go on from. An empty after begins at the end. It polls: nothing
	// is subscribed to.
	Events(ctx context.Context, after string) (list []Event, next string, err error)
}

// An Event is one entry.
type Event struct {
	ID, Severity, Message string
	At                    time.Time // by the BMC's clock; zero: not said
}
