package vmlab

import (
	"bytes"
	"context"
	"errors"
	"os"

	"github.com/ingotmetal/ingot/disklayout"
	"github.com/ingotmetal/ingot/disklayout/apply"
)

// What is on a medium, in bytes: the firmware starts what is on its ESP.
const (
	mediumSize = 64 * disklayout.MiB
	mediumESP  = 48 * disklayout.MiB
	mediumRoot = disklayout.MiB
)

// startable makes a disk in a new file, from which UEFI starts a program.
func startable(ctx context.Context, path string, program []byte) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	if err := errors.Join(f.Truncate(mediumSize), f.Close()); err != nil {
		return err
	}
	disk := apply.File{Path: path, Disk: disklayout.Disk{Name: "sda", Serial: "MEDIUM", Size: mediumSize, LogicalSector: 512, PhysicalSector: 512, Transport: "sata"}}
	disks, missed := apply.Inventory([]apply.Source{disk})
	if len(missed) > 0 {
		return missed[0]
	}
	stamp := disklayout.Stamp{Server: disklayout.UUID{0: 0x1a, 1: 0xb0, 15: 1}}
	plan, err := disklayout.Realize(disklayout.Request{Layout: disklayout.GPT, Disks: []disklayout.Selector{{Serial: "MEDIUM"}},
		ESP: mediumESP, Root: mediumRoot, Boot: digest(program)}, disks, stamp)
	if err != nil {
		return err
	}
	stamp.Epoch = 1
	o := apply.Order{Plan: plan, Stamp: stamp, Approved: plan.Digest, Boot: bytes.NewReader(program), BootSize: uint64(len(program))}
	_, err = apply.Install(ctx, o, []apply.Source{disk}, nil)
	return err
}
