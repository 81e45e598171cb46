package redfish

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stmcginnis/gofish/schemas"

	"github.com/ingotmetal/ingot/bmc"
	"github.com/ingotmetal/ingot/bmc/wire"
)

// seed gives a fuzz target the bodies of the samples, and some that are none.
func seed(f *testing.F) {
	f.Helper()
	for _, name := range []string{"samples-sushy.json", "samples-bmclib-redfish.json", "samples-bmclib-lenovo.json"} {
		raw, err := os.ReadFile("testdata/" + name)
		if err != nil {
			f.Fatal(err)
		}
		var all map[string]json.RawMessage
		if err := json.Unmarshal(raw, &all); err != nil {
			f.Fatal(err)
		}
		for _, body := range all {
			f.Add([]byte(body))
		}
	}
	for _, odd := range []string{"", "null", "[]", "{}", `{"error":null}`, `{"error":{"@Message.ExtendedInfo":{}}}`, `{}{}`, `{"PowerState":{}}`, `{"TaskState":1}`, "\xff"} {
		f.Add([]byte(odd))
	}
}

// fuzzed is a session that needs no BMC.
func fuzzed(d doc) *Session {
	return &Session{host: host{path: "/redfish/v1/Systems/1", doc: d}, quirks: Quirks(), turn: make(chan struct{}, 1)}
}

func FuzzPower(f *testing.F) {
	seed(f)
	f.Fuzz(func(t *testing.T, body []byte) {
		raw, err := decodePower(&wire.Response{Status: 200, Body: body})
		if s := stateOf(raw); err != nil && s != bmc.Unknown {
			t.Errorf("%s of %q", s, body)
		}
	})
}

func FuzzMessages(f *testing.F) {
	seed(f)
	f.Fuzz(func(t *testing.T, body []byte) {
		list := readMessages(body)
		e := &bmc.Error{Kind: bmc.Protocol, Status: 403}
		refine(e, list)
		if e.Kind == "" || len(list) > maxMessages+1 {
			t.Errorf("%+v of %d messages", e, len(list))
		}
		e.Why = detail(list)
		if len(e.Error()) > 2*bmc.MaxWhy {
			t.Errorf("an error of %d bytes", len(e.Error()))
		}
		fields := map[string]any{"Image": "x"}
		for range 8 {
			more(fields, list, "https")
		}
		if len(fields) > 7 {
			t.Errorf("%v", fields)
		}
	})
}

// FuzzResource reads a body as each resource that the driver decodes itself.
func FuzzResource(f *testing.F) {
	seed(f)
	f.Fuzz(func(t *testing.T, body []byte) {
		d := read(body)
		s := fuzzed(d)
		c := s.call("fuzz", 0)
		for _, l := range append(d.at("Links").links("Chassis"), d.link("Storage"), d.link("Links", "Sessions"), d.link("@Redfish.Settings", "SettingsObject")) {
			if l != "" && (l[0] != '/' || strings.HasPrefix(l, "//")) {
				t.Errorf("followed %q", l)
			}
		}
		o := override{system: place{path: "/a", boot: d.sub("Boot")}, settings: place{path: "/b", boot: d, pending: true}}
		b := s.state(o)
		if (b.Target == bmc.BootNone) != (b.Life == "") && o.standing().boot.str(fieldEnabled) == "Once" {
			t.Errorf("%+v", b)
		}
		for _, target := range append(s.targetsOf(o), bmc.BootPXE, bmc.BootCD) {
			_, _ = c.fields(o.place(), bmc.BootSpec{Target: target, Life: bmc.Once, Mode: bmc.UEFI})
		}
		for _, one := range s.serials(d) {
			if one.Value == "" {
				t.Error("an empty serial number")
			}
		}
		_ = unwell("/x", d)
		_ = taskStateOf(d.str("TaskState"))
		if err := c.taskError(d, 200); err == nil {
			t.Error("a failed task without error")
		}
		if _, err := choose([]host{s.host, {path: "/redfish/v1/Systems/2", doc: d}}, d.str("UUID")); err == nil && d.str("UUID") != "" && d.str("Id") != d.str("UUID") {
			t.Error("two systems of one UUID, and one was taken")
		}
	})
}

// FuzzSchemas reads a body by the types of gofish.
func FuzzSchemas(f *testing.F) {
	seed(f)
	f.Fuzz(func(t *testing.T, body []byte) {
		a := &wire.Response{Status: 200, Body: body}
		_, _ = decode[schemas.Drive](a)
		_, _ = decode[schemas.EthernetInterface](a)
		_, _ = decode[schemas.SoftwareInventory](a)
		_, _ = decode[schemas.ManagerAccount](a)
		_, _ = decode[schemas.LogEntry](a)
	})
}

func FuzzNatural(f *testing.F) {
	f.Add("10", "9")
	f.Add("a010", "a10")
	f.Fuzz(func(t *testing.T, a, b string) {
		x, y := natural(a, b), natural(b, a)
		if (x < 0) != (y > 0) || (x == 0) != (y == 0) {
			t.Errorf("%q and %q: %d and %d", a, b, x, y)
		}
	})
}

func FuzzLadder(f *testing.F) {
	for _, tag := range []string{`"a"`, `W/"a"`, `""a""`, `a`, `"a-gzip"`, ``, `W/"a-gzip"`} {
		f.Add(tag)
	}
	f.Fuzz(func(t *testing.T, tag string) {
		steps := ladder(tag)
		if steps[0] != tag || steps[len(steps)-1] != "" || len(steps) > 6 {
			t.Errorf("%q", steps)
		}
		slices.Sort(steps)
		if len(slices.Compact(steps)) != len(ladder(tag)) {
			t.Errorf("%q twice", steps)
		}
	})
}

func TestBlankSerials(t *testing.T) {
	for v, want := range map[string]bool{"": true, " ": true, "0": true, "0000-0000": true, "To be filled by O.E.M.": true, "Default string": true, "....................": true, "01234567890123456789AB": true, "None": true, "xxxx": true, "F54P1G3": false, "QSBP74100021": false, "1": false, "437XR1138R2": false} {
		if blank(v) != want {
			t.Errorf("%q: %v", v, !want)
		}
	}
}
