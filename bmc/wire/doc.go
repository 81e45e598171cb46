// Package wire is the HTTP client for BMCs, for drivers to speak through: a BMC
// is treated as hostile.
//
// A [Client] talks to one scheme, host and port and to nothing else. Every
// request passes the gate of its BMC; a body, its time and its redirects have
// limits; a redirect or link that leads elsewhere is refused and not followed;
// nobody is trusted who was not named, and a peer is known before the first
// credential leaves. An error is a [*bmc.Error] that says whether the request was
// sent.
//
// It reads no proxy from the environment, and asks for the identity encoding: a
// compressed answer turns ETags weak.
package wire
