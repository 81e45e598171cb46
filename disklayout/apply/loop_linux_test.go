package apply_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ingotmetal/ingot/disklayout"
	"github.com/ingotmetal/ingot/disklayout/apply"
)

// A dressed loop device has the identity of a disk: it has no serial of its own.
type dressed struct{ apply.Block }

func (d dressed) Identity() (disklayout.Disk, error) { return dress(d.Block.Identity()) }

func (d dressed) Claim() (apply.Device, error) {
	dev, err := d.Block.Claim()
	if err != nil {
		return nil, err
	}
	return dressedDevice{dev}, nil
}

type dressedDevice struct{ apply.Device }

func (d dressedDevice) Identity() (disklayout.Disk, error) { return dress(d.Device.Identity()) }

func dress(d disklayout.Disk, err error) (disklayout.Disk, error) {
	d.Serial, d.Transport = "S1", "sata"
	return d, err
}

// loop makes a loop device of a sparse file, and frees it.
func loop(t *testing.T, size uint64, sector uint32) string {
	t.Helper()
	if os.Geteuid() != 0 {
		lacking(t, "a loop device takes root")
	}
	need(t, "losetup")
	f := sparse(t, described("S1", size, sector))
	out, err := exec.CommandContext(t.Context(), "losetup", "--find", "--show", "--sector-size", fmt.Sprint(sector), f.Path).CombinedOutput()
	if err != nil {
		lacking(t, fmt.Sprintf("no loop device (%v: %s): run as root where there are some", err, out))
	}
	device := strings.TrimSpace(string(out))
	t.Cleanup(func() {
		if out, err := exec.Command("losetup", "--detach", device).CombinedOutput(); err != nil {
			t.Errorf("losetup: %v: %s", err, out)
		}
	})
	return device
}

// TestBlockDevices installs on loop devices of both sector sizes.
func TestBlockDevices(t *testing.T) {
	for _, c := range []struct {
		size   uint64
		sector uint32
	}{{2 * gib, 512}, {2 * gib, 4096}, {5 << 40, 4096}} {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			device := loop(t, c.size, c.sector)
			s := dressed{apply.Block{Name: filepath.Base(device), Sys: os.DirFS("/sys")}}
			_, req := sized(c.size, c.sector)
			image, name := content(3*mib + 17)
			req.Image = name
			o := announced(t, s, req)
			r, err := install(t, o, image, s)
			if err != nil {
				t.Fatal(err)
			}
			if len(r.Disk.Partitions) != 3 || r.Image != uint64(len(image)) {
				t.Errorf("%+v", r)
			}
			judge(t, device, &o.Plan)
			held, err := s.Claim()
			if err != nil {
				t.Fatal(err)
			}
			defer held.Close()
			_, err = install(t, o, image, s)
			refusedAs(t, err, apply.Busy)
		})
	}
}

// TestAnotherDeviceUnderTheName is a sysfs that speaks of another device than the
// node leads to.
func TestAnotherDeviceUnderTheName(t *testing.T) {
	device := loop(t, 64*mib, 512)
	sys := sysfs(map[string]map[string]string{filepath.Base(device): files("virtual", map[string]string{"dev": "8:77\n"})})
	dev, err := apply.Block{Name: filepath.Base(device), Sys: sys}.Claim()
	if err == nil {
		dev.Close()
	}
	refusedAs(t, err, apply.Busy)
}
