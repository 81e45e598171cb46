package booter

import (
	"net/netip"

	"github.com/ingotmetal/ingot/statemachine/netboot"
)

// Record is what the site holds of a MAC, as far as booting goes. The zero
// value is no record. The caller makes it from the record of
// statemachine/netboot, out of a snapshot: nothing here waits for a store.
type Record struct {
	State  netboot.State // "" is [netboot.Absent]
	Newer  bool          // its schema is newer than this program (MACH-8)
	Rescue bool          // mode rescue

	Address  netip.Addr // reserved, IPv4; the zero Addr if none
	Image    string     // assigned by its machine's setup
	Args     string     // kernel arguments of its own
	RootHash bool       // a root password hash is set

	Entry Entry // boot entry of the attempt that holds the machine
}

// Entry is a boot entry (BOOT-14). The zero value is none; one without an image
// is an entry whose image is unset.
type Entry struct {
	Image string
	Args  string
}

// closed says why the record is not served at all, "" if it is. An entry
// opens discovered alone (BOOT-14); mode rescue opens discovered and
// decommissioned (BOOT-6), and nothing opens what this program does not know
// (EDGE-18).
func (r *Record) closed() Silence {
	if r.Newer {
		return StateUnknown
	}
	switch r.State {
	case netboot.Enrolling, netboot.Enrolled:
		return ""
	case netboot.Discovered:
		if r.Rescue || r.Entry != (Entry{}) {
			return ""
		}
		return StateDiscovered
	case netboot.Decommissioned:
		if r.Rescue {
			return ""
		}
		return StateDecommissioned
	case netboot.Absent, "":
		return NoRecord
	}
	return StateUnknown
}
