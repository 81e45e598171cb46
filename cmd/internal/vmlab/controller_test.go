package vmlab

import (
	"strings"
	"testing"

	"github.com/ingotmetal/ingot/bmc/bmcsim"
)

// What a BMC says at power on is the order that QEMU gets.
func TestStartsFollowTheController(t *testing.T) {
	medium := []bmcsim.Medium{{Slot: "empty"}, {Slot: "CD", File: "cd.img"}}
	s := Spec{Name: "m1", MAC: "52:54:00:1a:b0:01", Boot: PXE, Local: true, Drives: []Drive{{"disk", "A1", NVMe}}}
	for _, tt := range []struct {
		start bmcsim.Start
		want  []string // in the arguments
		not   string
	}{
		{bmcsim.Start{}, []string{"netdev=n0,bootindex=100", "serial=A1,bootindex=1"}, "id=medium"},
		{bmcsim.Start{Target: "Pxe"}, []string{"netdev=n0,bootindex=0"}, "id=medium"},
		{bmcsim.Start{Target: "Pxe", Media: medium}, []string{"netdev=n0,bootindex=0", "file=cd.img", "drive=medium,serial=MEDIUM,bootindex=101"}, "bootindex=100"},
		{bmcsim.Start{Target: "Cd", Media: medium}, []string{"netdev=n0,bootindex=100", "drive=medium,serial=MEDIUM,bootindex=0", "readonly=on,id=medium"}, "bootindex=101"},
		{bmcsim.Start{Target: "Cd"}, []string{"netdev=n0,bootindex=100"}, "id=medium"},
		{bmcsim.Start{Target: "Hdd"}, []string{"netdev=n0,bootindex=100", "serial=A1,bootindex=1"}, "id=medium"},
		{bmcsim.Start{Target: "BiosSetup"}, []string{"netdev=n0,bootindex=100"}, "id=medium"},
	} {
		line := strings.Join(s.args(Firmware{}, "dir", startOf(tt.start)), " ")
		for _, w := range tt.want {
			if !strings.Contains(line, w) {
				t.Errorf("%+v: no %q in %s", tt.start, w, line)
			}
		}
		if strings.Contains(line, tt.not) {
			t.Errorf("%+v: %q in %s", tt.start, tt.not, line)
		}
	}
}
