package disklayout_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/ingotmetal/ingot/disklayout"
	"pgregory.net/rapid"
)

// disksOf is a sysinfo with one disk of these members.
func disksOf(members string) string { return `{"disks":[{` + members + `}]}` }

func TestParseDisks(t *testing.T) {
	unsaid := disklayout.Disk{Removable: true, ReadOnly: true}
	for raw, want := range map[string]disklayout.Disk{
		disksOf(``): unsaid,
		disksOf(`"name":null,"signatures":null,"removable":null,"size":null`):              unsaid,
		disksOf(`"Name":"sda","REMOVABLE":false,"firmware":{"a":[1,{"a":2}]},"x":1.5e300`): unsaid,
		disksOf(`"serial":"  8DH7VKWH            \u0000\u0000"`):                           with(unsaid, func(d *disklayout.Disk) { d.Serial = "8DH7VKWH" }),
		disksOf(`"signatures":[],"partitions":[]`): with(unsaid, func(d *disklayout.Disk) {
			d.Signatures, d.Partitions = []disklayout.Signature{}, []disklayout.Partition{}
		}),
		disksOf(`"size":9223372036854775807,"removable":false,"rotational":true,"wwn":"0x"`): with(unsaid, func(d *disklayout.Disk) { d.Size, d.Removable, d.Rotational, d.WWN = 1<<63-1, false, &yes, "0x" }),
		disksOf(`"signatures":[{"type":"gpt","offset":512,"label":null,"x":[]}]`):            holding(unsaid, disklayout.Signature{Type: "gpt", Offset: 512}),
	} {
		got, err := disklayout.ParseDisks([]byte(raw))
		if err != nil || len(got) != 1 || !reflect.DeepEqual(got[0], want) {
			t.Errorf("%s\ngot  %+v, %v\nwant %+v", raw, got, err, want)
		}
	}
	if got, err := disklayout.ParseDisks([]byte(`{"disks":[],"nics":[{"name":"eth0"}]}`)); err != nil || got == nil || len(got) != 0 {
		t.Errorf("no disks: %v, %v", got, err)
	}
}

func TestParseDisksRefuses(t *testing.T) {
	many := `{"disks":[` + strings.Repeat(`{},`, disklayout.MaxDisks) + `{}]}`
	for raw, says := range map[string]string{
		``:                            "is no JSON object",
		`null`:                        "is no JSON object",
		`[]`:                          "is no JSON object",
		`{`:                           "does not end",
		`{"disks":[]`:                 "does not end",
		`{"disks":[]} {}`:             "after its end",
		`{"uuid":"x"}`:                "disks is missing",
		`{"Disks":[]}`:                "disks is missing",
		`{"disks":null}`:              "disks is no array",
		`{"disks":{}}`:                "disks is no array",
		`{"disks":[],"disks":[]}`:     "disks is there twice",
		`{"a":1,"a":1,"disks":[]}`:    "a is there twice",
		`{"\u001b":1,"\u001b":1}`:     "* is there twice",
		"{\"disks\":[],\"\xff\":1}":   "not UTF-8",
		`{"disks":[3]}`:               "disks[0] is no JSON object",
		`{"disks":[{},{"size":"3"}]}`: "disks[1].size is no whole number",
		disksOf(`"serial":"a","\u0073erial":"b"`):           "disks[0].serial is there twice",
		disksOf(`"name":3`):                                 "disks[0].name is no string",
		disksOf(`"serial":["a"]`):                           "serial is no string",
		disksOf(`"model":"a\nb"`):                           "control characters",
		disksOf(`"model":"a\u0085b"`):                       "control characters",
		disksOf(`"wwn":"` + strings.Repeat("a", 129) + `"`): "over 128 bytes",
		disksOf(`"size":-1`):                                "size is no whole number",
		disksOf(`"size":1e3`):                               "size is no whole number",
		disksOf(`"size":1.0`):                               "size is no whole number",
		disksOf(`"size":9223372036854775808`):               "size is no whole number under 2^63",
		disksOf(`"logical_sector":4294967296`):              "under 2^32",
		disksOf(`"removable":0`):                            "removable is neither",
		disksOf(`"read_only":"no"`):                         "read_only is neither",
		disksOf(`"rotational":1`):                           "rotational is neither",
		disksOf(`"signatures":{}`):                          "signatures is no array",
		disksOf(`"signatures":[null]`):                      "signatures[0] is no JSON object",
		disksOf(`"signatures":[{}]`):                        "signatures[0].type is missing",
		disksOf(`"signatures":[{"type":"x","offset":"0"}]`): "signatures[0].offset is no",
		disksOf(`"partitions":[{"number":-1}]`):             "partitions[0].number is no",
		disksOf(`"signatures":[` + strings.Repeat(`{"type":"a"},`, 1024) + `{"type":"a"}]`): "over 1024 entries",
		many: "disks has over 1024 entries",
		`{"disks":[],"x":"` + strings.Repeat("a", disklayout.MaxSysinfo) + `"}`: "over 256 KiB",
		`{"disks":[],"x":` + strings.Repeat("[", 100_000) + `}`:                 "x is no JSON",
	} {
		got, err := disklayout.ParseDisks([]byte(raw))
		e := refused(t, disklayout.Malformed, disklayout.Plan{}, err)
		if got != nil || e.Code() != "INVALID_INPUT" || !strings.Contains(strings.Replace(err.Error(), "malformed", "sysinfo", 1), says) {
			t.Errorf("%.60s\ngot  %v, %v\nwant %s", raw, got, err, says)
		}
	}
}

// TestDisksTravel: what a Go agent marshals is what the control plane reads.
func TestDisksTravel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		disks := anyFleet(t, 1)
		raw, err := json.Marshal(map[string]any{"disks": disks, "uuid": own})
		if err != nil {
			t.Fatal(err)
		}
		if got, err := disklayout.ParseDisks(raw); err != nil || !reflect.DeepEqual(got, disks) {
			t.Fatalf("%s\ngot  %+v, %v\nwant %+v", raw, got, err, disks)
		}
	})
}

// FuzzParseDisks: whatever a machine announces is refused with a type, or can be
// planned on or refused with a type, and no page shows what does not print.
func FuzzParseDisks(f *testing.F) {
	f.Add([]byte(sysinfo))
	f.Add([]byte(disksOf(`"serial":"S1","size":240057409536,"logical_sector":512,"physical_sector":512,"transport":"sata","removable":false,"read_only":false,"signatures":[]`)))
	f.Add([]byte(disksOf(`"partitions":[{"number":1,"start":1048576}],"signatures":null`)))
	f.Add([]byte(`{"disks":[],"disks":[{}]}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		disks, err := disklayout.ParseDisks(raw)
		if err != nil {
			refused(t, disklayout.Malformed, disklayout.Plan{}, err)
			return
		}
		for i, d := range disks {
			req := onOne(d.Serial)
			if i%2 == 1 {
				req = pick(disklayout.Selector{MinSize: 1, Transport: d.Transport})
			}
			p, err := disklayout.Realize(req, disks, stamp())
			text := p.Render() + fmt.Sprint(err)
			if strings.ContainsFunc(text, func(r rune) bool { return r < ' ' && r != '\n' || r == 0x7f || r == 0x202e }) {
				t.Fatalf("does not print: %q", text)
			}
			if err == nil && (p.Sum() != p.Digest || len(p.Disks)+len(p.Unused) != len(disks) || p.Verify(disks, stamp()) != nil) {
				t.Fatalf("%+v does not hold", p)
			}
		}
	})
}
