//go:build !linux

package tftp

import (
	"errors"
	"net"
)

func askLocal(*net.UDPConn) error { return errors.ErrUnsupported }

func pktinfoDoor(*net.UDPConn) door { return door{} } // never reached
