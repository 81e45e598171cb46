package host

import (
	"net"
	"net/netip"
)

// Links are the machine's network interfaces.
func Links() ([]Link, error) {
	all, err := net.Interfaces()
	if err != nil {
		return nil, err
	}
	var out []Link
	for _, i := range all {
		l := Link{Name: i.Name, Index: i.Index, MAC: i.HardwareAddr.String(),
			Loopback: i.Flags&net.FlagLoopback != 0, Up: i.Flags&net.FlagUp != 0, Carrier: i.Flags&net.FlagRunning != 0}
		addresses, err := i.Addrs()
		if err != nil {
			return nil, err
		}
		for _, a := range addresses {
			if p, err := netip.ParsePrefix(a.String()); err == nil {
				l.Addresses = append(l.Addresses, p)
			}
		}
		out = append(out, l)
	}
	return out, nil
}
