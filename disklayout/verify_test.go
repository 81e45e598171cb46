package disklayout_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ingotmetal/ingot/disklayout"
)

// TestVerify hands an approved plan the disks as a node may find them.
func TestVerify(t *testing.T) {
	old := disklayout.Signature{Type: "gpt", Offset: 512, UUID: "aa", Stamp: own + "/7"}
	made := disklayout.Signature{Type: "gpt", Offset: 512, UUID: "bb", Stamp: own + "/8"}
	before := holding(ssd("S1"), old, ext4)
	req := asking(onOne("S1"), func(q *disklayout.Request) {
		q.Overrides = []disklayout.Override{{Serial: "S1", Type: ext4.Type, UUID: ext4.UUID}}
	})
	plan := mustPlan(t, req, before, ssd("S2"))
	type D = *disklayout.Disk
	changed := func(change func(D)) []disklayout.Disk { return []disklayout.Disk{with(before, change)} }
	for name, c := range map[string]struct {
		disks []disklayout.Disk
		want  disklayout.Reason // "": as it should be
	}{
		"as approved":             {disks: []disklayout.Disk{before, ssd("S2")}},
		"another name":            {disks: changed(func(d D) { d.Name = "sdq" })},
		"a virtual CD came":       {disks: []disklayout.Disk{before, with(ssd("CD"), func(d D) { d.Removable = true })}},
		"half done":               {disks: []disklayout.Disk{holding(ssd("S1"), made, ext4)}},
		"all died":                {disks: []disklayout.Disk{ssd("S1")}},
		"it is gone":              {disks: []disklayout.Disk{ssd("S2")}, want: disklayout.NoSuchDisk},
		"it moved to USB":         {disks: changed(func(d D) { d.Transport = "usb" }), want: disklayout.USB},
		"its serial came twice":   {disks: []disklayout.Disk{before, with(ssd("S1"), func(d D) { d.WWN = "" })}, want: disklayout.DuplicateSerial},
		"it shrank":               {disks: changed(func(d D) { d.Size -= 4096 }), want: disklayout.DiskChanged},
		"another model":           {disks: changed(func(d D) { d.Model += "X" }), want: disklayout.DiskChanged},
		"another WWN":             {disks: changed(func(d D) { d.WWN = "" }), want: disklayout.DiskChanged},
		"rotates now":             {disks: changed(func(d D) { d.Rotational = &yes }), want: disklayout.DiskChanged},
		"other sectors":           {disks: changed(func(d D) { d.PhysicalSector = 512 }), want: disklayout.DiskChanged},
		"another controller":      {disks: changed(func(d D) { d.Transport = "sas" }), want: disklayout.DiskChanged},
		"a pool came":             {disks: []disklayout.Disk{holding(ssd("S1"), old, pool)}, want: disklayout.PoolMember},
		"another own layout came": {disks: []disklayout.Disk{holding(ssd("S1"), disklayout.Signature{Type: "xfs", Stamp: own + "/6"})}, want: disklayout.ForeignSignature},
		"nobody looked":           {disks: changed(func(d D) { d.Signatures = nil }), want: disklayout.NotProbed},
	} {
		t.Run(name, func(t *testing.T) {
			err := plan.Verify(c.disks, disklayout.Stamp{Server: plan.Server, Epoch: 8})
			if c.want == "" && err != nil {
				t.Error(err)
			}
			if c.want != "" {
				refused(t, c.want, disklayout.Plan{}, err)
			}
		})
	}
	other := disklayout.Stamp{Server: disklayout.UUID{1}}
	refused(t, disklayout.StampInvalid, disklayout.Plan{}, plan.Verify([]disklayout.Disk{before}, other))
	plan.Table.Parts = slices.Clone(plan.Table.Parts)
	plan.Table.Parts[1].Last++
	refused(t, disklayout.PlanChanged, disklayout.Plan{}, plan.Verify([]disklayout.Disk{before}, stamp()))
}

// A disk that is another says in what.
func TestVerifySaysWhatChanged(t *testing.T) {
	plan := mustPlan(t, onOne("S1"), ssd("S1"))
	was := plan.Disks[0]
	err := plan.Verify([]disklayout.Disk{with(ssd("S1"), func(d *disklayout.Disk) { d.Size, d.WWN, d.Rotational = was.Size-4096, "", nil })}, disklayout.Stamp{Server: plan.Server, Epoch: 8})
	want := fmt.Sprintf("it is another than in the plan: WWN none, was %s, size %d, was %d, rotation unknown, was no (SET-14)", was.WWN, was.Size-4096, was.Size)
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v\nwant %s", err, want)
	}
}

// TestResumed: what the running attempt wrote itself neither dies nor refuses;
// without an epoch, as on an operator's page, it is this server's and dies.
func TestResumed(t *testing.T) {
	d := holding(ssd("S1"), disklayout.Signature{Type: "gpt", Stamp: own + "/8"})
	d.Partitions = []disklayout.Partition{{Number: 1, Start: mib, Size: mib}}
	for epoch, want := range map[uint64]int{0: 1, 7: 1, 8: 0} {
		s := stamp()
		s.Epoch = epoch
		p, err := disklayout.Realize(onOne("S1"), []disklayout.Disk{d}, s)
		if err != nil || len(p.Disks[0].Lost) != want || len(p.Disks[0].LostPartitions) != want || len(p.Warnings) != want {
			t.Errorf("epoch %d: %v, %+v", epoch, err, p.Disks)
		}
	}
}
