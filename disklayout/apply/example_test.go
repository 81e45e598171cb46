package apply_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/ingotmetal/ingot/disklayout"
	"github.com/ingotmetal/ingot/disklayout/apply"
)

// A sparse file plays a disk: it is announced, planned and installed.
func ExampleInstall() {
	dir, err := os.MkdirTemp("", "disk")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "sda")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		fmt.Println(err)
		return
	}
	if err := os.Truncate(path, 2<<30); err != nil {
		fmt.Println(err)
		return
	}
	source := apply.File{Path: path, Disk: disklayout.Disk{Name: "sda", Serial: "S1", LogicalSector: 512, PhysicalSector: 512, Transport: "sata"}}

	disks, missed := apply.Inventory([]apply.Source{source})
	if len(missed) > 0 {
		fmt.Println(missed)
		return
	}
	stamp := disklayout.Stamp{Server: disklayout.UUID{0x4c, 1}}
	plan, err := disklayout.Realize(disklayout.Request{Layout: disklayout.GPT, Disks: []disklayout.Selector{{Serial: "S1"}}, Root: disklayout.GiB}, disks, stamp)
	if err != nil {
		fmt.Println(err)
		return
	}
	stamp.Epoch = 7 // the attempt that the approval began
	result, err := apply.Install(context.Background(), apply.Order{Plan: plan, Stamp: stamp, Approved: plan.Digest}, []apply.Source{source}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, p := range result.Disk.Partitions {
		fmt.Println(p.Number, p.Label, p.Start>>20, "MiB, size", p.Size>>20)
	}
	// Output:
	// 1 esp 1 MiB, size 512
	// 2 root 513 MiB, size 1024
	// 3 data 1537 MiB, size 510
}
