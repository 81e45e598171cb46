package config

import (
	"errors"
	"net/netip"
	"strings"
)

// BMC says how ingotd reaches BMCs.
type BMC struct {
	Through []Through `json:"through,omitzero" doc:"list of NETWORK=BOOTER or .DOMAIN=BOOTER: a BMC whose address is in that network, or whose name is in that domain, is reached through that booter, which has its network in carry (MACH-6); the first that fits is taken; default none, ingotd connects to all BMCs itself"`
}

// A Through is a booter by which some BMCs are reached: those of a network, or those of
// a domain and of all below it.
type Through struct {
	Network netip.Prefix
	Domain  string // with its dot before it; "" where Network is
	Booter  string
}

// MarshalText writes what UnmarshalText reads.
func (t Through) MarshalText() ([]byte, error) {
	if t.Domain != "" {
		return []byte(t.Domain + "=" + t.Booter), nil
	}
	return []byte(t.Network.String() + "=" + t.Booter), nil
}

// UnmarshalText reads NETWORK=BOOTER or .DOMAIN=BOOTER.
func (t *Through) UnmarshalText(text []byte) error {
	to, booter, ok := strings.Cut(string(text), "=")
	if !ok || !tenantName.MatchString(booter) {
		return errors.New("want NETWORK=BOOTER or .DOMAIN=BOOTER")
	}
	*t = Through{Booter: booter}
	if strings.HasPrefix(to, ".") && len(to) > 1 && hostName.MatchString(to) {
		t.Domain = strings.ToLower(to)
		return nil
	}
	p, err := netip.ParsePrefix(to)
	if err == nil && p != p.Masked() {
		err = errors.New("bits are set after the prefix's length")
	}
	t.Network = p
	return err
}

// By is the booter by which a host is reached; "" is none. A name is not looked up.
func (b BMC) By(host string) string {
	a, err := netip.ParseAddr(host)
	name := "." + strings.ToLower(strings.TrimSuffix(host, "."))
	for _, t := range b.Through {
		if err == nil && t.Network.Contains(a.Unmap().WithZone("")) || err != nil && t.Domain != "" && strings.HasSuffix(name, t.Domain) {
			return t.Booter
		}
	}
	return ""
}
