package operators

// A Peer is the process at the other end of a socket in the file system, as it
// was when it connected.
type Peer struct {
	UID, GID uint32
	PID      int32 // may have ended since, and the number may be another's
}

// overflow is the UID that the kernel shows for users whom this namespace does not
// have (user_namespaces(7)).
const overflow = 65534

// Host reports whether p is on the host with the rights of the control plane
// itself (ID-8): root, or the daemon's own user, self. Nobody is whose user cannot
// be told.
func (p Peer) Host(self uint32) bool {
	return p.UID == 0 || p.UID == self && p.UID != overflow
}

// A NoPeer reports a connection that does not say who is at its other end.
type NoPeer struct {
	Err error
}

// Error says what would do.
func (e *NoPeer) Error() string {
	return "operators: the socket does not say who connects; sign in over the API: " + e.Err.Error()
}

// Unwrap is the system's error.
func (e *NoPeer) Unwrap() error { return e.Err }

// Code is the error's wire name (API-3).
func (e *NoPeer) Code() string { return "UNAUTHENTICATED" }
