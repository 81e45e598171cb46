// Command ingotd is the control plane of a site: it keeps what is known of every
// machine, and decides what becomes of it.
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

	"github.com/coreos/go-systemd/v22/activation"

	"github.com/ingotmetal/ingot/bmc/redfish"
	"github.com/ingotmetal/ingot/bmc/wire"
	"github.com/ingotmetal/ingot/cmd/daemon"
	"github.com/ingotmetal/ingot/cmd/internal/admin"
	"github.com/ingotmetal/ingot/cmd/internal/program"
)

// keep is how long a connection to a BMC stays open: over the next poll, since a
// handshake costs a BMC more than a connection that waits.
const keep = 2 * time.Minute

// drivers are all that this program has.
func drivers(dial daemon.Dialer) []daemon.Driver {
	return []daemon.Driver{redfish.Driver{Wire: wire.Options{Dial: dial, Idle: keep}}}
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	cmd := admin.Command(admin.World{
		Outside: daemon.Outside{Now: time.Now, Entropy: rand.Reader, Listen: net.Listen, Dial: net.Dial, Inherited: activation.Listeners,
			DialBMC: new(net.Dialer).DialContext, Drivers: drivers},
		In: os.Stdin, Out: os.Stdout, Err: os.Stderr,
	})
	if err := cmd.ExecuteContext(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "ingotd:", err)
		os.Exit(program.ExitCode(err))
	}
}
