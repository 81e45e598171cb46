package metal

import (
	"encoding/json"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/ingotmetal/ingot/bmc"
	"github.com/ingotmetal/ingot/cmd/internal/secrets"
	"github.com/ingotmetal/ingot/statemachine/lifecycle"
)

// endpoint is how m is reached.
func endpoint(m *lifecycle.Metal) bmc.Endpoint {
	e := bmc.Endpoint{URL: m.BMC, System: m.System,
		Trust: bmc.Trust{CA: m.Trust.CA, Pin: m.Trust.Pin, FirstUse: m.Trust.FirstUse, Insecure: m.Trust.Insecure}}
	if m.Options != "" {
		e.Options = json.RawMessage(m.Options)
	}
	return e
}

// canonical is an address in the one form that claims compare: scheme and host in
// lower case, an IP address as it is usually written, no port that is the scheme's
// own, nothing after it.
func canonical(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return address // Validate has seen it
	}
	scheme, host := strings.ToLower(u.Scheme), strings.TrimSuffix(strings.ToLower(u.Hostname()), ".")
	if a, err := netip.ParseAddr(host); err == nil {
		host = a.Unmap().String()
	}
	port := strings.TrimLeft(u.Port(), "0")
	if port == map[string]string{"https": "443", "http": "80"}[scheme] {
		port = ""
	}
	switch {
	case port != "":
		host = net.JoinHostPort(host, port)
	case strings.Contains(host, ":"):
		host = "[" + host + "]"
	}
	return scheme + "://" + host
}

// driver is the one that m names.
func (s *Site) driver(m *lifecycle.Metal) (bmc.Driver, error) {
	d, ok := s.drivers[m.Driver]
	if ok {
		return d, nil
	}
	return nil, &Refused{"INVALID_CONFIG", fmt.Sprintf("no driver here is named %q", bmc.Quote(m.Driver)), "known: " + strings.Join(s.names(), ", ")}
}

// Check validates m by its driver (PROV-9).
func (s *Site) Check(m *lifecycle.Metal) error {
	d, err := s.driver(m)
	if err != nil {
		return &Refused{"INVALID_INPUT", err.(*Refused).Why, err.(*Refused).next}
	}
	if err := endpoint(m).Validate(); err != nil {
		return err
	}
	m.BMC = canonical(m.BMC)
	if err := d.ValidateOptions(endpoint(m).Options); err != nil {
		return err
	}
	if m.Credentials != "" {
		if _, err := secrets.ParseRef(m.Credentials); err != nil {
			return err
		}
	}
	m.ReportsMACs = slices.Contains(d.Info().Declares, bmc.ReadMACs)
	return nil
}

// Serves says what is missing for m to be reached.
func (s *Site) Serves(m *lifecycle.Metal) error {
	if m.Credentials == "" {
		return &Refused{"INVALID_STATE", "the node has no BMC credentials", "enroll it with some"}
	}
	_, err := s.driver(m)
	return err
}
