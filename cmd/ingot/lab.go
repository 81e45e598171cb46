package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"time"

	"github.com/ingotmetal/ingot/cmd/internal/cli"
	"github.com/ingotmetal/ingot/cmd/internal/vmlab"
)

// enter has a lab in a network namespace of its own, which is one of this program: run
// is called there.
func enter(ctx context.Context, run func() error) error {
	if vmlab.Inside() {
		return run()
	}
	code, err := vmlab.Enter(ctx, os.Stdin, os.Stdout, os.Stderr)
	if err == nil && code != 0 {
		os.Exit(code) // it has said why
	}
	return err
}

// labOptions are a lab's in this process.
func labOptions(l cli.Lab) vmlab.Options {
	return vmlab.Options{Dir: l.Dir, Bin: l.Bin, Kernel: l.Kernel, Images: filepath.Join(l.Dir, "images"), Firmware: vmlab.DebianFirmware(),
		Out: os.Stdout, JSON: l.JSON, Now: time.Now, Entropy: rand.Reader, Dial: net.Dial}
}

// runLab lives scenarios.
func runLab(ctx context.Context, l cli.Lab) error {
	return enter(ctx, func() error {
		results, err := vmlab.Run(ctx, labOptions(l), l.Scenarios)
		if len(results) > 0 && !l.JSON {
			fmt.Printf("\n%s\nreport: %s\n", vmlab.Table(results), filepath.Join(l.Dir, "report.html"))
		}
		return err
	})
}

// runCuts cuts the power of setups.
func runCuts(ctx context.Context, c cli.Cuts) error {
	return enter(ctx, func() error {
		endings, err := vmlab.Cuts(ctx, labOptions(c.Lab), c.Dir, vmlab.Boot(c.Way), c.First, c.Seeds)
		if len(endings) > 0 && !c.JSON {
			fmt.Printf("\n%s", vmlab.EndingTable(endings))
		}
		return err
	})
}
