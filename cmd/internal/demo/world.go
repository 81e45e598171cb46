package demo

import (
	"context"
	"io"
	"net"
	"net/netip"
	"time"
)

// A World is what a demo takes from its process.
type World struct {
	Out      io.Writer
	Terminal bool // Out is one, and may be coloured
	Now      func() time.Time
	Entropy  io.Reader // cryptographic, safe for concurrent use
	Listen   func(network, address string) (net.Listener, error)
	Dial     func(network, address string) (net.Conn, error)
	// DialFrom dials from an address of this host, and Packet opens a socket on one.
	DialFrom func(ctx context.Context, from netip.Addr, network, address string) (net.Conn, error)
	Packet   func(ctx context.Context, network, address string) (net.PacketConn, error)
}

// Options are what a demo is asked for.
type Options struct {
	Machines int    // 1 to MaxMachines
	JSON     bool   // the timeline as a JSON object a line
	Keep     string // folder to keep all of it in; "" is a temporary one that is removed
	Fault    Fault
}

// MaxMachines bounds the machines of one demo.
const MaxMachines = 1000

// The networks of a demo: pieces of loopback, on which a process may take any address.
// Machines and booter are in admin, and machines stand in relays as their own relays.
var (
	admin  = netip.MustParsePrefix("127.77.0.0/16")
	relays = netip.MustParsePrefix("127.78.0.0/16")
	booth  = netip.MustParseAddr("127.77.0.1")
	router = netip.MustParseAddr("127.77.255.254")
)
