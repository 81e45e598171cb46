package machine

import (
	"net"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/ingotmetal/ingot/bmc"
)

// Gates holds the gate of every BMC that was asked for, for as long as it lives.
// The zero Gates works. It is safe for concurrent use. Share one: two Gates know
// nothing of each other's requests.
type Gates struct {
	// Limits replace the driver's, field by field, where they are set: a fleet may
	// have BMCs that bear less, or more.
	Limits   bmc.Limits
	Breaking Breaking
	// Changed is told when a BMC is taken for dead, and when it is back; may be nil.
	// It must not block.
	Changed func(key string, dead bool)

	mu  sync.Mutex
	all map[string]*Gate
}

// Of is the gate of e's BMC. The limits are those of whoever asks first, which
// agree unless two drivers talk to one port.
func (g *Gates) Of(e bmc.Endpoint, l bmc.Limits) (*Gate, error) {
	key, err := keyOf(e)
	if err != nil {
		return nil, err
	}
	if g.Limits.Concurrent > 0 {
		l.Concurrent = g.Limits.Concurrent
	}
	if g.Limits.Interval > 0 {
		l.Interval = g.Limits.Interval
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.all == nil {
		g.all = map[string]*Gate{}
	}
	if g.all[key] == nil {
		g.all[key] = newGate(key, l, &breaker{Breaking: g.Breaking, key: key, changed: g.Changed, well: time.Now()})
	}
	return g.all[key], nil
}

// keyOf is an endpoint's host and port, spelled in one way.
func keyOf(e bmc.Endpoint) (string, error) {
	if err := e.Validate(); err != nil {
		return "", err
	}
	u, err := url.Parse(e.URL)
	if err != nil {
		return "", err // Validate has parsed it
	}
	host := strings.TrimSuffix(strings.ToLower(u.Hostname()), ".")
	if a, err := netip.ParseAddr(host); err == nil {
		host = a.Unmap().String()
	}
	port := strings.TrimLeft(u.Port(), "0")
	if port == "" {
		port = map[string]string{"http": "80", "ipmi": "623"}[strings.ToLower(u.Scheme)]
	}
	if port == "" {
		port = "443"
	}
	return net.JoinHostPort(host, port), nil
}
