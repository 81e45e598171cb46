package agent

import (
	"net"
	"net/netip"
	"strconv"
	"strings"
)

// A word is one kernel argument of the agent's, and how it is taken.
type word struct {
	name string // without the prefix
	take func(c *Config, name, value string) error
}

// words are all of them.
func words() []word {
	return []word{
		{"booter", func(c *Config, name, value string) (err error) { c.Booter, err = address(name, value); return }},
		{"booter_pin", func(c *Config, name, value string) (err error) { c.BooterPin, err = parsePin(name, value); return }},
		{"server", func(c *Config, name, value string) (err error) { c.Server, err = address(name, value); return }},
		{"pin", func(c *Config, name, value string) (err error) { c.ServerPin, err = parsePin(name, value); return }},
		{"mac", takeMAC}, {"address", takeAddress}, {"gateway", takeGateway}, {"lease", takeLease},
	}
}

// Words are the names of the kernel arguments that the agent reads.
func Words() []string {
	var out []string
	for _, w := range words() {
		out = append(out, prefix+w.name)
	}
	return out
}

func takeMAC(c *Config, name, value string) error {
	mac, err := net.ParseMAC(value)
	if err != nil || len(mac) != 6 {
		return &Invalid{prefix + name, "is no MAC address"}
	}
	c.MAC = mac.String()
	return nil
}

func takeAddress(c *Config, name, value string) error {
	p, err := netip.ParsePrefix(value)
	if err != nil || !host(p.Addr()) || p.Bits() == 0 {
		return &Invalid{prefix + name, "is no IPv4 address of a machine with the length of its network, such as 192.0.2.7/24"}
	}
	c.Address = p
	return nil
}

func takeGateway(c *Config, name, value string) error {
	a, err := netip.ParseAddr(value)
	if err != nil || !host(a) {
		return &Invalid{prefix + name, "is no IPv4 address of a router"}
	}
	c.Gateway = a
	return nil
}

// takeLease reads IPV4/NETMASK/ROUTER, as iPXE writes what DHCP gave it; a network may
// have no router.
func takeLease(c *Config, name, value string) error {
	bad := &Invalid{prefix + name, "is not IPV4/NETMASK/ROUTER, such as 192.0.2.7/255.255.255.0/192.0.2.1"}
	fields := strings.Split(value, "/")
	if len(fields) != 3 {
		return bad
	}
	length := -1
	if m, err := netip.ParseAddr(fields[1]); err == nil && m.Is4() {
		raw := m.As4()
		length, _ = net.IPMask(raw[:]).Size() // 0 of what is no mask
	}
	if takeAddress(c, name, fields[0]+"/"+strconv.Itoa(length)) != nil {
		return bad
	}
	c.Gateway = netip.Addr{}
	if fields[2] != "" && takeGateway(c, name, fields[2]) != nil {
		return bad
	}
	return nil
}

// host reports whether an address may be a machine's.
func host(a netip.Addr) bool {
	return a.Is4() && !a.IsUnspecified() && !a.IsMulticast() && a != netip.AddrFrom4([4]byte{255, 255, 255, 255})
}
