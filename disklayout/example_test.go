package disklayout_test

import (
	"errors"
	"fmt"

	"github.com/ingotmetal/ingot/disklayout"
)

// What a machine announced, as far as disks go.
const sysinfo = `{
  "uuid": "4c4c4544-0042-3510-8054-b7c04f4c4231",
  "disks": [
    {"name": "nvme0n1", "serial": "S64GNE0R", "model": "SAMSUNG MZQL2", "size": 1920383410176,
     "logical_sector": 512, "physical_sector": 4096, "rotational": false, "removable": false,
     "transport": "nvme", "read_only": false, "signatures": []},
    {"name": "sda", "serial": "ZC1", "model": "ST4000NM", "size": 4000787030016,
     "logical_sector": 512, "physical_sector": 4096, "rotational": true, "removable": false,
     "transport": "sata", "read_only": false,
     "signatures": [{"type": "zfs_member", "offset": 262144, "label": "tank", "uuid": "9187"}]},
    {"name": "sdb", "model": "Virtual CD", "size": 0, "removable": true, "transport": "usb"}
  ]
}`

// An operator asks for the one NVMe disk, sees the plan and approves its digest.
func ExampleRealize() {
	disks, err := disklayout.ParseDisks([]byte(sysinfo))
	if err != nil {
		fmt.Println(err)
		return
	}
	var server disklayout.UUID
	if err := server.UnmarshalText([]byte("4c4c4544-0042-3510-8054-b7c04f4c4231")); err != nil {
		fmt.Println(err)
		return
	}
	req := disklayout.Request{Layout: disklayout.GPT, Disks: []disklayout.Selector{{Transport: "nvme"}}}
	plan, err := disklayout.Realize(req, disks, disklayout.Stamp{Server: server})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(plan.Render())
	// Output:
	// plan    095464e87f3e059a5b13c8e8ed26b9018ed350b6655a721dbe0aa2d28a394538
	// layout  gpt
	// server  4c4c4544-0042-3510-8054-b7c04f4c4231
	//
	// WRITTEN
	//   SERIAL    NAME     MODEL          SIZE     SECTORS   TRANSPORT
	//   S64GNE0R  nvme0n1  SAMSUNG MZQL2  1.7 TiB  512/4096  nvme
	//
	// GPT, sectors of 512 bytes
	//   #  NAME  SIZE     FIRST LBA  LAST LBA    UUID
	//   1  esp   512 MiB  2048       1050623     1c33741a-bf01-8c3f-acbe-bdfccb48fce0
	//   2  root  32 GiB   1050624    68159487    7a26d91f-ad7d-8380-b1c6-f1f8db80f723
	//   3  data  1.7 TiB  68159488   3750748159  52135e07-9308-80fd-987b-0a2978d0e090
	//
	// DIES
	//   nothing was found on the disks that are written
	//
	// UNUSED
	//   SERIAL  NAME  MODEL       SIZE     WHY           HOLDS
	//   -       sdb   Virtual CD  0 B      no_medium     -
	//   ZC1     sda   ST4000NM    3.6 TiB  not_selected  zfs_member tank
}

// A pool that nobody imported is not an empty disk.
func ExampleRefused() {
	disks, _ := disklayout.ParseDisks([]byte(sysinfo))
	req := disklayout.Request{Layout: disklayout.Single, Disks: []disklayout.Selector{{Serial: "ZC1"}}}
	_, err := disklayout.Realize(req, disks, disklayout.Stamp{Server: disklayout.UUID{1}})
	if e, ok := errors.AsType[*disklayout.Refused](err); ok {
		fmt.Println(e.Reason, e.Disk, e.Req, e.Code())
		fmt.Println(e.Next)
	}
	// Output:
	// pool_member ZC1 DISK-4 CONFLICT
	// import the pool and see whose it is; a pool that is not imported is not an empty disk; else choose another disk, or override with {"serial":"ZC1","type":"zfs_member","uuid":"9187"}
}
