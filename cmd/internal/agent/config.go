package agent

import (
	"net"
	"net/netip"
	"strconv"
	"strings"

	"github.com/ingotmetal/ingot/cmd/internal/pin"
)

// A Config says who the agent talks to. It holds no secret.
type Config struct {
	Booter    string // HOST:PORT of the booter's sessions; empty: no setup by a booter
	BooterPin pin.Pin
	Server    string // HOST:PORT of the control plane
	ServerPin pin.Pin
	MAC       string // with which the machine booted; empty: unknown

	// What a machine's first process gives the interface with that MAC.
	Address netip.Prefix // the machine's, with the length of its network; invalid: none
	Gateway netip.Addr   // of the default route; invalid: none
}

// MaxCmdline is how much of the kernel's command line is read, in bytes.
const MaxCmdline = 64 << 10

// prefix begins the kernel arguments that are the agent's.
const prefix = "ingot."

// ParseCmdline reads the agent's words of a kernel command line:
//
//	ingot.booter=HOST:PORT ingot.booter_pin=PIN ingot.server=HOST:PORT ingot.pin=PIN
//	ingot.mac=MAC ingot.address=IPV4/LENGTH ingot.gateway=IPV4
//	ingot.lease=IPV4/NETMASK/ROUTER
//
// Other words are not the agent's. unknown are the names that begin with "ingot." and
// mean nothing here, at most 16. Of a word that is there twice the last holds, as the
// kernel has it. The error is *Invalid.
func ParseCmdline(text string) (c Config, unknown []string, err error) {
	if len(text) > MaxCmdline {
		return Config{}, nil, &Invalid{"the kernel command line", "has more than 64 KiB"}
	}
	for _, word := range strings.Fields(text) {
		name, value, _ := strings.Cut(word, "=")
		name, ours := strings.CutPrefix(name, prefix)
		if !ours {
			continue
		}
		known, err := c.set(name, value)
		if err != nil {
			return Config{}, nil, err
		}
		if !known && len(unknown) < 16 {
			unknown = append(unknown, strconv.QuoteToASCII(name[:min(len(name), 64)]))
		}
	}
	return c, unknown, c.Check()
}

// Set takes one setting by the name that it has as a kernel argument, without the
// prefix. The error is *Invalid.
func (c *Config) Set(name, value string) error {
	known, err := c.set(name, value)
	if err == nil && !known {
		err = &Invalid{prefix + name, "is no setting"}
	}
	return err
}

// set takes one setting by its name.
func (c *Config) set(name, value string) (known bool, err error) {
	for _, w := range words() {
		if w.name == name {
			return true, w.take(c, name, value)
		}
	}
	return false, nil
}

// Check reports what is named without its pin.
func (c *Config) Check() error {
	switch {
	case c.Booter != "" && c.BooterPin == pin.Pin{}:
		return &Invalid{prefix + "booter_pin", "is missing; booterd shows it"}
	case c.Server != "" && c.ServerPin == pin.Pin{}:
		return &Invalid{prefix + "pin", "is missing; ingotd pin shows it"}
	}
	return nil
}

func parsePin(name, value string) (pin.Pin, error) {
	p, err := pin.Parse(value)
	if err != nil {
		return p, &Invalid{prefix + name, "is no pin (sha256/ and 44 characters)"}
	}
	return p, nil
}

// address reads HOST:PORT, with or without https:// before it.
func address(name, value string) (string, error) {
	value = strings.TrimSuffix(strings.TrimPrefix(value, "https://"), "/")
	host, port, err := net.SplitHostPort(value)
	n, bad := strconv.ParseUint(port, 10, 16)
	if err != nil || bad != nil || n == 0 || host == "" || len(host) > 253 || strings.ContainsFunc(host, notOfHost) {
		return "", &Invalid{prefix + name, "is not HOST:PORT"}
	}
	return net.JoinHostPort(host, strconv.FormatUint(n, 10)), nil
}

func notOfHost(r rune) bool {
	return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune(".-_:", r))
}
