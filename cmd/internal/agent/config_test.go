package agent_test

import (
	"errors"
	"net/netip"
	"reflect"
	"strings"
	"testing"

	"github.com/ingotmetal/ingot/cmd/internal/agent"
	"github.com/ingotmetal/ingot/cmd/internal/pin"
)

var pinned = pin.Pin{1, 2, 3}

func TestParseCmdline(t *testing.T) {
	p := pinned.String()
	for text, want := range map[string]agent.Config{
		"":                                {},
		"console=ttyS0 quiet ingotbooter": {},
		"BOOT_IMAGE=/x ingot.booter=10.0.0.1:8444 ingot.booter_pin=" + p + " ingot.server=[fe80::1]:443 ingot.pin=" + p + " ingot.mac=52:54:00:12:34:56\n": {
			Booter: "10.0.0.1:8444", BooterPin: pinned, Server: "[fe80::1]:443", ServerPin: pinned, MAC: "52:54:00:12:34:56"},
		"ingot.server=https://ingotd.example:8443/ ingot.pin=" + p: {Server: "ingotd.example:8443", ServerPin: pinned},
		"ingot.server=a:1 ingot.server=b:2 ingot.pin=" + p:         {Server: "b:2", ServerPin: pinned},
		"ingot.lease=10.0.0.9/255.255.254.0/10.0.0.1":              {Address: netip.MustParsePrefix("10.0.0.9/23"), Gateway: netip.MustParseAddr("10.0.0.1")},
		"ingot.lease=10.0.0.9/255.255.255.255/":                    {Address: netip.MustParsePrefix("10.0.0.9/32")},
		"ingot.address=10.0.0.9/24 ingot.gateway=10.0.0.1":         {Address: netip.MustParsePrefix("10.0.0.9/24"), Gateway: netip.MustParseAddr("10.0.0.1")},
	} {
		got, unknown, err := agent.ParseCmdline(text)
		if err != nil || !reflect.DeepEqual(got, want) || len(unknown) != 0 {
			t.Errorf("%q: %+v, %q, %v", text, got, unknown, err)
		}
	}
	_, unknown, err := agent.ParseCmdline("ingot.later=1 ingot. " + strings.Repeat("ingot.more ", 40))
	if err != nil || len(unknown) != 16 || unknown[0] != `"later"` {
		t.Errorf("%q, %v", unknown, err)
	}
}

func TestParseCmdlineRefuses(t *testing.T) {
	p := pinned.String()
	for _, text := range []string{
		"ingot.booter=10.0.0.1:8444", "ingot.server=a:1", "ingot.booter= ingot.booter_pin=" + p, "ingot.booter=:1 ingot.booter_pin=" + p,
		"ingot.booter=a:0 ingot.booter_pin=" + p, "ingot.booter=a:70000 ingot.booter_pin=" + p, "ingot.booter=a ingot.booter_pin=" + p, "ingot.booter=a/b:1 ingot.booter_pin=" + p,
		"ingot.booter=http://a:1 ingot.booter_pin=" + p, "ingot.booter=u@a:1 ingot.booter_pin=" + p, "ingot.pin=x", "ingot.booter_pin=", "ingot.mac=1", "ingot.mac=00:00:00:00:fe:80:00:00:00:00:00:00:02:00:5e:10:00:00:00:01",
		"ingot.address=10.0.0.9", "ingot.address=10.0.0.9/0", "ingot.address=10.0.0.9/33", "ingot.address=fd00::9/64", "ingot.address=0.0.0.0/24", "ingot.address=255.255.255.255/32",
		"ingot.lease=10.0.0.9/255.0.255.0/", "ingot.lease=10.0.0.9/0.0.0.0/", "ingot.lease=/255.0.0.0/", "ingot.lease=fd00::9/255.0.0.0/", "ingot.lease=", "ingot.lease=10.0.0.9/255.0.0.0", "ingot.lease=10.0.0.9/24/", "ingot.lease=10.0.0.9/255.0.0.0/x", "ingot.lease=//",
		"ingot.gateway=", "ingot.gateway=10.0.0.1/24", "ingot.gateway=fd00::1", "ingot.gateway=224.0.0.1", "ingot.gateway=::ffff:10.0.0.1",
		strings.Repeat("x", agent.MaxCmdline+1),
	} {
		c, _, err := agent.ParseCmdline(text)
		if invalid, ok := errors.AsType[*agent.Invalid](err); !ok || invalid.Code() != "INVALID_CONFIG" {
			t.Errorf("%.40q: %+v, %v", text, c, err)
		}
	}
}

func FuzzParseCmdline(f *testing.F) {
	f.Add("ingot.booter=10.0.0.1:8444 ingot.booter_pin=" + pinned.String() + " ingot.mac=52:54:00:12:34:56 ingot.x")
	f.Fuzz(func(t *testing.T, text string) {
		c, unknown, err := agent.ParseCmdline(text)
		if err != nil {
			return
		}
		if (c.Booter != "") && (c.BooterPin == pin.Pin{}) || len(unknown) > 16 || strings.ContainsAny(c.Booter+c.Server, "/@ \n\x00") {
			t.Errorf("%q: %+v %q", text, c, unknown)
		}
		again, _, err := agent.ParseCmdline(strings.Join(strings.Fields(text), " "))
		if err != nil || again != c {
			t.Errorf("%q: %+v, then %+v, %v", text, c, again, err)
		}
	})
}
