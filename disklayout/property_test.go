package disklayout_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/ingotmetal/ingot/disklayout"
	"pgregory.net/rapid"
)

// anyDisk draws a disk that can be written, of any size that a plan fits.
func anyDisk(t *rapid.T, serial string) disklayout.Disk {
	d := ssd(serial)
	d.WWN = rapid.SampledFrom([]string{"", "0x5000c500a1b2c3d4", "eui." + serial}).Draw(t, "wwn")
	d.LogicalSector = rapid.SampledFrom([]uint32{512, 4096}).Draw(t, "sector")
	d.PhysicalSector = d.LogicalSector << rapid.IntRange(0, 4).Draw(t, "physical")
	d.Rotational = rapid.SampledFrom([]*bool{nil, &yes, &no}).Draw(t, "rotational")
	d.Size = rapid.Uint64Range(64*gib/4096, disklayout.MaxSize/4096).Draw(t, "size") * 4096
	if rapid.Bool().Draw(t, "small") {
		d.Size = d.Size%(64*gib)/4096*4096 + 34*gib
	}
	return d
}

// anyFleet draws disks D0 and so on: some cannot be written, names are at odds.
func anyFleet(t *rapid.T, least int) []disklayout.Disk {
	n := rapid.IntRange(least, 8).Draw(t, "disks")
	out := make([]disklayout.Disk, n)
	for i := range out {
		out[i] = anyDisk(t, fmt.Sprintf("D%d", i))
		out[i].Name = fmt.Sprintf("sd%c", 'a'+n-i)
		if i < least {
			continue
		}
		switch rapid.IntRange(0, 6).Draw(t, "flaw") {
		case 0:
			out[i].Removable = true
		case 1:
			out[i].Serial = ""
		case 2:
			out[i].Serial = out[i-1].Serial + "x" // a longer one of the same beginning
		case 3:
			out[i].Signatures = []disklayout.Signature{pool}
		case 4:
			out[i].Signatures = nil
		}
	}
	return out
}

func anySizes(t *rapid.T, req *disklayout.Request) {
	size := func(label string, least, most uint64) disklayout.Size {
		return disklayout.Size(rapid.Uint64Range(least, most).Draw(t, label) * mib)
	}
	req.ESP, req.Root = size("esp", 260, 2048), size("root", 1, 8192)
	switch rapid.IntRange(0, 3).Draw(t, "rest") {
	case 0:
		req.Data = size("data", 1, 8192)
	case 1:
		req.Data, req.Root = size("data", 1, 8192), disklayout.Rest
	}
}

// TestTableHolds: whatever is planned, partitions are whole, apart, aligned,
// and between the two copies of the table; a rest leaves less than a MiB.
func TestTableHolds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d, req := anyDisk(t, "D0"), onOne("D0")
		anySizes(t, &req)
		p, err := disklayout.Realize(req, []disklayout.Disk{d}, stamp())
		if err != nil {
			t.Fatal(err)
		}
		s, last := uint64(d.LogicalSector), d.Size/uint64(d.LogicalSector)-1
		holds(t, p.Table, s, last)
		want := []disklayout.Size{req.ESP, req.Root, req.Data}
		for i, part := range p.Table.Parts {
			if want[i] != 0 && want[i] != disklayout.Rest && part.Size != uint64(want[i]) {
				t.Errorf("%s has %d bytes, not %d", part.Name, part.Size, want[i])
			}
		}
		end := p.Table.Parts[2].Start + p.Table.Parts[2].Size
		if rest := slices.Contains(want, disklayout.Rest) || req.Data == 0; rest && (p.Table.Free != 0 || (p.Table.LastUsable+1)*s-end >= mib) {
			t.Errorf("a rest leaves %d bytes, and %d free", (p.Table.LastUsable+1)*s-end, p.Table.Free)
		}
	})
}

// holds checks a table on a disk of sectors of s bytes, the last of which is
// last. The places are those of the UEFI specification, section 5.3.
func holds(t *rapid.T, table *disklayout.Table, s, last uint64) {
	entries := uint64(32)
	if s == 4096 {
		entries = 4
	}
	got := []uint64{table.PrimaryHeader, table.PrimaryEntries, table.FirstUsable, table.LastUsable, table.BackupEntries, table.BackupHeader, uint64(table.ProtectiveSectors)}
	want := []uint64{1, 2, 2 + entries, last - entries - 1, last - entries, last, min(last, 1<<32-1)}
	if !slices.Equal(got, want) {
		t.Fatalf("table %d, want %d", got, want)
	}
	at, ids := table.FirstUsable, map[disklayout.UUID]bool{table.DiskGUID: true}
	for i, part := range table.Parts {
		if part.First < at || part.Last < part.First || part.Last > table.LastUsable || part.Number != i+1 {
			t.Fatalf("%+v overlaps or lies outside", part)
		}
		if part.Start%mib != 0 || part.Size%mib != 0 || part.First*s != part.Start || (part.Last+1)*s != part.Start+part.Size {
			t.Fatalf("%+v is not aligned", part)
		}
		if ids[part.UUID] || part.UUID[6]>>4 != 8 || part.UUID[8]>>6 != 2 {
			t.Fatalf("UUID %s is there twice, or of no version 8", part.UUID)
		}
		at, ids[part.UUID] = part.Last+1, true
	}
}

// TestOrderDoesNotMatter: disks in any order, with any kernel names, give the
// same digest; the same names give the same plan, or the same refusal.
func TestOrderDoesNotMatter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		disks := anyFleet(t, 1)
		req := pick(disklayout.Selector{MinSize: rapid.Uint64Range(1, disklayout.MaxSize).Draw(t, "least")})
		if rapid.Bool().Draw(t, "by serial") {
			req = onOne("D0")
		}
		p, err := disklayout.Realize(req, disks, stamp())
		shuffled := slices.Clone(disks)
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		r.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
		q, again := disklayout.Realize(req, shuffled, stamp())
		if !reflect.DeepEqual(p, q) || fmt.Sprint(err) != fmt.Sprint(again) {
			t.Fatalf("%+v, %v\n%+v, %v", p, err, q, again)
		}
		if err != nil {
			return
		}
		for i := range shuffled {
			shuffled[i].Name = fmt.Sprintf("nvme%dn1", i)
		}
		if q, err := disklayout.Realize(req, shuffled, stamp()); err != nil || q.Digest != p.Digest {
			t.Fatalf("other names: %s is %s, %v", p.Digest, q.Digest, err)
		}
	})
}

// TestDigestCoversDisks: a written disk that is another, or says something else
// of itself, makes another digest.
func TestDigestCoversDisks(t *testing.T) {
	changes := map[string]func(*disklayout.Disk){
		"serial":    func(d *disklayout.Disk) { d.Serial += "-new" },
		"wwn":       func(d *disklayout.Disk) { d.WWN += "1" },
		"model":     func(d *disklayout.Disk) { d.Model += "x" },
		"size":      func(d *disklayout.Disk) { d.Size -= 4096 },
		"logical":   func(d *disklayout.Disk) { d.LogicalSector, d.PhysicalSector = 4608-d.LogicalSector, 4096 },
		"physical":  func(d *disklayout.Disk) { d.PhysicalSector *= 2 },
		"rotation":  func(d *disklayout.Disk) { d.Rotational = map[bool]*bool{true: &yes, false: nil}[d.Rotational == nil] },
		"transport": func(d *disklayout.Disk) { d.Transport = "sas" },
		"own table": func(d *disklayout.Disk) { d.Signatures = []disklayout.Signature{{Type: "gpt", Stamp: own}} },
	}
	for what, change := range changes {
		t.Run(what, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				disks := anyFleet(t, 2)
				req := mirrorOf("D0", "D1")
				req.Ashift = 16
				p, err := disklayout.Realize(req, disks, stamp())
				if err != nil {
					t.Fatal(err)
				}
				at := rapid.IntRange(0, 1).Draw(t, "which")
				change(&disks[at])
				req.Disks[at].Serial = disks[at].Serial
				if q, err := disklayout.Realize(req, disks, stamp()); err != nil || q.Digest == p.Digest {
					t.Fatalf("still %s, %v", q.Digest, err)
				}
			})
		})
	}
}

// TestSelectorFindsOne: what is planned on is the only disk that fits, judged by
// hand; and whoever fits beside another is refused.
func TestSelectorFindsOne(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		disks := anyFleet(t, 1)
		sel := disklayout.Selector{
			MinSize: rapid.Uint64Range(1, 128*gib).Draw(t, "least"),
			MaxSize: rapid.SampledFrom([]uint64{0, 128 * gib, disklayout.MaxSize}).Draw(t, "most"),
		}
		var fit []string
		for _, d := range disks {
			if d.Size >= sel.MinSize && (sel.MaxSize == 0 || d.Size <= sel.MaxSize) && !d.Removable {
				fit = append(fit, d.Serial)
			}
		}
		req := disklayout.Request{Layout: disklayout.Single, Disks: []disklayout.Selector{sel}}
		p, err := disklayout.Realize(req, disks, stamp())
		if err == nil && !slices.Equal(p.Serials, fit) {
			t.Fatalf("planned on %q of %q", p.Serials, fit)
		}
		if len(fit) > 1 {
			if e := err.(*disklayout.Refused); e.Reason != disklayout.Ambiguous || len(e.Candidates) != len(fit) {
				t.Fatalf("%v of %q", e, fit)
			}
		}
	})
}

// TestPlanTravels: a plan that went through JSON says the same, and its digest
// can be computed anew; and one that was changed on the way has another.
func TestPlanTravels(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		disks := anyFleet(t, 2)
		req := rapid.SampledFrom([]disklayout.Request{onOne("D0"), asking(onOne("D0"), func(q *disklayout.Request) { q.Boot = "sha256:" + strings.Repeat("b", 64) }), {Layout: disklayout.Mirror, Disks: serials("D0", "D1"), Ashift: 13}}).Draw(t, "request")
		p, err := disklayout.Realize(req, disks, stamp())
		if err != nil {
			t.Fatal(err)
		}
		raw, err := json.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		var q disklayout.Plan
		if err := json.Unmarshal(raw, &q); err != nil || q.Sum() != p.Digest || q.Digest != p.Digest || q.Render() != p.Render() {
			t.Fatalf("%v: %s", err, raw)
		}
		switch at := rapid.IntRange(0, len(q.Unused)+1).Draw(t, "changed"); {
		case at == len(q.Unused):
			q.Disks[0].Size++
		case at > len(q.Unused):
			q.Boot = strings.TrimSuffix(q.Boot+"b", "bb")
		default:
			q.Unused[at].Why = disklayout.TooSmall
		}
		if q.Sum() == p.Digest {
			t.Fatal("a changed plan has the digest")
		}
	})
}
