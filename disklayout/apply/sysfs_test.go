package apply_test

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"testing"
	"testing/fstest"

	"github.com/ingotmetal/ingot/disklayout"
	"github.com/ingotmetal/ingot/disklayout/apply"
)

// sysfs is a folder like /sys: of each device where its link leads, and what its
// files hold.
func sysfs(devices map[string]map[string]string) fstest.MapFS {
	out := fstest.MapFS{}
	for name, files := range devices {
		out[path.Join("block", name)] = &fstest.MapFile{Data: []byte("../devices/" + files["link"] + "/block/" + name), Mode: fs.ModeSymlink | 0o777}
		for file, text := range files {
			if file != "link" {
				out[path.Join("devices", files["link"], "block", name, file)] = &fstest.MapFile{Data: []byte(text)}
			}
		}
	}
	return out
}

func files(link string, more map[string]string) map[string]string {
	out := map[string]string{"link": link, "size": "131072\n", "removable": "0\n", "ro": "0\n", "dev": "8:0\n",
		"queue/logical_block_size": "512\n", "queue/physical_block_size": "4096\n", "queue/rotational": "0\n"}
	for k, v := range more {
		out[k] = v
	}
	return out
}

func machine() fstest.MapFS {
	return sysfs(map[string]map[string]string{
		"sda": files("pci0000:00/0000:00:17.0/ata1/host0/target0:0:0/0:0:0:0", map[string]string{"device/model": "INTEL SSDSC2KB24\n",
			"device/vpd_pg80": "\x00\x80\x00\x08PHYF0001 and not this", "device/wwid": "naa.5000c500a1b2c3d4\n"}),
		"sdb": files("pci0000:00/usb2/2-1/2-1:1.0/host6/target6:0:0/6:0:0:0", map[string]string{"device/model": "Ultra Fit", "removable": "1\n"}),
		"sdc": files("pci0000:00/0000:00:01.0/host1/port-1:0/end_device-1:0/target1:0:0/1:0:0:0",
			map[string]string{"device/serial": " Z1 \n", "device/wwid": "t10.ATA     SOMETHING\n", "queue/rotational": "1\n"}),
		"nvme0n1":   files("pci0000:00/0000:01:00.0/nvme/nvme0", map[string]string{"device/serial": "S4EVNX0R\n", "device/model": "SAMSUNG\n", "wwid": "eui.0025385b71b0a1c2\n"}),
		"nvme0c0n1": files("pci0000:00/0000:01:00.0/nvme/nvme0", map[string]string{"hidden": "1\n"}),
		"vda":       files("pci0000:00/0000:00:04.0/virtio1", map[string]string{"serial": "V1\n", "size": "12\n"}),
		"loop0":     files("virtual", nil),
		"sdx":       {"link": "pci0000:00/odd", "size": "many\n"},
		"sdz":       files("pci0000:00/unknown", map[string]string{"removable": "", "ro": ""}),
	})
}

// A disk behind usb-storage has the serial of the USB device that it is in, and not of
// the hub before it.
func TestSerialOnUSB(t *testing.T) {
	const hub = "devices/pci0000:00/0000:00:14.0/usb2/2-1"
	sys := sysfs(map[string]map[string]string{
		"sda": files("pci0000:00/0000:00:14.0/usb2/2-1/2-1.4/2-1.4:1.0/host6/target6:0:0/6:0:0:0", nil),
		"sdb": files("pci0000:00/0000:00:14.0/usb2/2-1/2-1.3/2-1.3:1.0/host7/target7:0:0/7:0:0:0", map[string]string{"device/vpd_pg80": "\x00\x80\x00\x02D1"}),
		"sdc": files("pci0000:00/0000:00:14.0/usb2/2-1/2-1.2/2-1.2:1.0/host8/target8:0:0/8:0:0:0", nil),
	})
	for dir, serial := range map[string]string{hub: "HUB", hub + "/2-1.4": " S1\n", hub + "/2-1.3": "USB3"} {
		sys[dir+"/serial"] = &fstest.MapFile{Data: []byte(serial)}
	}
	sources, err := apply.Blocks(sys, "")
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"S1", "D1", ""} {
		if d, err := sources[i].Identity(); err != nil || d.Serial != want || d.Transport != "usb" {
			t.Errorf("%+v, %v, want serial %q", d, err, want)
		}
	}
}

func TestSysfsSaysWhatADiskIs(t *testing.T) {
	sources, err := apply.Blocks(machine(), "")
	if err != nil {
		t.Fatal(err)
	}
	yes := true
	base := disklayout.Disk{Size: 64 * mib, LogicalSector: 512, PhysicalSector: 4096, Rotational: &no}
	with := func(change func(d *disklayout.Disk)) disklayout.Disk {
		d := base
		change(&d)
		return d
	}
	want := []disklayout.Disk{
		with(func(d *disklayout.Disk) {
			d.Name, d.Serial, d.Model, d.WWN, d.Transport = "nvme0n1", "S4EVNX0R", "SAMSUNG", "eui.0025385b71b0a1c2", "nvme"
		}),
		with(func(d *disklayout.Disk) {
			d.Name, d.Serial, d.Model, d.WWN, d.Transport = "sda", "PHYF0001", "INTEL SSDSC2KB24", "naa.5000c500a1b2c3d4", "sata"
		}),
		with(func(d *disklayout.Disk) { d.Name, d.Model, d.Transport, d.Removable = "sdb", "Ultra Fit", "usb", true }),
		with(func(d *disklayout.Disk) { d.Name, d.Serial, d.Transport, d.Rotational = "sdc", "Z1", "sas", &yes }),
		{Name: "sdx", Removable: true, ReadOnly: true},
		with(func(d *disklayout.Disk) { d.Name, d.Removable, d.ReadOnly = "sdz", true, true }),
		with(func(d *disklayout.Disk) { d.Name, d.Serial, d.Transport, d.Size = "vda", "V1", "virtio", 12*512 }),
	}
	if len(sources) != len(want) {
		t.Fatalf("%d disks, want %d", len(sources), len(want))
	}
	for i, s := range sources {
		got, err := s.Identity()
		if (err != nil) != (got.Name == "sdx") || !reflect.DeepEqual(got, want[i]) {
			t.Errorf("got %+v, %v, want %+v", got, err, want[i])
		}
	}
}

// TestANodeThatIsNoDeviceIsNotLookedAt has a file where a device node should
// be: the announced disk was not looked at.
func TestANodeThatIsNoDeviceIsNotLookedAt(t *testing.T) {
	dev := t.TempDir()
	if err := os.WriteFile(filepath.Join(dev, "sda"), make([]byte, 1<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	sources, err := apply.Blocks(machine(), dev)
	if err != nil {
		t.Fatal(err)
	}
	disks, missed := apply.Inventory(sources)
	if len(disks) != 7 || len(missed) != 7 {
		t.Fatalf("%d disks, %v", len(disks), missed)
	}
	for i, d := range disks {
		if d.Signatures != nil || missed[i].Reason != apply.NotLooked && d.Name != "sdx" {
			t.Errorf("%+v counts as looked at: %v", d, missed[i])
		}
	}
	for _, s := range sources {
		if dev, err := s.Claim(); err == nil {
			dev.Close()
			t.Error("a file is claimed as a block device")
		}
	}
}

func TestInventoryOfFiles(t *testing.T) {
	f := small("S1", 512)
	f.plant(0, "XFSB")
	disks, missed := apply.Inventory([]apply.Source{f, apply.File{Path: filepath.Join(t.TempDir(), "none")}})
	if len(disks) != 2 || len(disks[0].Signatures) != 1 || disks[0].Signatures[0].Type != "xfs" || disks[1].Signatures != nil || len(missed) != 1 {
		t.Errorf("%+v, %v", disks, missed)
	}
}
