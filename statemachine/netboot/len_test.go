package netboot_test

import (
	"testing"

	"github.com/ingotmetal/ingot/statemachine/netboot"
)

// Len tells a list that was read from one that was not.
func TestAllowListLen(t *testing.T) {
	l, err := netboot.ParseAllow([]string{"52:54:00", "ABC123", "abc123"})
	if err != nil || l.Len() != 3 || (netboot.AllowList{}).Len() != 0 {
		t.Errorf("%d entries, %v", l.Len(), err)
	}
}
