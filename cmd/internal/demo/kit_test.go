package demo

import (
	"context"
	"log/slog"
	"net"
	"net/netip"
)

// discarded takes a timeline that nobody reads.
type discarded struct{}

func (discarded) Write(b []byte) (int, error) { return len(b), nil }

func discard() *slog.Logger { return slog.New(slog.DiscardHandler) }

func unix(path string) func(context.Context, string, string) (net.Conn, error) {
	return func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", path)
	}
}

func addrPort(s string) netip.AddrPort { return netip.MustParseAddrPort(s) }
