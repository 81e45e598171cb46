package apply

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/ingotmetal/ingot/disklayout"
)

// described reads what sysfs, mounted as sys, says of the block device name.
// What it does not say stays unknown, and unknown counts against a disk.
func described(sys fs.FS, name string) (disklayout.Disk, error) {
	dir := path.Join("block", name)
	d := disklayout.Disk{Name: name, Removable: true, ReadOnly: true}
	size, err := number(sys, dir, "size")
	if err != nil {
		return d, err
	}
	logical, err := number(sys, dir, "queue/logical_block_size")
	if err != nil {
		return d, err
	}
	physical, err := number(sys, dir, "queue/physical_block_size")
	if err != nil {
		return d, err
	}
	if size > disklayout.MaxSize/512 || logical > disklayout.MiB || physical > disklayout.MiB {
		return d, fmt.Errorf("%s has %d sectors, of %d and %d bytes", name, size, logical, physical)
	}
	d.Size, d.LogicalSector, d.PhysicalSector = size*512, uint32(logical), uint32(physical)
	if n, err := number(sys, dir, "removable"); err == nil {
		d.Removable = n != 0
	}
	if n, err := number(sys, dir, "ro"); err == nil {
		d.ReadOnly = n != 0
	}
	if n, err := number(sys, dir, "queue/rotational"); err == nil {
		turns := n != 0
		d.Rotational = &turns
	}
	d.Model, d.Serial, d.WWN = attribute(sys, dir, "device/model"), serial(sys, dir), wwn(sys, dir)
	d.Transport, err = transport(sys, dir)
	return d, err
}

// number reads an attribute that is a whole number.
func number(sys fs.FS, dir, file string) (uint64, error) {
	raw, err := fs.ReadFile(sys, path.Join(dir, file))
	if err != nil {
		return 0, err
	}
	return strconv.ParseUint(strings.TrimSpace(string(raw)), 10, 64)
}

// attribute reads a text, or "" where there is none.
func attribute(sys fs.FS, dir, file string) string {
	raw, err := fs.ReadFile(sys, path.Join(dir, file))
	if err != nil {
		return ""
	}
	return strings.Trim(string(raw), " \t\r\n\x00")
}

// serial is that of NVMe and some SCSI (device/serial), of virtio (serial), of the
// vital product data page 80h of SCSI: type, page, two bytes of length, and the serial
// (SPC-4, 7.8.17), or that of the USB device.
func serial(sys fs.FS, dir string) string {
	for _, file := range []string{"device/serial", "serial"} {
		if s := attribute(sys, dir, file); s != "" {
			return s
		}
	}
	raw, err := fs.ReadFile(sys, path.Join(dir, "device/vpd_pg80"))
	if err != nil || len(raw) < 4 || raw[1] != 0x80 {
		return usbSerial(sys, dir)
	}
	n := int(raw[2])<<8 | int(raw[3])
	return strings.Trim(string(raw[4:4+min(n, len(raw)-4)]), " \t\r\n\x00")
}

// usbInterface is the part of a path in sysfs that is an interface of a USB device, the
// folder above (USB in Linux: bus, ports, configuration, interface).
var usbInterface = regexp.MustCompile(`/\d+-[\d.]+:\d+\.\d+/`)

// usbSerial is of the USB device that a disk is in. Linux asks disks behind usb-storage
// for no vital product data; without this a twin on USB would be one that nobody sees.
func usbSerial(sys fs.FS, dir string) string {
	link, err := fs.ReadLink(sys, dir)
	if err != nil {
		return ""
	}
	at := usbInterface.FindAllStringIndex(link, -1)
	if len(at) == 0 {
		return ""
	}
	return attribute(sys, path.Join(path.Dir(dir), link[:at[len(at)-1][0]]), "serial")
}

// wwn is a world-wide name: one that a vendor's T10 text stands for is none.
func wwn(sys fs.FS, dir string) string {
	for _, file := range []string{"wwid", "device/wwid"} {
		s := attribute(sys, dir, file)
		for _, prefix := range []string{"naa.", "eui.", "uuid.", "0x"} {
			if strings.HasPrefix(s, prefix) {
				return s
			}
		}
	}
	return ""
}

// transports are the parts of a device's path in sysfs that tell what it is
// attached to. USB comes first: a bridge has a SCSI host behind it.
var transports = []struct{ part, name string }{
	{"/usb", "usb"}, {"/nvme", "nvme"}, {"/virtio", "virtio"}, {"/mmc", "mmc"}, {"/end_device-", "sas"}, {"/rport-", "fc"},
	{"/session", "iscsi"}, {"/ata", "sata"}, {"/xen", "xen"}, {"/vbd-", "xen"}, {"/vmbus", "hyperv"}, {"/VMBUS", "hyperv"}, {"/host", "scsi"},
}

// transport is what a disk is attached to, or "" where its path does not tell.
func transport(sys fs.FS, dir string) (string, error) {
	link, err := fs.ReadLink(sys, dir)
	if err != nil {
		return "", err
	}
	for _, t := range transports {
		if strings.Contains(link, t.part) {
			return t.name, nil
		}
	}
	return "", nil
}

// names lists the block devices that may be disks: not those that the kernel
// makes out of others or of memory, and not what it hides as a path of another.
func names(sys fs.FS) ([]string, error) {
	all, err := fs.ReadDir(sys, "block")
	if err != nil {
		return nil, err
	}
	var out []string
	var errs []error
	for _, e := range all {
		dir := path.Join("block", e.Name())
		link, err := fs.ReadLink(sys, dir)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		hidden, err := number(sys, dir, "hidden")
		if !strings.Contains(link, "/virtual/block/") && (err != nil || hidden == 0) {
			out = append(out, e.Name())
		}
	}
	slices.Sort(out)
	return out, errors.Join(errs...)
}
