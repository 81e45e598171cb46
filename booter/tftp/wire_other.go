//go:build !linux

package tftp

import (
	"errors"
	"net"
	"net/netip"
)

// writeSegments is Linux's alone.
func writeSegments(*net.UDPConn, []byte, int, netip.AddrPort) error { return errors.ErrUnsupported }
