// Command ingot is the command line of the control plane.
package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"
	"time"

	"golang.org/x/term"

	"github.com/ingotmetal/ingot/cmd/internal/cli"
	"github.com/ingotmetal/ingot/cmd/internal/demo"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := cli.Run(ctx, world(), os.Args[1:])
	stop()
	os.Exit(code)
}

// world is this process's.
func world() cli.World {
	w := cli.World{
		In: os.Stdin, Out: os.Stdout, Err: os.Stderr,
		OutTerminal: term.IsTerminal(int(os.Stdout.Fd())),
		ErrTerminal: term.IsTerminal(int(os.Stderr.Fd())),
		Env:         os.Getenv,
		Now:         time.Now,
		Entropy:     rand.Reader,
		Dial:        (&net.Dialer{Timeout: 10 * time.Second}).DialContext,
		Listen:      (&net.ListenConfig{}).Listen,
	}
	w.Demo = func(ctx context.Context, d cli.Demo) error {
		return demo.Run(ctx, demoWorld(w.OutTerminal), demo.Options{Machines: d.Machines, JSON: d.JSON, Keep: d.Keep, Fault: demo.Fault(d.Fault)})
	}
	w.Lab, w.Cuts, w.LabUp = runLab, runCuts, upLab
	if fd := int(os.Stdin.Fd()); term.IsTerminal(fd) {
		w.Prompt = func(question string) ([]byte, error) { return prompt(fd, question) }
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "(devel)" {
		w.Version = info.Main.Version
	}
	return w
}

// demoWorld is this process's for a demo.
func demoWorld(terminal bool) demo.World {
	return demo.World{Out: os.Stdout, Terminal: terminal && os.Getenv("NO_COLOR") == "", Now: time.Now, Entropy: rand.Reader, Listen: net.Listen, Dial: net.Dial,
		DialFrom: func(ctx context.Context, from netip.Addr, network, address string) (net.Conn, error) {
			return (&net.Dialer{LocalAddr: &net.TCPAddr{IP: from.AsSlice()}, Timeout: 10 * time.Second}).DialContext(ctx, network, address)
		},
		Packet: func(ctx context.Context, network, address string) (net.PacketConn, error) {
			return (&net.ListenConfig{}).ListenPacket(ctx, network, address)
		}}
}

// prompt asks on the terminal, without echo.
func prompt(fd int, question string) ([]byte, error) {
	fmt.Fprint(os.Stderr, question)
	defer fmt.Fprintln(os.Stderr)
	return term.ReadPassword(fd)
}
