// Command ingot is the command line of the control plane.
package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"net"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"
	"time"

	"golang.org/x/term"

	"github.com/ingotmetal/ingot/cmd/internal/cli"
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
	if fd := int(os.Stdin.Fd()); term.IsTerminal(fd) {
		w.Prompt = func(question string) ([]byte, error) { return prompt(fd, question) }
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "(devel)" {
		w.Version = info.Main.Version
	}
	return w
}

// prompt asks on the terminal, without echo.
func prompt(fd int, question string) ([]byte, error) {
	fmt.Fprint(os.Stderr, question)
	defer fmt.Fprintln(os.Stderr)
	return term.ReadPassword(fd)
}
