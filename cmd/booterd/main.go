// Command booterd is a boot service of a site: it answers the machines of an admin
// network by DHCP, TFTP and HTTP, and stands between their agents and the control
// plane.
package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"net"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/ingotmetal/ingot/cmd/daemon"
	"github.com/ingotmetal/ingot/cmd/internal/booteradmin"
	"github.com/ingotmetal/ingot/cmd/internal/program"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	packet := func(ctx context.Context, network, address string) (net.PacketConn, error) {
		return (&net.ListenConfig{}).ListenPacket(ctx, network, address)
	}
	cmd := booteradmin.Command(booteradmin.World{
		Outside: daemon.Outside{Now: time.Now, Entropy: rand.Reader, Listen: net.Listen, Dial: net.Dial, Packet: packet, DialBMC: new(net.Dialer).DialContext, Lookup: net.DefaultResolver.LookupNetIP},
		Links:   daemon.Links, Addresses: net.InterfaceAddrs, System: daemon.Systemd,
		Out: os.Stdout, Err: os.Stderr,
	})
	if err := cmd.ExecuteContext(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "booterd:", err)
		os.Exit(program.ExitCode(err))
	}
}
