package disklayout_test

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/ingotmetal/ingot/disklayout"
)

// A refusal is one way to ask for what must not be.
type refusal struct {
	req   disklayout.Request
	disks []disklayout.Disk
	stamp disklayout.Stamp
	want  disklayout.Reason
	disk  string // the one that is named, or ""
	says  string // a part of the error's text
}

// with is a copy of d, changed.
func with(d disklayout.Disk, change func(*disklayout.Disk)) disklayout.Disk {
	change(&d)
	return d
}

// holding is an empty disk that is not.
func holding(d disklayout.Disk, sigs ...disklayout.Signature) disklayout.Disk {
	d.Signatures = sigs
	return d
}

func asking(req disklayout.Request, change func(*disklayout.Request)) disklayout.Request {
	change(&req)
	return req
}

// pick is a request for one gpt on what sel finds.
func pick(sel disklayout.Selector) disklayout.Request {
	return disklayout.Request{Layout: disklayout.GPT, Disks: []disklayout.Selector{sel}}
}

var (
	ext4 = disklayout.Signature{Type: "ext4", Offset: 1080, Label: "home", UUID: "f00d"}
	pool = disklayout.Signature{Type: "zfs_member", Offset: 262144, Label: "tank", UUID: "9187"}
)

func requestRefusals() map[string]refusal {
	one := []disklayout.Disk{ssd("S1")}
	r := func(want disklayout.Reason, says string, change func(*disklayout.Request)) refusal {
		return refusal{req: asking(onOne("S1"), change), disks: one, want: want, says: says}
	}
	p := func(want disklayout.Reason, says string, change func(*disklayout.Request)) refusal {
		return refusal{req: asking(mirrorOf("H00", "H01"), change), disks: shelf(2), want: want, says: says}
	}
	type R = *disklayout.Request
	return map[string]refusal{
		"no layout":              r(disklayout.LayoutUnknown, "none of gpt, single, mirror", func(q R) { q.Layout = "" }),
		"raidz2":                 r(disklayout.LayoutUnknown, "raidz2", func(q R) { q.Layout = "raidz2" }),
		"a layout with controls": r(disklayout.LayoutUnknown, `"\x1b[2J"`, func(q R) { q.Layout = "\x1b[2J" }),
		"gpt with a pool":        r(disklayout.FieldOutOfPlace, "no pool", func(q R) { q.Pool = "zones" }),
		"gpt with compression":   r(disklayout.FieldOutOfPlace, "no pool", func(q R) { q.Compression = "lz4" }),
		"gpt with ashift":        r(disklayout.FieldOutOfPlace, "no pool", func(q R) { q.Ashift = 12 }),
		"mirror with root":       p(disklayout.FieldOutOfPlace, "no esp, root", func(q R) { q.Root = gib }),
		"single with width":      {req: disklayout.Request{Layout: disklayout.Single, Disks: serials("S1"), Width: 2}, disks: one, want: disklayout.FieldOutOfPlace, says: "no width"},
		"gpt of none":            r(disklayout.DisksWanted, "1 to 1 disks, not 0", func(q R) { q.Disks = nil }),
		"gpt of two":             r(disklayout.DisksWanted, "not 2", func(q R) { q.Disks = serials("S1", "S2") }),
		"mirror of one":          p(disklayout.DisksWanted, "2 to 1024 disks, not 1", func(q R) { q.Disks = serials("H00") }),
		"empty selector":         r(disklayout.SelectorEmpty, "names nothing", func(q R) { q.Disks = make([]disklayout.Selector, 1) }),
		"a name alone":           r(disklayout.SelectorEmpty, "kernel name", func(q R) { q.Disks = []disklayout.Selector{{Name: "sda"}} }),
		"a name and a size":      r(disklayout.SelectorEmpty, "beside it", func(q R) { q.Disks = []disklayout.Selector{{Name: "sda", MinSize: 1}} }),
		"placeholder serial":     r(disklayout.SelectorInvalid, "placeholder", func(q R) { q.Disks = serials("0000000000") }),
		"placeholder WWN":        r(disklayout.SelectorInvalid, "placeholder", func(q R) { q.Disks = []disklayout.Selector{{WWN: "0x0000000000000000"}} }),
		"model of spaces":        r(disklayout.SelectorInvalid, "every model", func(q R) { q.Disks = []disklayout.Selector{{Model: "  "}} }),
		"transport of spaces":    r(disklayout.SelectorInvalid, "transport", func(q R) { q.Disks = []disklayout.Selector{{Transport: " "}} }),
		"sizes crossed":          r(disklayout.SelectorInvalid, "from 2 to 1", func(q R) { q.Disks = []disklayout.Selector{{MinSize: 2, MaxSize: 1}} }),
		"esp not of MiB":         r(disklayout.SizeInvalid, "the nearest are 99614720 and 100663296", func(q R) { q.ESP = 100_000_000 }),
		"esp of 32 MiB":          r(disklayout.SizeInvalid, "under", func(q R) { q.ESP = 32 * mib }),
		"esp the rest":           r(disklayout.SizeInvalid, "esp is the rest", func(q R) { q.ESP = disklayout.Rest }),
		"esp over FAT32":         r(disklayout.SizeInvalid, "2 TiB", func(q R) { q.ESP = 1 << 41 }),
		"two rests":              r(disklayout.SizeInvalid, "both the rest", func(q R) { q.Root = disklayout.Rest }),
		"root that overflows":    r(disklayout.SizeInvalid, "16 PiB", func(q R) { q.Root = 1<<63 + 1<<62 }),
		"data that overflows":    r(disklayout.SizeInvalid, "16 PiB", func(q R) { q.Data = disklayout.Rest - 1 }),
		"unknown compression":    p(disklayout.CompressionInvalid, "gzip-0", func(q R) { q.Compression = "gzip-0" }),
		"zstd without the image": p(disklayout.CompressionInvalid, "zstd-3", func(q R) { q.Compression = "zstd-3" }),
		"zstd-20":                p(disklayout.CompressionInvalid, "zstd-20", func(q R) { q.Compression, q.ImageHasZstd = "zstd-20", true }),
		"ashift 8":               p(disklayout.AshiftInvalid, "9 to 16", func(q R) { q.Ashift = 8 }),
		"ashift 17":              p(disklayout.AshiftInvalid, "9 to 16", func(q R) { q.Ashift = 17 }),
		"width of three":         p(disklayout.WidthInvalid, "mirrors of 3", func(q R) { q.Width = 3 }),
		"width below zero":       p(disklayout.WidthInvalid, "mirrors of -2", func(q R) { q.Width = -2 }),
		"pool mirror-1":          p(disklayout.PoolNameInvalid, "mirror-1", func(q R) { q.Pool = "mirror-1" }),
		"pool c0t0":              p(disklayout.PoolNameInvalid, "c0t0", func(q R) { q.Pool = "c0t0" }),
		"pool of a shell":        p(disklayout.PoolNameInvalid, "a;b", func(q R) { q.Pool = "a;b" }),
		"pool of unicode":        p(disklayout.PoolNameInvalid, "zöne", func(q R) { q.Pool = "zöne" }),
		"image of controls":      r(disklayout.ImageInvalid, "control", func(q R) { q.Image = "sha256:\n" }),
		"boot without a digest":  r(disklayout.BootInvalid, "64 hexadecimal", func(q R) { q.Boot = "sha256:d4735e" }),
		"boot in upper case":     r(disklayout.BootInvalid, "64 hexadecimal", func(q R) { q.Boot = "sha256:" + strings.Repeat("A", 64) }),
		"boot of another sum":    r(disklayout.BootInvalid, "64 hexadecimal", func(q R) { q.Boot = "sha512:" + strings.Repeat("a", 64) }),
		"mirror with boot":       p(disklayout.FieldOutOfPlace, "boots nothing", func(q R) { q.Boot = "sha256:" + strings.Repeat("a", 64) }),
		"override of nothing":    r(disklayout.OverrideInvalid, "names no disk", func(q R) { q.Overrides = []disklayout.Override{{Serial: "S1"}} }),
		"override not needed":    r(disklayout.OverrideInvalid, "nothing needs", func(q R) { q.Overrides = []disklayout.Override{{Serial: "S1", Type: "ext4"}} }),
	}
}

func selectionRefusals() map[string]refusal {
	type D = *disklayout.Disk
	twins := func(wwn string) []disklayout.Disk {
		return []disklayout.Disk{ssd("S1"), with(ssd("S1"), func(d D) { d.Name, d.WWN = "sdb", wwn })}
	}
	on := func(want disklayout.Reason, says string, change func(D)) refusal {
		return refusal{req: onOne("S1"), disks: []disklayout.Disk{with(ssd("S1"), change)}, want: want, disk: "S1", says: says}
	}
	return map[string]refusal{
		"gone":                      {req: onOne("GONE"), disks: []disklayout.Disk{ssd("S1")}, want: disklayout.NoSuchDisk, says: "none of the 1 announced disks is serial GONE"},
		"a part of a serial":        {req: onOne("S1"), disks: []disklayout.Disk{ssd("S10")}, want: disklayout.NoSuchDisk},
		"no disks at all":           {req: onOne("S1"), want: disklayout.NoSuchDisk},
		"rotation not announced":    {req: pick(disklayout.Selector{Rotational: &no}), disks: []disklayout.Disk{with(ssd("S1"), func(d D) { d.Rotational = nil })}, want: disklayout.NoSuchDisk, says: "rotational false"},
		"two of a kind":             {req: pick(disklayout.Selector{Rotational: &no}), disks: []disklayout.Disk{nvme("N1"), ssd("S1")}, want: disklayout.Ambiguous, says: "2 disks are rotational false: N1, S1"},
		"one of two has no serial":  {req: pick(disklayout.Selector{Transport: "sata"}), disks: []disklayout.Disk{ssd("S1"), with(ssd(""), func(d D) { d.Name = "sdz" })}, want: disklayout.Ambiguous, says: "sdz, S1"},
		"one of two is full":        {req: pick(disklayout.Selector{Transport: "sata"}), disks: []disklayout.Disk{ssd("S1"), holding(ssd("S2"), pool)}, want: disklayout.Ambiguous},
		"twice the same":            {req: mirrorOf("H00", "H00"), disks: shelf(2), want: disklayout.DiskTwice, disk: "H00"},
		"by serial and by WWN":      {req: disklayout.Request{Layout: disklayout.Mirror, Disks: []disklayout.Selector{{Serial: "H00"}, {WWN: "0x5000C50000000001"}}}, disks: shelf(2), want: disklayout.DiskTwice, disk: "H00"},
		"a name that moved":         {req: pick(disklayout.Selector{Serial: "S1", Name: "sdb"}), disks: []disklayout.Disk{ssd("S1"), with(ssd("S2"), func(d D) { d.Name = "sdb" })}, want: disklayout.NameMismatch, disk: "S1", says: "is sda, not sdb"},
		"removable":                 on(disklayout.Removable, "removable", func(d D) { d.Removable = true }),
		"usb":                       on(disklayout.USB, "on USB", func(d D) { d.Transport = "USB " }),
		"read-only":                 on(disklayout.ReadOnly, "read-only", func(d D) { d.ReadOnly = true }),
		"no medium":                 on(disklayout.NoMedium, "0", func(d D) { d.Size = 0 }),
		"no transport":              on(disklayout.TransportUnknown, "attached", func(d D) { d.Transport = "" }),
		"nobody looked":             on(disklayout.NotProbed, "looked", func(d D) { d.Signatures = nil }),
		"no logical sector":         on(disklayout.SectorUnknown, "sector", func(d D) { d.LogicalSector = 0 }),
		"no physical sector":        on(disklayout.SectorUnknown, "sector", func(d D) { d.PhysicalSector = 0 }),
		"520-byte sectors":          on(disklayout.SectorUnsupported, "520", func(d D) { d.LogicalSector = 520 }),
		"physical below logical":    on(disklayout.SectorUnsupported, "4096 bytes logical, 512", func(d D) { d.LogicalSector, d.PhysicalSector = 4096, 512 }),
		"physical of three sectors": on(disklayout.SectorUnsupported, "1536", func(d D) { d.PhysicalSector = 1536 }),
		"an exabyte":                on(disklayout.SizeAbsurd, "1152921504606846976", func(d D) { d.Size = 1 << 60 }),
		"the largest number":        on(disklayout.SizeAbsurd, "18446744073709551104", func(d D) { d.Size = 1<<64 - 512 }),
		"half a sector":             on(disklayout.SizeAbsurd, "sectors of 512", func(d D) { d.Size += 256 }),
		"a model of controls":       on(disklayout.TextInvalid, "plain text", func(d D) { d.Model = "x\x1b[2J" }),
		"a label of controls":       on(disklayout.TextInvalid, "plain text", func(d D) { d.Signatures = []disklayout.Signature{{Type: "ext4", Label: "\n"}} }),
		"serial of zeros":           {req: pick(disklayout.Selector{Transport: "sata"}), disks: []disklayout.Disk{ssd("00000000")}, want: disklayout.NoSerial, disk: "sda"},
		"serial unknown":            {req: pick(disklayout.Selector{Transport: "sata"}), disks: []disklayout.Disk{ssd("Unknown")}, want: disklayout.NoSerial, disk: "sda"},
		"one serial, two WWNs":      {req: onOne("S1"), disks: twins("0xb"), want: disklayout.DuplicateSerial, disk: "S1"},
		"and a WWN to choose":       {req: pick(disklayout.Selector{Serial: "S1", WWN: "0xb"}), disks: twins("0xb"), want: disklayout.DuplicateSerial, disk: "S1"},
		"and no WWN":                {req: onOne("S1"), disks: twins(""), want: disklayout.DuplicateSerial, disk: "S1"},
		"twin on USB":               {req: onOne("S1"), disks: []disklayout.Disk{ssd("S1"), with(ssd("S1"), func(d D) { d.Transport, d.WWN = "usb", "" })}, want: disklayout.DuplicateSerial, disk: "S1"},
		"padded twin":               {req: onOne("S1"), disks: []disklayout.Disk{ssd("S1"), with(ssd("S1  "), func(d D) { d.WWN = "" })}, want: disklayout.DuplicateSerial, disk: "S1"},
		"two paths":                 {req: onOne("S1"), disks: twins(ssd("").WWN), want: disklayout.ManyPaths, disk: "S1"},
		"too many disks":            {req: onOne("S1"), disks: make([]disklayout.Disk, disklayout.MaxDisks+1), want: disklayout.TooManyDisks, says: "1025"},
		"server of zeros":           {req: onOne("S1"), disks: []disklayout.Disk{ssd("S1")}, stamp: disklayout.Stamp{Epoch: 1}, want: disklayout.StampInvalid},
	}
}

func layoutRefusals() map[string]refusal {
	type D = *disklayout.Disk
	small := func(d disklayout.Disk, size uint64) []disklayout.Disk {
		d.Size = size
		return []disklayout.Disk{d}
	}
	full := func(sig disklayout.Signature, o ...disklayout.Override) refusal {
		return refusal{req: asking(onOne("S1"), func(q *disklayout.Request) { q.Overrides = o }),
			disks: []disklayout.Disk{holding(ssd("S1"), sig)}, want: disklayout.ForeignSignature, disk: "S1"}
	}
	member := full(pool)
	member.want, member.says = disklayout.PoolMember, `zfs_member tank (9187) at byte 262144, which has not this server's stamp (DISK-4); import the pool`
	named := full(ext4)
	named.says = `override with {"serial":"S1","type":"ext4","uuid":"f00d"}`
	nameless := full(disklayout.Signature{Type: "swap", Offset: 4086})
	nameless.says = `override with {"serial":"S1","type":"swap","offset":4086}`
	partitions := refusal{req: onOne("S1"), disks: []disklayout.Disk{with(ssd("S1"), func(d D) {
		d.Partitions = []disklayout.Partition{{Number: 1, Start: mib, Size: mib, UUID: "p1"}}
	})}, want: disklayout.ForeignSignature, says: "partition (p1) at byte 1048576"}
	mixed := []disklayout.Disk{nvme("H00"), ssd("H01")}
	return map[string]refusal{
		"of 1 MiB":              {req: onOne("S1"), disks: small(ssd("S1"), mib), want: disklayout.TooSmall, disk: "S1"},
		"of one sector":         {req: onOne("S1"), disks: small(ssd("S1"), 512), want: disklayout.TooSmall},
		"of all but the backup": {req: onOne("S1"), disks: small(ssd("S1"), 33*gib-512*mib+2*mib), want: disklayout.TooSmall, says: "1048576 bytes short"},
		"pool of 63 MiB":        {req: disklayout.Request{Layout: disklayout.Single, Disks: serials("S1")}, disks: small(ssd("S1"), 63*mib), want: disklayout.TooSmall, disk: "S1", says: "1048576 less"},
		"small esp on 4Kn":      {req: asking(onOne("N1"), func(q *disklayout.Request) { q.ESP = 259 * mib }), disks: []disklayout.Disk{nvme("N1")}, want: disklayout.ESPTooSmall4Kn, disk: "N1"},
		"mixed sectors":         {req: mirrorOf("H00", "H01"), disks: mixed, want: disklayout.MixedSectors, disk: "H01", says: "those of disk H00 4096"},
		"ashift below a sector": {req: asking(mirrorOf("H00", "H01"), func(q *disklayout.Request) { q.Ashift = 9 }), disks: mixed, want: disklayout.AshiftInvalid, disk: "H00"},
		"a filesystem":          named,
		"a swap without a UUID": nameless,
		"a pool":                member,
		"an unknown signature":  full(disklayout.Signature{Type: "something new"}),
		"another's stamp":       full(disklayout.Signature{Type: "gpt", Stamp: "4c4c4544-0042-3510-8054-b7c04f4c4232"}),
		"a stamp like ours":     full(disklayout.Signature{Type: "gpt", Stamp: own + "/x"}),
		"partitions, no table":  partitions,
		"override of another disk": full(ext4,
			disklayout.Override{Serial: "S2", Type: "ext4", UUID: "f00d"}),
		"override of another type": full(ext4, disklayout.Override{Serial: "S1", Type: "xfs", UUID: "f00d"}),
		"override of another UUID": full(ext4, disklayout.Override{Serial: "S1", Type: "ext4", UUID: "beef"}),
		"override by place alone":  full(ext4, disklayout.Override{Serial: "S1", Type: "ext4", Offset: 1080}),
		"override of another place": full(disklayout.Signature{Type: "swap", Offset: 4086},
			disklayout.Override{Serial: "S1", Type: "swap"}),
	}
}

func allRefusals() map[string]refusal {
	out := map[string]refusal{}
	for _, m := range []map[string]refusal{requestRefusals(), selectionRefusals(), layoutRefusals()} {
		maps.Copy(out, m)
	}
	return out
}

func TestRefusals(t *testing.T) {
	for name, c := range allRefusals() {
		t.Run(name, func(t *testing.T) {
			if c.stamp == (disklayout.Stamp{}) {
				c.stamp = stamp()
			}
			p, err := disklayout.Realize(c.req, c.disks, c.stamp)
			e := refused(t, c.want, p, err)
			if c.disk != "" && e.Disk != c.disk {
				t.Errorf("names disk %q, want %q", e.Disk, c.disk)
			}
			if !strings.Contains(err.Error(), c.says) {
				t.Errorf("%q does not say %q", err, c.says)
			}
			if strings.ContainsFunc(err.Error(), func(r rune) bool { return r < ' ' }) {
				t.Errorf("control characters in %q", err)
			}
		})
	}
}

// TestEveryReasonIsTried wants a case for each reason that a refusal can have.
func TestEveryReasonIsTried(t *testing.T) {
	tried := []disklayout.Reason{
		disklayout.Malformed,                           // by TestParseDisksRefuses
		disklayout.PlanChanged, disklayout.DiskChanged, // by TestVerify
	}
	for _, c := range allRefusals() {
		tried = append(tried, c.want)
	}
	for _, r := range disklayout.AllReasons() {
		if !slices.Contains(tried, r) {
			t.Errorf("no case is refused for %s", r)
		}
	}
}

// TestMissingBytes adds what a refusal says is missing, and then it fits.
func TestMissingBytes(t *testing.T) {
	for _, d := range []disklayout.Disk{ssd("S1"), nvme("S1")} {
		d.Size = 20 * gib
		p, err := disklayout.Realize(onOne("S1"), []disklayout.Disk{d}, stamp())
		missing := refused(t, disklayout.TooSmall, p, err).Missing
		d.Size += missing - mib
		_, err = disklayout.Realize(onOne("S1"), []disklayout.Disk{d}, stamp())
		if e, ok := errors.AsType[*disklayout.Refused](err); !ok || e.Missing != mib {
			t.Errorf("one MiB less than what is missing: %v", err)
		}
		d.Size += mib
		mustPlan(t, onOne("S1"), d)
	}
}
