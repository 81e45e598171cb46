//go:build !linux

package operators

import (
	"errors"
	"net"
)

// PeerOf returns who is at the other end of c. The error is [*NoPeer], always:
// only on Linux can it be told.
func PeerOf(*net.UnixConn) (Peer, error) {
	return Peer{}, &NoPeer{errors.ErrUnsupported}
}
