package disklayout_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/ingotmetal/ingot/disklayout"
)

func TestCanonical(t *testing.T) {
	for in, want := range map[string]string{
		"S1": "S1", "  S1\x00": "S1", "SAMSUNG MZVPV256": "SAMSUNG_MZVPV256", "a_ b": "a_b", "s1": "s1",
		"": "", "   ": "", "000000": "", "FFFF-ffff": "", "To Be Filled By O.E.M.": "", "Default string": "", "N/A": "", "0F": "0F", "none1": "none1",
	} {
		if got := disklayout.CanonicalSerial(in); got != want {
			t.Errorf("serial %q is %q, want %q", in, got, want)
		}
	}
	for in, want := range map[string]string{
		"0x5000C500A1B2C3D4": "5000c500a1b2c3d4", "naa.5000c500a1b2c3d4": "5000c500a1b2c3d4", "wwn-0x5000c500a1b2c3d4 ": "5000c500a1b2c3d4",
		"eui.0025385B71B0A1C2": "0025385b71b0a1c2", "0x0000000000000000": "", "0x": "", "0xFFFFFFFFFFFFFFFF": "",
	} {
		if got := disklayout.CanonicalWWN(in); got != want {
			t.Errorf("WWN %q is %q, want %q", in, got, want)
		}
	}
}

func TestCompressions(t *testing.T) {
	for zstd, want := range map[bool]string{
		false: "off on lz4 lzjb zle gzip gzip-1 gzip-2 gzip-3 gzip-4 gzip-5 gzip-6 gzip-7 gzip-8 gzip-9",
		true: "off on lz4 lzjb zle gzip gzip-1 gzip-2 gzip-3 gzip-4 gzip-5 gzip-6 gzip-7 gzip-8 gzip-9 zstd zstd-1 zstd-2 zstd-3 zstd-4 zstd-5 zstd-6 zstd-7 zstd-8" +
			" zstd-9 zstd-10 zstd-11 zstd-12 zstd-13 zstd-14 zstd-15 zstd-16 zstd-17 zstd-18 zstd-19",
	} {
		if got := strings.Join(disklayout.Compressions(zstd), " "); got != want {
			t.Errorf("zstd %t: %s", zstd, got)
		}
		for _, c := range strings.Fields(want) {
			mustPlan(t, asking(mirrorOf("H00", "H01"), func(q *disklayout.Request) { q.Compression, q.ImageHasZstd = c, zstd }), shelf(2)...)
		}
	}
}

// TestRequestTravels: an operator's request as JSON, with a rest by its name.
func TestRequestTravels(t *testing.T) {
	raw := `{"layout":"gpt","disks":[{"serial":"S1","rotational":false}],"overrides":[{"serial":"S1","type":"ext4","uuid":"f00d"}],"root":"rest","data":1073741824}`
	want := disklayout.Request{Layout: disklayout.GPT, Disks: []disklayout.Selector{{Serial: "S1", Rotational: &no}},
		Overrides: []disklayout.Override{{Serial: "S1", Type: "ext4", UUID: "f00d"}}, Root: disklayout.Rest, Data: gib}
	var got disklayout.Request
	if err := json.Unmarshal([]byte(raw), &got); err != nil || !reflect.DeepEqual(got, want) {
		t.Fatalf("%+v, %v", got, err)
	}
	if again, err := json.Marshal(got); err != nil || string(again) != raw {
		t.Errorf("%s, %v", again, err)
	}
	for _, size := range []string{`"all"`, `-1`, `1.5`, `18446744073709551615`, `18446744073709551616`, `true`} {
		if err := json.Unmarshal([]byte(`{"root":`+size+`}`), &got); err == nil {
			t.Errorf("root %s is %s", size, got.Root)
		}
	}
}

func TestTexts(t *testing.T) {
	s := stamp()
	if got := s.String(); got != own {
		t.Error(got)
	}
	if s.Epoch = 8; s.String() != own+"/8" {
		t.Error(s)
	}
	for _, bad := range []string{"", own[:35], own + "0", strings.ReplaceAll(own, "-", "0"), strings.Replace(own, "4", "g", 1)} {
		u := s.Server
		if err := u.UnmarshalText([]byte(bad)); err == nil || u != s.Server {
			t.Errorf("%q is %s", bad, u)
		}
	}
	var d disklayout.Digest
	for _, bad := range []string{"", strings.Repeat("a", 63), strings.Repeat("a", 66), strings.Repeat("g", 64)} {
		if err := d.UnmarshalText([]byte(bad)); err == nil || d != (disklayout.Digest{}) {
			t.Errorf("%q is %s", bad, d)
		}
	}
}

// TestUnusedOrder: unused disks that differ in nothing canonical are ordered by
// what they announced, not by their kernel names.
func TestUnusedOrder(t *testing.T) {
	for _, pair := range [][2]string{{"A B", "A_B"}, {"unknown", "none"}} {
		var digests []disklayout.Digest
		for _, names := range [][2]string{{"sdx", "sdy"}, {"sdy", "sdx"}} {
			one := with(ssd(pair[0]), func(d *disklayout.Disk) { d.Name = names[0] })
			two := with(ssd(pair[1]), func(d *disklayout.Disk) { d.Name = names[1] })
			digests = append(digests, mustPlan(t, onOne("S1"), ssd("S1"), one, two).Digest)
		}
		if digests[0] != digests[1] {
			t.Errorf("%q: names change the digest", pair)
		}
	}
}

// TestHostileTexts: what a machine calls itself cannot draw on the page.
func TestHostileTexts(t *testing.T) {
	d := ssd("S1")
	d.Model = "x\u202egnp" // prints right to left
	junk := with(ssd("S2"), func(d *disklayout.Disk) { d.Model = "\x1b[2J\nWARNINGS" })
	junk.Signatures = []disklayout.Signature{{Type: "a"}, {Type: "b"}, {Type: "c\nx"}, {Type: "d"}, {Type: "e"}}
	page := mustPlan(t, onOne("S1"), d, junk)
	text := page.Render()
	for _, want := range []string{`"x\u202egnp"`, `"\x1b[2J\nWARNINGS"`, `a, b, "c\nx", d, ...`} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s in\n%s", want, text)
		}
	}
}
