package apply_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/ingotmetal/ingot/disklayout"
	"github.com/ingotmetal/ingot/disklayout/apply"
	"github.com/ingotmetal/ingot/disklayout/probe"
)

const (
	mib = disklayout.MiB
	gib = disklayout.GiB
	own = "4c4c4544-0042-3510-8054-b7c04f4c4231"
	foe = "4c4c4544-0042-3510-8054-b7c04f4c4232"
)

var no = false

func stampOf(server string, epoch uint64) disklayout.Stamp {
	var s disklayout.Stamp
	if err := s.Server.UnmarshalText([]byte(server)); err != nil {
		panic(err)
	}
	s.Epoch = epoch
	return s
}

// described is an empty disk.
func described(serial string, size uint64, sector uint32) disklayout.Disk {
	return disklayout.Disk{Name: "sd" + serial, Serial: serial, Model: "M", Size: size, LogicalSector: sector, PhysicalSector: 4096,
		Rotational: &no, Transport: "sata"}
}

// small are the least disks of both sectors.
func small(serial string, sector uint32) *fake {
	size := uint64(64 * mib)
	if sector == 4096 {
		size = 300 * mib
	}
	return newFake(described(serial, size, sector))
}

// request is the least layout on a disk.
func request(f *fake) disklayout.Request {
	r := disklayout.Request{Layout: disklayout.GPT, Disks: []disklayout.Selector{{Serial: f.disk.Serial}}, ESP: disklayout.MinESP, Root: 4 * mib, Data: disklayout.Rest}
	if f.sector() == 4096 {
		r.ESP = disklayout.MinESP4Kn
	}
	return r
}

// planned realizes a request on what a look finds on f.
func planned(t testing.TB, f *fake, req disklayout.Request, stamp disklayout.Stamp) (disklayout.Plan, error) {
	t.Helper()
	found, err := probe.Look(f, int64(f.disk.Size), f.disk.LogicalSector)
	if err != nil {
		t.Fatal(err)
	}
	d := f.disk
	d.Signatures, d.Partitions = found.Signatures, found.Partitions
	stamp.Epoch = 0
	return disklayout.Realize(req, []disklayout.Disk{d}, stamp)
}

// order is a plan for f and its order.
func order(t testing.TB, f *fake, req disklayout.Request, stamp disklayout.Stamp) apply.Order {
	t.Helper()
	p, err := planned(t, f, req, stamp)
	if err != nil {
		t.Fatal(err)
	}
	return apply.Order{Plan: p, Stamp: stamp, Approved: p.Digest}
}

// content is an image, and its name.
func content(n int) ([]byte, string) {
	b := bytes.Repeat([]byte("image of a root\n"), (n+15)/16)[:n]
	return b, fmt.Sprintf("sha256:%x", sha256.Sum256(b))
}

// uefi is a program of n bytes for firmware on amd64, and its name.
func uefi(n int) ([]byte, string) {
	b := bytes.Repeat([]byte("boot\n"), n/5+1)[:n]
	copy(b, "MZ")
	binary.LittleEndian.PutUint32(b[0x3c:], 0x40)
	copy(b[0x40:], "PE\x00\x00\x64\x86\x00\x00") // without sections
	clear(b[0x48:0x58])
	return b, fmt.Sprintf("sha256:%x", sha256.Sum256(b))
}

func install(t testing.TB, o apply.Order, image []byte, disks ...apply.Source) (apply.Result, error) {
	t.Helper()
	if image != nil {
		o.Image, o.ImageSize = bytes.NewReader(image), uint64(len(image))
	}
	if o.Plan.Boot != "" && o.Boot == nil {
		body, _ := uefi(9000)
		o.Boot, o.BootSize = bytes.NewReader(body), uint64(len(body))
	}
	return apply.Install(context.Background(), o, disks, nil)
}

// installed holds a disk to its plan: a look finds the table, the stamp and the
// ESP, all with this attempt's stamp, and the image is in its place.
func installed(t testing.TB, f *fake, o apply.Order, image []byte) {
	t.Helper()
	found, err := probe.Look(f, int64(f.disk.Size), f.disk.LogicalSector)
	if err != nil {
		t.Fatal(err)
	}
	got := ""
	for _, s := range found.Signatures {
		got += s.Type + " "
		if s.Stamp != o.Stamp.String() {
			t.Errorf("%+v has not the stamp of the attempt", s)
		}
	}
	if got != "gpt ingot_stamp vfat gpt " || len(found.Partitions) != 3 || found.Mark == nil || !found.Mark.Done || len(f.pending) > 0 {
		t.Errorf("found %q, %+v, %+v, %d writes not synced", got, found.Partitions, found.Mark, len(f.pending))
	}
	if body, name := uefi(9000); o.Plan.Boot == name {
		esp := make([]byte, o.Plan.Table.Parts[0].Size)
		if _, err := f.ReadAt(esp, int64(o.Plan.Table.Parts[0].Start)); err != nil || !bytes.Contains(esp, body) {
			t.Errorf("the ESP does not hold the boot program: %v", err)
		}
	}
	root := make([]byte, len(image))
	if _, err := f.ReadAt(root, int64(o.Plan.Table.Parts[1].Start)); err != nil && !errors.Is(err, io.EOF) || !bytes.Equal(root, image) {
		t.Errorf("the root partition does not hold the image: %v", err)
	}
}

// refusedAs wants a refusal of ours for a reason.
func refusedAs(t testing.TB, err error, want apply.Reason) {
	t.Helper()
	e, ok := errors.AsType[*apply.Refused](err)
	if !ok || e.Reason != want || e.Code() == "" {
		t.Errorf("got %v, want %s", err, want)
	}
}

func failedAs(t testing.TB, err error, want apply.Reason) {
	t.Helper()
	e, ok := errors.AsType[*apply.Failed](err)
	if !ok || e.Reason != want || e.Code() == "" {
		t.Errorf("got %v, want %s", err, want)
	}
}

func look(f *fake) probe.Found {
	found, err := probe.Look(f, int64(f.disk.Size), f.disk.LogicalSector)
	if err != nil {
		panic(err)
	}
	return found
}

// foreignOnes overrides all that a look finds without this server's stamp.
func foreignOnes(f *fake) []disklayout.Override {
	all := everything(f)
	mine := func(o disklayout.Override) bool {
		return slices.ContainsFunc(look(f).Signatures, func(s disklayout.Signature) bool {
			return s.Type == o.Type && s.UUID == o.UUID && (o.UUID != "" || s.Offset == o.Offset) && strings.HasPrefix(s.Stamp, own)
		})
	}
	return slices.DeleteFunc(all, mine)
}

func contains(in []disklayout.Override, is func(disklayout.Override) bool) bool {
	return slices.ContainsFunc(in, is)
}

func seeded(n uint64) *rand.Rand { return rand.New(rand.NewPCG(n, 7)) }
