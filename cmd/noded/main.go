// Command noded is the node agent: it tells a booter what its machine is, writes what
// was approved, and shows the machine's key to the control plane.
package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/ingotmetal/ingot/cmd/api"
	"github.com/ingotmetal/ingot/cmd/internal/agent"
	"github.com/ingotmetal/ingot/cmd/internal/agent/command"
	"github.com/ingotmetal/ingot/cmd/internal/agent/host"
	"github.com/ingotmetal/ingot/cmd/internal/program"
)

func main() {
	w := command.World{
		Out: os.Stdout, Err: os.Stderr, Now: time.Now, Entropy: rand.Reader,
		Dial: (&net.Dialer{Timeout: 15 * time.Second}).DialContext, Proc: os.DirFS("/proc"),
		Machine: func(log *slog.Logger) agent.Machine {
			return host.Host{Sys: os.DirFS("/sys"), Proc: os.DirFS("/proc"), Dev: "/dev", Now: time.Now, Log: log}
		},
		SetRoot: func(ctx context.Context, state string, hash api.Secret, log *slog.Logger) error {
			return host.Root{Shadow: "/etc/shadow", Lock: "/etc/.pwd.lock", Note: filepath.Join(state, "root-password"), Now: time.Now, Log: log}.Set(ctx, hash)
		},
	}
	if os.Getpid() == 1 {
		first(w)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := command.Command(w).ExecuteContext(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "noded:", err)
		os.Exit(program.ExitCode(err))
	}
}

// first is the life of a machine's first process, which never ends: no signal that
// somebody sends may end it, since the kernel would panic.
func first(w command.World) {
	signal.Ignore(syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGPIPE, syscall.SIGTERM)
	err := host.Mount()
	if _, none := os.Stderr.Stat(); none != nil { // the kernel found no console in the image
		if console, err := os.OpenFile("/dev/console", os.O_WRONLY, 0); err == nil {
			w.Out, w.Err = console, console
		}
	}
	w.Network = func(ctx context.Context, c agent.Config, log *slog.Logger) error {
		return host.Network{Links: host.Links, Do: host.Set, Now: time.Now, Log: log}.Configure(ctx, c)
	}
	log := slog.New(slog.NewTextHandler(w.Err, nil))
	if err != nil {
		log.Error("a filesystem is missing", "error", err)
	}
	_ = host.LoadModules(os.DirFS("/"), host.Insert, log) // it logs what fails; what needs it fails by itself
	var reaper sync.WaitGroup
	reaper.Go(func() { host.Reap(context.Background(), log) })
	command.First(context.Background(), w)
	reaper.Wait()
}
