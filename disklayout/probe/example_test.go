package probe_test

import (
	"fmt"

	"github.com/ingotmetal/ingot/disklayout/probe"
	"github.com/ingotmetal/ingot/disklayout/probe/probetest"
)

// A disk of 64 MiB has been a member of a volume group.
func ExampleLook() {
	d := probetest.NewDisk(64 << 20)
	d.Plant(0x218, "LVM2 001")
	found, err := probe.Look(d, d.Size, 512)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, s := range found.Signatures {
		fmt.Println(s.Type, "at byte", s.Offset)
	}
	// Output: LVM2_member at byte 536
}
