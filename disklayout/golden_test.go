package disklayout_test

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/ingotmetal/ingot/disklayout"
)

var update = flag.Bool("update", false, "write golden files instead of comparing them")

// A frozen plan has a page in testdata/plans, and a digest in digests that no
// version may change: approvals that wait hold it.
type frozen struct {
	req   disklayout.Request
	disks []disklayout.Disk
	stamp disklayout.Stamp
}

func frozenPlans() map[string]frozen {
	usb := with(ssd("STICK"), func(d *disklayout.Disk) { d.Name, d.Transport, d.Size = "sdx", "usb", 15_737_028_608 })
	cd := disklayout.Disk{Name: "sr0", Model: "Virtual CD", Removable: true, ReadOnly: true, Transport: "usb"}
	old := holding(ssd("S1"), disklayout.Signature{Type: "gpt", Offset: 512, UUID: "aa", Stamp: own + "/7"},
		disklayout.Signature{Type: "vfat", Offset: mib + 82, Label: "ESP", UUID: "0A0B-0C0D"})
	old.Partitions = []disklayout.Partition{{Number: 1, Start: mib, Size: 512 * mib, Label: "esp"}, {Number: 2, Start: 513 * mib, Size: gib}}
	override := asking(onOne("S1"), func(q *disklayout.Request) {
		q.Overrides = []disklayout.Override{{Serial: "S1", Type: "vfat", UUID: "0A0B-0C0D"}}
		q.Image = "sha256:6b86b273ff34fce19d6b804eff5a3f5747ada4eaa22f1d49c01e52ddb7875b4b"
	})
	boot := asking(onOne("S1"), func(q *disklayout.Request) {
		q.Image = "sha256:6b86b273ff34fce19d6b804eff5a3f5747ada4eaa22f1d49c01e52ddb7875b4b"
		q.Boot = "sha256:d4735e3a265e16eee03f59718b9b5d03019c07d8b6c51f90da3a666eec13ab35"
	})
	big := with(nvme("BIG"), func(d *disklayout.Disk) { d.Size, d.LogicalSector = 30_725_970_923_520, 512 })
	tank := shelf(6)
	tank[3].Size += 4096
	tank[5] = holding(tank[5], pool)
	ownPool := shelf(2)
	for i := range ownPool {
		ownPool[i].Signatures = []disklayout.Signature{{Type: "zfs_member", Offset: 262144, Label: "zones", UUID: "42", Stamp: own}}
	}
	return map[string]frozen{
		"gpt-512":     {req: onOne("S1"), disks: []disklayout.Disk{ssd("S1"), nvme("N1"), usb, cd}},
		"gpt-4kn":     {req: pick(disklayout.Selector{Transport: "nvme"}), disks: []disklayout.Disk{nvme("N1"), usb}},
		"gpt-30tb":    {req: asking(onOne("BIG"), func(q *disklayout.Request) { q.Root, q.Data = disklayout.Rest, 100*gib }), disks: []disklayout.Disk{big}},
		"gpt-fixed":   {req: asking(onOne("S1"), func(q *disklayout.Request) { q.ESP, q.Root, q.Data = 260*mib, 8*gib, 64*gib }), disks: []disklayout.Disk{ssd("S1")}},
		"gpt-rebuilt": {req: override, disks: []disklayout.Disk{old}, stamp: disklayout.Stamp{Server: stamp().Server, Epoch: 8}},
		"gpt-boot":    {req: boot, disks: []disklayout.Disk{ssd("S1")}},
		"single":      {req: disklayout.Request{Layout: disklayout.Single, Disks: serials("H00"), Compression: "zstd-3", ImageHasZstd: true}, disks: ownPool},
		"mirror":      {req: asking(mirrorOf("H00", "H03", "H01", "H02"), func(q *disklayout.Request) { q.Pool = "tank" }), disks: tank},
		"mirror-3":    {req: asking(mirrorOf("H00", "H01", "H02"), func(q *disklayout.Request) { q.Width, q.Ashift = 3, 9 }), disks: shelf(3)},
	}
}

// TestFrozenPlans compares pages, which -update writes, and digests, which
// nothing but a person writes.
func TestFrozenPlans(t *testing.T) {
	for name, c := range frozenPlans() {
		t.Run(name, func(t *testing.T) {
			if c.stamp == (disklayout.Stamp{}) {
				c.stamp = stamp()
			}
			p, err := disklayout.Realize(c.req, c.disks, c.stamp)
			if err != nil {
				t.Fatal(err)
			}
			if got := p.Digest.String(); got != digests[name] || p.Sum() != p.Digest {
				t.Errorf("the digest is %q, and was %q", got, digests[name])
			}
			page(t, filepath.Join("testdata", "plans", name+".txt"), p.Render())
		})
	}
}

// digests are those of version 1 of the encoding.
var digests = map[string]string{
	"gpt-30tb":    "8d05d4d643098b769b3777807d21284c8bf9e70e54f154db692c1c9f3d1a8054",
	"gpt-4kn":     "e983b376975678e83ba38469e1a76480d61da18b688c95c82ac13bf52b0d0789",
	"gpt-512":     "9c3099b40c67930500f4b6f8a6fdf282f5516da73b200f75a2db49e182f080a5",
	"gpt-boot":    "48d075234745c91539d36b27ab3ed90bdc5dd272ff8be6baa68d06c275dda825",
	"gpt-fixed":   "10cf28b9af70786e1613e832777d2248ebcb4a95af21d7178c326c3114f878f7",
	"gpt-rebuilt": "413e52634470e0b2dbbf7739529644f584f98439ce30fce3b3190f60a4b98922",
	"mirror":      "7a0075c11dd95e1564ff59afd535018e6d269076097dbf9a97bc5ba0e475e0fd",
	"mirror-3":    "a2c55a47e76a2584047fac496eb3663163add27fa3381534f797ae8d1c26d7ec",
	"single":      "195a376082e3c17ad59ef776bd866bac5fc0e729b480ed590423b85ba3730180",
}

func page(t *testing.T, path, text string) {
	t.Helper()
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil || string(want) != text {
		t.Errorf("%s (%v) is now\n%s", path, err, text)
	}
}
