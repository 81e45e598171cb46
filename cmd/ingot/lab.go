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
	"github.com/ingotmetal/ingot/cmd/internal/vmlab/panel"
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
	return long(err)
}

// long is an error of the lab, which has the lines of a console.
func long(err error) error {
	if err == nil {
		return nil
	}
	return &cli.Long{Err: err}
}

// labOptions are a lab's in this process.
func labOptions(l cli.Lab) vmlab.Options {
	return vmlab.Options{Dir: l.Dir, Bin: l.Bin, Kernel: l.Kernel, Images: filepath.Join(l.Dir, "images"), Firmware: vmlab.DebianFirmware(),
		Out: os.Stdout, JSON: l.JSON, Now: time.Now, Entropy: rand.Reader, Dial: net.Dial, Listen: net.Listen}
}

// runLab lives scenarios.
func runLab(ctx context.Context, l cli.Lab) error {
	return enter(ctx, func() error {
		results, err := vmlab.Run(ctx, labOptions(l), l.Scenarios)
		if len(results) > 0 && !l.JSON {
			fmt.Printf("\n%s", vmlab.Table(results))
			if report := filepath.Join(l.Dir, panel.Report); there(report) {
				fmt.Printf("\nreport: %s\n", report)
			}
		}
		return long(err)
	})
}

func there(path string) bool { _, err := os.Stat(path); return err == nil }

// runCuts cuts the power of setups.
func runCuts(ctx context.Context, c cli.Cuts) error {
	return enter(ctx, func() error {
		endings, err := vmlab.Cuts(ctx, labOptions(c.Lab), c.Dir, vmlab.Boot(c.Way), c.First, c.Seeds)
		if len(endings) > 0 && !c.JSON {
			fmt.Printf("\n%s", vmlab.EndingTable(endings))
		}
		return long(err)
	})
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
