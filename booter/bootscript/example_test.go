package bootscript_test

import (
	"fmt"
	"net/netip"

	"github.com/ingotmetal/ingot/booter"
	"github.com/ingotmetal/ingot/booter/bootscript"
)

func ExampleSite_First() {
	us := netip.MustParseAddr("10.0.0.1")
	site := bootscript.Site{TFTP: us, HTTP: netip.AddrPortFrom(us, 8080), Loaders: map[booter.Platform]bool{booter.X64: true}}
	for _, stage := range []booter.Stage{booter.PXE, booter.HTTP, booter.IPXE} {
		first, _ := site.First(booter.Client{Stage: stage, Platform: booter.X64}, booter.Offer, "TOKEN")
		fmt.Println(stage, first.File)
	}
	// Output:
	// pxe b/TOKEN/efi-x64.efi
	// http http://10.0.0.1:8080/b/TOKEN/efi-x64.efi
	// ipxe http://10.0.0.1:8080/b/TOKEN/boot-efi-x64.ipxe
}
