package disklayout_test

import (
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/ingotmetal/ingot/disklayout"
)

// TestSgdiskAgrees writes planned tables with sgdisk into sparse files, and
// reads every number of them back: from sgdisk and from the bytes.
func TestSgdiskAgrees(t *testing.T) {
	if _, err := exec.LookPath("sgdisk"); err != nil {
		lacking(t, "sgdisk is missing: install gdisk")
	}
	odd := with(ssd("ODD"), func(d *disklayout.Disk) { d.Size = 40*gib + 1007*512 })
	large := with(ssd("LARGE"), func(d *disklayout.Disk) { d.Size = 3 << 40 })
	for name, d := range map[string]disklayout.Disk{"512e": ssd("S1"), "odd": odd, "over 2 TiB": large, "4Kn": nvme("N1")} {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // sgdisk sleeps a second each time
			p := mustPlan(t, onOne(d.Serial), d)
			device, file := sparse(t, d)
			args := []string{"--clear", "--set-alignment=1", "--disk-guid=" + p.Table.DiskGUID.String()}
			for _, part := range p.Table.Parts {
				args = append(args, fmt.Sprintf("--new=%d:%d:%d", part.Number, part.First, part.Last), fmt.Sprintf("--typecode=%d:%s", part.Number, part.Type),
					fmt.Sprintf("--partition-guid=%d:%s", part.Number, part.UUID), fmt.Sprintf("--change-name=%d:%s", part.Number, part.Name))
			}
			sgdisk(t, device, args...)
			if out := sgdisk(t, device, "--verify"); !strings.Contains(out, "No problems found") {
				t.Errorf("sgdisk finds a problem: %s", out)
			}
			agrees(t, device, p.Table)
			headers(t, file, p.Table)
		})
	}
}

// agrees compares what sgdisk prints.
func agrees(t *testing.T, device string, table *disklayout.Table) {
	t.Helper()
	out := sgdisk(t, device, "--print")
	for _, want := range []string{
		fmt.Sprintf("First usable sector is %d, last usable sector is %d", table.FirstUsable, table.LastUsable),
		"Disk identifier (GUID): " + strings.ToUpper(table.DiskGUID.String()),
	} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in %s", want, out)
		}
	}
	for _, part := range table.Parts {
		out := sgdisk(t, device, fmt.Sprintf("--info=%d", part.Number))
		got := map[string]string{}
		for _, m := range regexp.MustCompile(`(?m)^(.*?): '?([0-9A-Za-z-]+)`).FindAllStringSubmatch(out, -1) {
			got[m[1]] = strings.ToLower(m[2])
		}
		want := map[string]string{
			"Partition GUID code": part.Type.String(), "Partition unique GUID": part.UUID.String(), "First sector": strconv.FormatUint(part.First, 10),
			"Last sector": strconv.FormatUint(part.Last, 10), "Partition size": strconv.FormatUint(part.Size/uint64(table.SectorSize), 10), "Partition name": part.Name,
		}
		for k, v := range want {
			if got[k] != v {
				t.Errorf("partition %d: %s is %q, planned %q", part.Number, k, got[k], v)
			}
		}
	}
}

// headers reads the protective MBR and both headers where the plan says they
// are, and their fields MyLBA, AlternateLBA and PartitionEntryLBA.
func headers(t *testing.T, file *os.File, table *disklayout.Table) {
	t.Helper()
	at := func(offset uint64, n int) []byte {
		b := make([]byte, n)
		if _, err := file.ReadAt(b, int64(offset)); err != nil {
			t.Fatal(err)
		}
		return b
	}
	if got := binary.LittleEndian.Uint32(at(446+12, 4)); got != table.ProtectiveSectors {
		t.Errorf("the protective MBR has %d sectors, planned %d", got, table.ProtectiveSectors)
	}
	for lba, want := range map[uint64][2]uint64{
		table.PrimaryHeader: {table.BackupHeader, table.PrimaryEntries},
		table.BackupHeader:  {table.PrimaryHeader, table.BackupEntries},
	} {
		h := at(lba*uint64(table.SectorSize), 92)
		field := func(i int) uint64 { return binary.LittleEndian.Uint64(h[i:]) }
		if string(h[:8]) != "EFI PART" || field(24) != lba || field(32) != want[0] || field(72) != want[1] {
			t.Errorf("header at %d: %q, %d %d %d, planned %d", lba, h[:8], field(24), field(32), field(72), want)
		}
	}
}

func sgdisk(t *testing.T, device string, args ...string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "sgdisk", append(args, device)...).CombinedOutput()
	if err != nil {
		t.Fatalf("sgdisk %q: %v\n%s", args, err, out)
	}
	return string(out)
}

// sparse is an empty file of d's size, and what sgdisk opens for it: a file has
// sectors of 512 bytes, for others it takes a loop device and so root.
func sparse(t *testing.T, d disklayout.Disk) (device string, file *os.File) {
	t.Helper()
	file, err := os.Create(filepath.Join(t.TempDir(), "disk"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { file.Close() })
	if err := file.Truncate(int64(d.Size)); err != nil {
		lacking(t, fmt.Sprintf("no sparse file of %d bytes here (%v): set TMPDIR to a file system that has them", d.Size, err))
	}
	if d.LogicalSector == 512 {
		return file.Name(), file
	}
	out, err := exec.CommandContext(t.Context(), "losetup", "--find", "--show", "--sector-size", fmt.Sprint(d.LogicalSector), file.Name()).CombinedOutput()
	if err != nil {
		lacking(t, fmt.Sprintf("no loop device (%v: %s): run as root where there are some, with util-linux", err, out))
	}
	device = strings.TrimSpace(string(out))
	t.Cleanup(func() {
		if out, err := exec.Command("losetup", "--detach", device).CombinedOutput(); err != nil {
			t.Errorf("losetup: %v: %s", err, out)
		}
	})
	return device, file
}

// lacking skips, unless everything is to be tested.
func lacking(t *testing.T, why string) {
	t.Helper()
	if os.Getenv("INGOT_TEST_ALL") == "1" {
		t.Fatal(why)
	}
	t.Skip(why)
}
