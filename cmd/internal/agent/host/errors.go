package host

import (
	"fmt"
	"strings"
)

// A NoLink reports a machine that does not have the interface it booted with.
type NoLink struct {
	MAC  string
	Seen []string // names and MACs
}

// Error says what there is instead.
func (e *NoLink) Error() string {
	if len(e.Seen) == 0 {
		return fmt.Sprintf("host: no network interface is here, and ingot.mac=%s names one: the kernel needs its driver built in", e.MAC)
	}
	return fmt.Sprintf("host: no network interface has %s (ingot.mac); here are %s", e.MAC, strings.Join(e.Seen, ", "))
}

// Code is the error's wire name (API-3).
func (*NoLink) Code() string { return "UNAVAILABLE" }

// A TwoLinks reports two interfaces of one MAC, of which either may be meant.
type TwoLinks struct {
	MAC   string
	Links [2]string
}

// Error names them.
func (e *TwoLinks) Error() string {
	return fmt.Sprintf("host: %s and %s both have %s (ingot.mac), and which one has the cable is unknown", e.Links[0], e.Links[1], e.MAC)
}

// Code is the error's wire name (API-3).
func (*TwoLinks) Code() string { return "CONFLICT" }

// A NoCarrier reports an interface that nothing is connected to.
type NoCarrier struct{ Link string }

// Error says where to look.
func (e *NoCarrier) Error() string {
	return "host: " + e.Link + " has no carrier: is the cable in, and is the port of the switch on?"
}

// Code is the error's wire name (API-3).
func (*NoCarrier) Code() string { return "UNAVAILABLE" }

// An Unset reports a step of the network that the kernel refused.
type Unset struct {
	What string
	Err  error
}

// Error has the kernel's reason.
func (e *Unset) Error() string {
	return "host: the network is not set up: " + e.What + ": " + e.Err.Error()
}

// Unwrap is the kernel's reason.
func (e *Unset) Unwrap() error { return e.Err }

// Code is the error's wire name (API-3).
func (*Unset) Code() string { return "UNAVAILABLE" }

// A NoShadow reports a file of passwords that root's password cannot be set in. Nothing
// was changed.
type NoShadow struct{ Why string }

// Error never has a hash.
func (e *NoShadow) Error() string { return "host: the shadow file " + e.Why }

// Code is the error's wire name (API-3).
func (*NoShadow) Code() string { return "UNAVAILABLE" }
