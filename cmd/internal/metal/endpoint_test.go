package metal

import (
	"errors"
	"strings"
	"testing"

	"github.com/ingotmetal/ingot/bmc"
	"github.com/ingotmetal/ingot/bmc/redfish"
	"github.com/ingotmetal/ingot/statemachine/lifecycle"
)

// One BMC has one address, however it is written (MACH-1).
func TestCanonical(t *testing.T) {
	for in, want := range map[string]string{
		"https://10.0.0.7":              "https://10.0.0.7",
		"HTTPS://10.0.0.7:443/":         "https://10.0.0.7",
		"https://10.0.0.7:0443":         "https://10.0.0.7",
		"http://10.0.0.7:80":            "http://10.0.0.7",
		"http://10.0.0.7:443":           "http://10.0.0.7:443",
		"https://BMC.Example.:8443/x":   "https://bmc.example:8443",
		"https://[2001:DB8::0:7]":       "https://[2001:db8::7]",
		"https://[2001:db8:0:0::7]:443": "https://[2001:db8::7]",
		"https://[::ffff:10.0.0.7]:444": "https://10.0.0.7:444",
	} {
		if got := canonical(in); got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
		if got := canonical(canonical(in)); got != want {
			t.Errorf("%s twice: %s", in, got)
		}
	}
}

// What no driver could reach is refused before anything is reached or written, and the
// refusal says what would be right.
func TestCheck(t *testing.T) {
	s := New(Config{Drivers: []bmc.Driver{redfish.Driver{}}})
	for name, c := range map[string]struct {
		m    lifecycle.Metal
		says string // "" is well
	}{
		"plain":           {lifecycle.Metal{Driver: "redfish", BMC: "HTTPS://10.0.0.7:443/"}, ""},
		"a reference":     {lifecycle.Metal{Driver: "redfish", BMC: "https://10.0.0.7", Credentials: "secret://file/rack7"}, ""},
		"no such driver":  {lifecycle.Metal{Driver: "ipmi", BMC: "https://10.0.0.7"}, "known: redfish"},
		"no scheme":       {lifecycle.Metal{Driver: "redfish", BMC: "10.0.0.7"}, "https"},
		"a password":      {lifecycle.Metal{Driver: "redfish", BMC: "https://root:hunter2@10.0.0.7"}, ""},
		"two trusts":      {lifecycle.Metal{Driver: "redfish", BMC: "https://10.0.0.7", Trust: lifecycle.Trust{FirstUse: true, Insecure: true}}, ""},
		"no pin":          {lifecycle.Metal{Driver: "redfish", BMC: "https://10.0.0.7", Trust: lifecycle.Trust{Pin: "md5/x"}}, "sha256/"},
		"unknown options": {lifecycle.Metal{Driver: "redfish", BMC: "https://10.0.0.7", Options: `{"no_such":1}`}, "no_such"},
		"no reference":    {lifecycle.Metal{Driver: "redfish", BMC: "https://10.0.0.7", Credentials: "hunter2"}, "secret://"},
	} {
		err := s.Check(&c.m)
		good := name == "plain" || name == "a reference"
		coded, _ := errors.AsType[interface {
			error
			Code() string
		}](err)
		switch {
		case good && (err != nil || c.m.BMC != "https://10.0.0.7" || !c.m.ReportsMACs):
			t.Errorf("%s: %+v, %v", name, c.m, err)
		case !good && (coded == nil || !strings.Contains(err.Error(), c.says)):
			t.Errorf("%s: %v", name, err)
		case err != nil && strings.Contains(err.Error(), "hunter2"):
			t.Errorf("%s: a secret is in %v", name, err)
		}
	}
}

// A node without credentials, or of a driver that is not here, is not reached.
func TestServes(t *testing.T) {
	s := New(Config{Drivers: []bmc.Driver{redfish.Driver{}}})
	m := lifecycle.Metal{Driver: "redfish", BMC: "https://10.0.0.7", Credentials: "secret://file/rack7"}
	if err := s.Serves(&m); err != nil {
		t.Error(err)
	}
	for _, change := range []func(*lifecycle.Metal){func(m *lifecycle.Metal) { m.Credentials = "" }, func(m *lifecycle.Metal) { m.Driver = "ipmi" }} {
		other := m
		change(&other)
		if _, ok := errors.AsType[*Refused](s.Serves(&other)); !ok {
			t.Errorf("%+v is served", other)
		}
	}
}
