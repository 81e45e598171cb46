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
	"path/filepath"
	"runtime/debug"
	"syscall"
	"time"

	"golang.org/x/term"

	"github.com/ingotmetal/ingot/cmd/internal/cli"
	"github.com/ingotmetal/ingot/cmd/internal/demo"
	"github.com/ingotmetal/ingot/cmd/internal/vmlab"
	"github.com/ingotmetal/ingot/cmd/internal/vmlab/panel"
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
	}
	w.Demo = func(ctx context.Context, d cli.Demo) error {
		return demo.Run(ctx, demoWorld(w.OutTerminal), demo.Options{Machines: d.Machines, JSON: d.JSON, Keep: d.Keep, Fault: demo.Fault(d.Fault)})
	}
	w.Lab, w.LabUp = runLab, upLab
	if fd := int(os.Stdin.Fd()); term.IsTerminal(fd) {
		w.Prompt = func(question string) ([]byte, error) { return prompt(fd, question) }
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "(devel)" {
		w.Version = info.Main.Version
	}
	return w
}

// runLab runs a lab in a network namespace of its own, which is one of this program.
func runLab(ctx context.Context, l cli.Lab) error {
	if !vmlab.Inside() {
		code, err := vmlab.Enter(ctx, os.Stdin, os.Stdout, os.Stderr)
		if err == nil && code != 0 {
			os.Exit(code) // it has said why
		}
		return long(err)
	}
	results, err := vmlab.Run(ctx, labOptions(l), l.Scenarios)
	if len(results) > 0 && !l.JSON {
		fmt.Printf("\n%s\nreport: %s\n", vmlab.Table(results), filepath.Join(l.Dir, "report.html"))
	}
	return long(err)
}

// long is an error of the lab, which has the lines of a console.
func long(err error) error {
	if err == nil {
		return nil
	}
	return &cli.Long{Err: err}
}

// upLab starts a lab that outlives this process, as a process of this program, in which
// it never returns.
func upLab(ctx context.Context, l cli.LabUp) (panel.Lab, error) {
	o, s := labOptions(l.Lab), vmlab.Stay{Machines: l.Machines, Way: vmlab.Boot(l.Way), For: l.For}
	if !vmlab.Inside() {
		up, err := vmlab.Detach(ctx, o, s, l.Begins)
		return up, long(err)
	}
	tell, err := vmlab.Ready()
	if err != nil {
		return panel.Lab{}, err
	}
	o.Made, o.JSON = true, false
	if err := vmlab.Up(ctx, o, s, func(up panel.Lab) { tell(panel.Started{Lab: &up}) }); err != nil {
		tell(panel.Started{Code: cli.CodeOf(err), Error: err.Error()})
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
	return panel.Lab{}, nil
}

func labOptions(l cli.Lab) vmlab.Options {
	return vmlab.Options{Dir: l.Dir, Bin: l.Bin, Kernel: l.Kernel, Images: filepath.Join(l.Dir, "images"), Firmware: vmlab.DebianFirmware(),
		Out: os.Stdout, JSON: l.JSON, Now: time.Now, Entropy: rand.Reader, Dial: net.Dial, Listen: net.Listen}
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
