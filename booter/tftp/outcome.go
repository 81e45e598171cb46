package tftp

import (
	"net/netip"
	"time"
)

// Outcome is how a request ended. Its text is stable: it is the log field and
// the counter's label.
type Outcome string

// The outcomes. Those of a transfer come first, then those of a request that
// became none.
const (
	Complete    Outcome = "complete"    // the client has the file
	Unconfirmed Outcome = "unconfirmed" // all was sent; only the last ACK is missing, which some ROMs never send
	Probed      Outcome = "probed"      // the client wanted the size alone
	Aborted     Outcome = "aborted"     // the client sent an ERROR
	TimedOut    Outcome = "timed-out"   // the client fell silent
	Superseded  Outcome = "superseded"  // the client began anew from the same port
	Stopped     Outcome = "stopped"     // Serve's context ended
	Failed      Outcome = "failed"      // the file or the socket failed here

	NotFound  Outcome = "not-found" // ERROR 1
	Denied    Outcome = "denied"    // ERROR 2
	Rejected  Outcome = "rejected"  // ERROR 4: a mode other than octet
	Silenced  Outcome = "silenced"  // not answered: Admit or Open said so
	Limited   Outcome = "limited"   // not answered: over Limits
	Discarded Outcome = "discarded" // not answered: malformed, or sent to a group
)

// A Transfer is what there is to say of a request when it ends.
type Transfer struct {
	Client  netip.AddrPort
	Local   netip.Addr    // the address that was asked; invalid if unknown
	Name    string        // as in [Request], or quoted as it was sent where that is no local path
	Size    int64         // of the file
	Bytes   int64         // that the client acknowledged
	Block   int           // bytes of a block, 0 if it came to none
	Window  int           // blocks of a window
	Resent  int64         // blocks sent more than once
	Took    time.Duration // by Server.Now
	Outcome Outcome
	Err     error // what led to it; nil for Complete, Unconfirmed, Probed and Superseded
}
