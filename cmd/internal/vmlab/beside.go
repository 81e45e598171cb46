package vmlab

import (
	"context"
	"errors"
	"path/filepath"

	"github.com/ingotmetal/ingot/cmd/internal/config"
)

// edgeAddress is that of a second host on the admin network.
const edgeAddress = "10.77.0.254"

// A segment is where machines are: its network, its router and its bridge.
type segment struct{ network, gateway, bridge string }

// remote is the segment behind a relay.
func remote() segment { return segment{"10.78.0.0/24", "10.78.0.1", "br1"} }

// beside lives a way of booting with another host beside the site's, and puts the site
// back afterwards.
func beside(name string, arrange func(*Lab, context.Context, *edge) error, way Boot) func(*Lab, context.Context) ([]Result, error) {
	return func(l *Lab, ctx context.Context) (results []Result, err error) {
		e, err := l.newEdge(ctx)
		if err != nil {
			return nil, err
		}
		defer func() {
			e.close()
			if text := e.said(); err != nil && text != "" {
				l.say("site", "said", "the server beside it: "+text)
			}
			if l.at != local() {
				err = errors.Join(err, ip(ctx, "link", "del", l.at.bridge))
			}
			l.at = local()
			err = errors.Join(err, l.restartBooter(ctx, func(*config.Booter) {}), l.setPolicy(ctx, "enroll"))
		}()
		if err := arrange(l, ctx, e); err != nil {
			return nil, err
		}
		m, err := l.plain(ctx, way)
		if err != nil {
			return nil, err
		}
		r, err := l.one(ctx, name, m, l.Life)
		return []Result{r}, err
	}
}

// proxied has a dnsmasq hand out addresses, and booterd say what to boot beside it.
func proxied(l *Lab, ctx context.Context, e *edge) error {
	err := e.serve("dnsmasq-base", "dnsmasq", "--keep-in-foreground", "--port=0", "--conf-file=/dev/null", "--user=root", "--pid-file=", "--interface=eth0", "--bind-interfaces",
		"--dhcp-range=10.77.0.200,10.77.0.250,1h", "--dhcp-authoritative", "--dhcp-leasefile="+filepath.Join(l.Dir, "dnsmasq.leases"), "--log-dhcp", "--log-facility="+filepath.Join(l.Dir, "dnsmasq.log"))
	if err != nil {
		return err
	}
	return l.restartBooter(ctx, func(c *config.Booter) { c.DHCP.Proxy = true })
}

// relayed puts machines behind a router that relays DHCP.
func relayed(l *Lab, ctx context.Context, e *edge) error {
	far := remote()
	for _, words := range [][]string{
		{"link", "add", far.bridge, "type", "bridge", "forward_delay", "0", "stp_state", "0"},
		{"link", "set", far.bridge, "up"},
	} {
		if err := ip(ctx, words...); err != nil {
			return err
		}
	}
	l.at = far
	if err := e.cable(ctx, "edge1", far.bridge, "eth1", far.gateway+"/24"); err != nil {
		return err
	}
	if err := e.do(ctx, "sh", "-c", "echo 1 >/proc/sys/net/ipv4/ip_forward"); err != nil {
		return err
	}
	if err := ip(ctx, "route", "replace", far.network, "via", edgeAddress); err != nil {
		return err
	}
	if err := e.serve("isc-dhcp-relay", "dhcrelay", "-4", "-d", "--no-pid", "-id", "eth1", "-iu", "eth0", booth); err != nil {
		return err
	}
	return l.setPolicy(ctx, "enroll")
}
