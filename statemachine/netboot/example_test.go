package netboot_test

import (
	"fmt"
	"net/netip"

	"github.com/ingotmetal/ingot/statemachine/netboot"
)

// A machine is seen, admitted with an address, and stamped when its setup
// completes.
func ExampleStep() {
	mac, _ := netboot.ParseMAC("52-54-00-12-34-56")
	rec := netboot.New(mac)
	for _, e := range []netboot.Event{
		{On: netboot.Sight},
		{On: netboot.Admit, Facts: netboot.Admitted, Address: netip.MustParseAddr("10.0.0.10")},
		{On: netboot.Complete, By: netboot.Owner{Node: "node_a"}, Image: "20260501T000000Z"},
	} {
		rec, _ = netboot.Step(rec, e)
		fmt.Printf("%s %s %q\n", rec.MAC, rec.State, rec.Image)
	}
	_, err := netboot.Step(rec, netboot.Event{On: netboot.Purge})
	fmt.Println(err)
	// Output:
	// 52:54:00:12:34:56 discovered ""
	// 52:54:00:12:34:56 enrolling ""
	// 52:54:00:12:34:56 enrolled "20260501T000000Z"
	// netboot: purge is refused in enrolled: decommission it first (EDGE-17); legal: sight, admit, complete, reset, decommission, withdraw, set-mode, set-entry, end-entry, dismiss, bind
}

// An allow-list names service tags and canonical MAC prefixes.
func ExampleParseAllow() {
	list, _ := netboot.ParseAllow([]string{"ABC1234", "52:54:00"})
	mac, _ := netboot.ParseMAC("52:54:00:12:34:56")
	other, _ := netboot.ParseMAC("00:16:3e:00:00:01")
	fmt.Println(list.Admits(mac, ""), list.Admits(other, ""), list.Admits(other, "abc1234"))

	_, err := netboot.ParseAllow([]string{"52-54-00"})
	fmt.Println(err)
	// Output:
	// true false true
	// MAC prefix "52-54-00": want 1 to 6 whole octets, lower case, with colons, such as 52:54:00
}
