package disklayout_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/ingotmetal/ingot/disklayout"
)

const (
	mib = disklayout.MiB
	gib = disklayout.GiB
	own = "4c4c4544-0042-3510-8054-b7c04f4c4231"
)

var yes, no = true, false

// stamp is the server's, before any attempt.
func stamp() disklayout.Stamp {
	var s disklayout.Stamp
	if err := s.Server.UnmarshalText([]byte(own)); err != nil {
		panic(err)
	}
	return s
}

// ssd is an empty disk of 240 GB with sectors of 512 bytes.
func ssd(serial string) disklayout.Disk {
	return disklayout.Disk{
		Name: "sda", Serial: serial, WWN: "0x5000c500a1b2c3d4", Model: "INTEL SSDSC2KB24", Size: 240_057_409_536,
		LogicalSector: 512, PhysicalSector: 4096, Rotational: &no, Transport: "sata", Signatures: []disklayout.Signature{},
	}
}

// nvme is an empty disk of 1.92 TB with sectors of 4096 bytes.
func nvme(serial string) disklayout.Disk {
	d := ssd(serial)
	d.Name, d.WWN, d.Model, d.Size = "nvme0n1", "eui.0025385b71b0a1c2", "SAMSUNG MZQL21T9HCJR-00A07", 1_920_383_410_176
	d.LogicalSector, d.Transport = 4096, "nvme"
	return d
}

// shelf is n empty hard disks H00, H01 and so on, of 4 TB.
func shelf(n int) []disklayout.Disk {
	out := make([]disklayout.Disk, n)
	for i := range out {
		out[i] = ssd(fmt.Sprintf("H%02d", i))
		out[i].Name, out[i].WWN, out[i].Model = fmt.Sprintf("sd%c", 'a'+i), fmt.Sprintf("0x5000c500%08x", i+1), "ST4000NM000A"
		out[i].Size, out[i].Rotational, out[i].Transport = 4_000_787_030_016, &yes, "sas"
	}
	return out
}

// serials selects disks by their serials.
func serials(names ...string) []disklayout.Selector {
	var out []disklayout.Selector
	for _, n := range names {
		out = append(out, disklayout.Selector{Serial: n})
	}
	return out
}

func onOne(serial string) disklayout.Request {
	return disklayout.Request{Layout: disklayout.GPT, Disks: serials(serial)}
}

func mirrorOf(names ...string) disklayout.Request {
	return disklayout.Request{Layout: disklayout.Mirror, Disks: serials(names...)}
}

// mustPlan plans with the server's stamp.
func mustPlan(t testing.TB, req disklayout.Request, disks ...disklayout.Disk) disklayout.Plan {
	t.Helper()
	p, err := disklayout.Realize(req, disks, stamp())
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// refused wants a refusal for a reason, and no plan beside it.
func refused(t testing.TB, want disklayout.Reason, p disklayout.Plan, err error) *disklayout.Refused {
	t.Helper()
	e, ok := errors.AsType[*disklayout.Refused](err)
	if !ok || e.Reason != want {
		t.Fatalf("got %v, want %s", err, want)
	}
	if p.Layout != "" || p.Serials != nil || p.Digest != (disklayout.Digest{}) {
		t.Errorf("a plan beside the refusal: %+v", p)
	}
	if e.Why == "" || e.Next == "" || e.Req == "" || e.Code() == "" {
		t.Errorf("%s does not say all: %+v", want, e)
	}
	return e
}
