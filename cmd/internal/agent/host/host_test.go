package host_test

import (
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/ingotmetal/ingot/cmd/internal/agent"
	"github.com/ingotmetal/ingot/cmd/internal/agent/host"
)

var _ agent.Machine = host.Host{}

// machine is a host with some files of its sysfs and procfs.
func machine(files map[string]string) host.Host {
	fsys := fstest.MapFS{}
	for name, text := range files {
		fsys[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return host.Host{Sys: fsys, Proc: fsys, Dev: "/dev", Now: time.Now, Log: slog.New(slog.DiscardHandler)}
}

func TestUUID(t *testing.T) {
	h := machine(map[string]string{"class/dmi/id/product_uuid": "4C4C4544-0042-3510-8054-B7C04F4C4231\n"})
	if got, err := h.UUID(); err != nil || got != "4C4C4544-0042-3510-8054-B7C04F4C4231" {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := machine(nil).UUID(); err == nil {
		t.Error("a machine without SMBIOS has a UUID")
	}
}

// Only hardware that speaks Ethernet and has an address counts.
func TestNICs(t *testing.T) {
	files := map[string]string{}
	for name, nic := range map[string][3]string{ // address, type, whether it is hardware
		"eth1": {"52:54:00:00:00:02", "1", "yes"}, "eth0": {"52:54:00:00:00:01", "1", "yes"}, "lo": {"00:00:00:00:00:00", "772", ""}, "br0": {"52:54:00:00:00:01", "1", ""},
		"ib0": {"80:00:02:08:fe:80:00:00:00:00:00:00:f4:52:14:03:00:7b:cb:a1", "32", "yes"}, "usb0": {"00:00:00:00:00:00", "1", "yes"}, "wwan0": {"", "1", "yes"},
	} {
		dir := "class/net/" + name + "/"
		files[dir+"address"], files[dir+"type"] = nic[0]+"\n", nic[1]+"\n"
		if nic[2] != "" {
			files[dir+"device/vendor"] = "0x1af4"
		}
	}
	got, err := machine(files).NICs()
	if fmt.Sprint(got) != "[{eth0 52:54:00:00:00:01} {eth1 52:54:00:00:00:02}]" || err != nil {
		t.Errorf("%v, %v", got, err)
	}
	if _, err := machine(nil).NICs(); err == nil {
		t.Error("a machine without sysfs has no NICs, which nobody knows")
	}
}

func TestFacts(t *testing.T) {
	h := machine(map[string]string{"class/dmi/id/sys_vendor": "Bad\x01 \xff Vendor " + strings.Repeat("x", 300) + "\n", "class/dmi/id/product_name": " R640\n", "firmware/efi/runtime": "1",
		"meminfo": "MemTotal:       16315632 kB\nMemFree: 1 kB\n", "sys/kernel/osrelease": "6.12.0\n"})
	got := h.Facts()
	if got["product"] != "R640" || got["uefi"] != true || got["memory"] != uint64(16315632<<10) || got["kernel"] != "6.12.0" {
		t.Errorf("%v", got)
	}
	if v := got["vendor"].(string); !strings.HasPrefix(v, "Bad ? Vendor x") || len(v) != 128 {
		t.Errorf("%q", v)
	}
	if got := machine(nil).Facts(); got["uefi"] != false || got["memory"] != nil || got["cpus"].(int) < 1 {
		t.Errorf("%v", got)
	}
}

// A clock that is right is left alone.
func TestClockIsLeftAlone(t *testing.T) {
	h := machine(nil)
	if err := h.SetClock(time.Now().Add(time.Second)); err != nil {
		t.Error(err)
	}
}

// Disks of a sysfs on a real filesystem, as it has links.
func TestDisks(t *testing.T) {
	dir := t.TempDir()
	real := filepath.Join(dir, "devices/pci0000:00/ata1/host0/block/sda")
	for name, text := range map[string]string{"size": "2048", "queue/logical_block_size": "512", "queue/physical_block_size": "512", "removable": "0", "ro": "0", "device/model": "M", "device/serial": "S1"} {
		at := filepath.Join(real, name)
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(text+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll(filepath.Join(dir, "block"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("../devices/pci0000:00/ata1/host0/block/sda", filepath.Join(dir, "block/sda")); err != nil {
		t.Fatal(err)
	}
	h := host.Host{Sys: os.DirFS(dir), Proc: os.DirFS(dir), Dev: dir, Now: time.Now, Log: slog.New(slog.NewTextHandler(io.Discard, nil))}
	disks, missed := agent.Seen(h)
	if len(disks) != 1 || disks[0].Serial != "S1" || disks[0].Transport != "sata" || len(missed) != 1 {
		t.Errorf("%+v, %v", disks, missed)
	}
}
