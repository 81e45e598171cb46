package operators

import (
	"errors"
	"net"

	"golang.org/x/sys/unix"
)

// PeerOf returns who is at the other end of c, by SO_PEERCRED (unix(7)). The
// error is [*NoPeer].
func PeerOf(c *net.UnixConn) (Peer, error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return Peer{}, &NoPeer{err}
	}
	var cred *unix.Ucred
	var credErr error
	err = raw.Control(func(fd uintptr) {
		cred, credErr = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
	})
	if err := errors.Join(err, credErr); err != nil {
		return Peer{}, &NoPeer{err}
	}
	if cred.Pid == 0 && cred.Uid == ^uint32(0) { // a socket that never connected
		return Peer{}, &NoPeer{errors.New("it has no peer")}
	}
	return Peer{UID: cred.Uid, GID: cred.Gid, PID: cred.Pid}, nil
}
