package apply_test

import (
	"context"
	"errors"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/ingotmetal/ingot/disklayout"
	"github.com/ingotmetal/ingot/disklayout/apply"
	"github.com/ingotmetal/ingot/disklayout/probe/probetest"
)

// TestForeignSignaturesRefuse plants each of the public table: the planner
// refuses what a look finds, and an install refuses what came after its plan.
func TestForeignSignaturesRefuse(t *testing.T) {
	raw, err := os.ReadFile("../testdata/signatures.json")
	if err != nil {
		t.Fatal(err)
	}
	vectors, err := probetest.Vectors(raw)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range vectors {
		f := small("S1", 512)
		o := order(t, f, request(f), stampOf(own, 7))
		d, _, err := v.OnDisk(int64(f.disk.Size))
		if err != nil {
			t.Fatal(err)
		}
		for at, what := range d.Planted {
			f.plant(at, string(what))
		}
		if _, err := planned(t, f, request(f), stampOf(own, 7)); !foreign(err) {
			t.Errorf("%s: the planner says %v", v.Name, err)
		}
		if _, err := install(t, o, nil, f); !foreign(err) || f.writes != 0 || f.held {
			t.Errorf("%s: an install says %v after %d writes", v.Name, err, f.writes)
		}
		hidden := small("S1", 512)
		for at, what := range d.Planted {
			if at >= 0 && at < 4*mib {
				hidden.plant(34*mib+at, string(what)) // where the root partition is to be
			}
		}
		if len(hidden.medium) == 0 {
			continue
		}
		if _, err := install(t, o, nil, hidden); err == nil || hidden.writes != 0 {
			t.Errorf("%s, where no table shows it: %v after %d writes", v.Name, err, hidden.writes)
		}
	}
}

func foreign(err error) bool {
	e, ok := errors.AsType[*disklayout.Refused](err)
	return ok && (e.Reason == disklayout.ForeignSignature || e.Reason == disklayout.PoolMember) && e.Req == "DISK-4"
}

// TestRefusals changes one thing between the plan and the install.
func TestRefusals(t *testing.T) {
	type world struct {
		o     *apply.Order
		f     *fake
		disks *[]apply.Source
	}
	planner := func(r disklayout.Reason) func(error) bool {
		return func(err error) bool {
			e, ok := errors.AsType[*disklayout.Refused](err)
			return ok && e.Reason == r
		}
	}
	ours := func(r apply.Reason) func(error) bool {
		return func(err error) bool {
			e, ok := errors.AsType[*apply.Refused](err)
			return ok && e.Reason == r
		}
	}
	for name, c := range map[string]struct {
		change func(w world)
		want   func(error) bool
	}{
		"another digest approved": {func(w world) { w.o.Approved[0]++ }, ours(apply.NotApproved)},
		"the plan changed":        {func(w world) { w.o.Plan.Table.Parts[0].Last++ }, ours(apply.NotApproved)},
		"its digest too": {func(w world) {
			w.o.Plan.Table.Parts[0].Last++
			w.o.Plan.Digest = w.o.Plan.Sum()
		}, ours(apply.NotApproved)},
		"no epoch":                    {func(w world) { w.o.Stamp.Epoch = 0 }, ours(apply.EpochMissing)},
		"another server":              {func(w world) { w.o.Stamp = stampOf(foe, 7) }, planner(disklayout.StampInvalid)},
		"an image nobody planned":     {func(w world) { w.o.Image = strings.NewReader("x") }, ours(apply.ImageUnexpected)},
		"another serial":              {func(w world) { w.f.disk.Serial = "S10" }, planner(disklayout.NoSuchDisk)},
		"a second disk with it":       {func(w world) { *w.disks = append(*w.disks, small(" S1 ", 512)) }, planner(disklayout.DuplicateSerial)},
		"a disk that does not answer": {func(w world) { *w.disks = append(*w.disks, apply.File{Path: "nowhere"}) }, ours(apply.Unidentified)},
		"removable":                   {func(w world) { w.f.disk.Removable = true }, planner(disklayout.Removable)},
		"on USB":                      {func(w world) { w.f.disk.Transport = "usb" }, planner(disklayout.USB)},
		"read-only":                   {func(w world) { w.f.disk.ReadOnly = true }, planner(disklayout.ReadOnly)},
		"larger":                      {func(w world) { w.f.disk.Size += mib }, planner(disklayout.DiskChanged)},
		"other sectors":               {func(w world) { w.f.disk.LogicalSector = 4096 }, planner(disklayout.DiskChanged)},
		"held":                        {func(w world) { w.f.held = true }, ours(apply.Busy)},
		"unreadable":                  {func(w world) { w.f.dead = true }, ours(apply.NotLooked)},
		"the swap after the plan":     {func(w world) { (*w.disks)[1] = changed{w.f, "S2"} }, planner(disklayout.NoSuchDisk)},
	} {
		t.Run(name, func(t *testing.T) {
			f, other := small("S1", 512), small("S2", 512)
			o := order(t, f, request(f), stampOf(own, 7))
			disks := []apply.Source{other, f}
			c.change(world{&o, f, &disks})
			_, err := install(t, o, nil, disks...)
			if !c.want(err) {
				t.Errorf("got %v", err)
			}
			if f.writes+other.writes != 0 {
				t.Errorf("%d and %d writes", f.writes, other.writes)
			}
			if e, ok := errors.AsType[*apply.Refused](err); ok && (e.Code() == "" || !strings.Contains(e.Error(), "; ")) {
				t.Errorf("it does not say all: %v", e)
			}
		})
	}
}

// changed is another disk once it is opened.
type changed struct {
	*fake
	opened string
}

func (c changed) Claim() (apply.Device, error) { return c, nil }

func (c changed) Identity() (disklayout.Disk, error) {
	d, err := c.fake.Identity()
	if c.fake.rereads++; c.fake.rereads > 1 {
		d.Serial = c.opened
	}
	return d, err
}

func TestAPoolIsRefused(t *testing.T) {
	f := small("S1", 512)
	p, err := planned(t, f, disklayout.Request{Layout: disklayout.Single, Disks: []disklayout.Selector{{Serial: "S1"}}}, stampOf(own, 7))
	if err != nil {
		t.Fatal(err)
	}
	_, err = install(t, apply.Order{Plan: p, Stamp: stampOf(own, 7), Approved: p.Digest}, nil, f)
	refusedAs(t, err, apply.PoolUnsupported)
	if e, ok := errors.AsType[*apply.Refused](err); !ok || e.Code() != "UNSUPPORTED" {
		t.Errorf("got %v", err)
	}
}

// TestStamps is whose layout may be rebuilt: this server's, by another attempt
// that says so in its plan; another server's never.
func TestStamps(t *testing.T) {
	f := small("S1", 512)
	first := order(t, f, request(f), stampOf(own, 3))
	if _, err := install(t, first, nil, f); err != nil {
		t.Fatal(err)
	}
	f.plant(40*mib+0x438, "\x53\xef") // what has been written in our partitions is ours
	f.plant(40*mib+0x400, "\x01")
	first.Stamp.Epoch = 4
	if _, err := install(t, first, nil, f); !foreign(err) {
		t.Errorf("a plan that does not speak of the older layout: %v", err)
	}
	p, err := planned(t, f, request(f), stampOf(foe, 5))
	if !foreign(err) {
		t.Errorf("another server plans over it: %+v, %v", p, err)
	}
	writes := f.writes
	o := order(t, f, request(f), stampOf(own, 5))
	if len(o.Plan.Warnings) == 0 || o.Plan.Warnings[0].Kind != disklayout.OwnDestroyed {
		t.Errorf("nobody is told: %+v", o.Plan.Warnings)
	}
	if _, err := install(t, o, nil, f); err != nil {
		t.Fatal(err)
	}
	installed(t, f, o, nil)
	if f.writes == writes {
		t.Error("nothing was written")
	}
}

func TestAWrongImageDoesNotBoot(t *testing.T) {
	f := small("S1", 512)
	image, name := content(1 << 20)
	req := request(f)
	req.Image = name
	o := order(t, f, req, stampOf(own, 7))
	wrong := append([]byte("x"), image[1:]...)
	_, err := install(t, o, wrong, f)
	failedAs(t, err, apply.ImageMismatch)
	found := look(f)
	if len(found.Partitions) != 0 || found.Mark == nil || found.Mark.Done {
		t.Errorf("it has %+v, mark %+v", found.Partitions, found.Mark)
	}
	large := make([]byte, 5*mib)
	o.Image = strings.NewReader(string(large))
	_, err = apply.Install(context.Background(), o, []apply.Source{f}, nil)
	failedAs(t, err, apply.ImageTooLarge)
	_, err = install(t, o, large, f)
	refusedAs(t, err, apply.ImageTooLarge)
	o = order(t, f, req, stampOf(own, 8))
	if _, err := install(t, o, image, f); err != nil {
		t.Fatal(err)
	}
	installed(t, f, o, image)
	_, err = apply.Install(context.Background(), o, []apply.Source{f}, nil)
	refusedAs(t, err, apply.ImageMissing)
}

// TestABrokenMediumClaimsNothing fails every write from the n-th on.
func TestABrokenMediumClaimsNothing(t *testing.T) {
	for _, why := range []error{syscall.EIO, syscall.ENOSPC} {
		for cut := range 64 {
			f := small("S1", 512)
			f.cut, f.broken = cut, why
			_, err := install(t, order(t, f, request(f), stampOf(own, 7)), nil, f)
			if err == nil && f.writes == cut && cut >= 8 {
				break // nothing was left to fail
			}
			failedAs(t, err, apply.DeviceFailed)
			if !errors.Is(err, why) || why == syscall.ENOSPC && !strings.Contains(err.Error(), "want of room") {
				t.Errorf("got %v", err)
			}
		}
	}
}

// TestAMediumThatLiesIsFound returns one byte otherwise than it was written.
func TestAMediumThatLiesIsFound(t *testing.T) {
	image, name := content(1 << 20)
	for _, at := range []int64{446 + 12, 600, 1100, 768<<10 + 100, 1*mib + 20, 1*mib + 32*512, 34*mib + 1000, 64*mib - 100, 64*mib - 10000} {
		f := small("S1", 512)
		req := request(f)
		req.Image = name
		o := order(t, f, req, stampOf(own, 7))
		f.lies = at
		_, err := install(t, o, image, f)
		failedAs(t, err, apply.ReadBack)
	}
}

func TestAnEndedContextWritesNoMore(t *testing.T) {
	f := small("S1", 512)
	o := order(t, f, request(f), stampOf(own, 7))
	ctx, cancel := context.WithCancel(context.Background())
	_, err := apply.Install(ctx, o, []apply.Source{f}, func(p apply.Progress) {
		if p.Step == apply.Format {
			cancel()
		}
	})
	failedAs(t, err, apply.Canceled)
	if f.writes != 1 || !errors.Is(err, context.Canceled) {
		t.Errorf("%d writes, %v", f.writes, err)
	}
	if _, err := install(t, o, nil, f); err != nil {
		t.Fatal(err)
	}
	installed(t, f, o, nil)
}

// TestDoneIsDone lets a booted system use its disk: the same order writes
// nothing, and refuses once the table is another.
func TestDoneIsDone(t *testing.T) {
	f := small("S1", 512)
	o := order(t, f, request(f), stampOf(own, 7))
	if _, err := install(t, o, nil, f); err != nil {
		t.Fatal(err)
	}
	f.plant(2*mib, "a file on the ESP")
	f.plant(34*mib+1080, "\x53\xef")
	f.writes = 0
	if r, err := install(t, o, nil, f); err != nil || !r.Already {
		t.Errorf("%+v, %v", r, err)
	}
	f.plant(1024+56, "r")
	_, err := install(t, o, nil, f)
	refusedAs(t, err, apply.ChangedSince)
	if f.writes != 0 {
		t.Errorf("%d writes", f.writes)
	}
}

// TestAStaleKernelIsTold has a disk whose table the kernel does not take: it is
// installed, and not said to be in use.
func TestAStaleKernelIsTold(t *testing.T) {
	f := small("S1", 512)
	o := order(t, f, request(f), stampOf(own, 7))
	f.stale = syscall.EBUSY
	_, err := install(t, o, nil, f)
	failedAs(t, err, apply.KernelStale)
	installed(t, f, o, nil)
	f.stale = nil
	if r, err := install(t, o, nil, f); err != nil || !r.Already {
		t.Errorf("%+v, %v", r, err)
	}
}
