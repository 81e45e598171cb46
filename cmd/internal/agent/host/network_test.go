package host_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ingotmetal/ingot/cmd/internal/agent"
	"github.com/ingotmetal/ingot/cmd/internal/agent/host"
)

const (
	bootMAC  = "52:54:00:00:00:01"
	otherMAC = "52:54:00:00:00:02"
)

var (
	mine   = netip.MustParsePrefix("192.0.2.7/24")
	router = netip.MustParseAddr("192.0.2.1")
	wanted = host.Wanted{MAC: bootMAC, Address: mine, Gateway: router}
)

func lo(up bool) host.Link {
	return host.Link{Name: "lo", Index: 1, Loopback: true, Up: up, Carrier: up}
}

func eth(name, mac string, up, carrier bool, addresses ...netip.Prefix) host.Link {
	return host.Link{Name: name, Index: 2, MAC: mac, Up: up, Carrier: carrier, Addresses: addresses}
}

func TestDecide(t *testing.T) {
	for name, c := range map[string]struct {
		seen  []host.Link
		want  host.Wanted
		steps string // link: step, link: step
		lacks string
	}{
		"just booted":                {[]host.Link{lo(false), eth("eth0", bootMAC, false, false)}, wanted, "lo: up, eth0: up, eth0: address 192.0.2.7/24", "eth0 has no carrier"},
		"no cable":                   {[]host.Link{lo(true), eth("eth0", bootMAC, true, false, mine)}, wanted, "", "eth0 has no carrier"},
		"a carrier":                  {[]host.Link{lo(true), eth("eth0", bootMAC, true, true, mine)}, wanted, "eth0: default route by 192.0.2.1", ""},
		"begun anew":                 {[]host.Link{lo(true), eth("eth0", bootMAC, true, true, mine)}, wanted, "eth0: default route by 192.0.2.1", ""},
		"up by the kernel":           {[]host.Link{lo(true), eth("eth0", bootMAC, true, true)}, wanted, "eth0: address 192.0.2.7/24, eth0: default route by 192.0.2.1", ""},
		"another address":            {[]host.Link{lo(true), eth("eth0", bootMAC, true, true, netip.MustParsePrefix("192.0.2.7/16"))}, wanted, "eth0: address 192.0.2.7/24, eth0: default route by 192.0.2.1", ""},
		"no gateway":                 {[]host.Link{lo(true), eth("eth0", bootMAC, true, true, mine)}, host.Wanted{MAC: bootMAC, Address: mine}, "", ""},
		"no address":                 {[]host.Link{lo(false), eth("eth0", bootMAC, false, false)}, host.Wanted{MAC: bootMAC, Gateway: router}, "lo: up", ""},
		"nothing wanted, no link":    {nil, host.Wanted{}, "", ""},
		"the other NIC is let alone": {[]host.Link{eth("eth0", otherMAC, false, false), eth("eth1", bootMAC, true, true, mine)}, host.Wanted{MAC: bootMAC, Address: mine}, "", ""},
		"no interface":               {[]host.Link{lo(true)}, wanted, "", "needs its driver built in"},
		"another interface":          {[]host.Link{lo(false), eth("eth0", otherMAC, true, true)}, wanted, "lo: up", "no network interface has 52:54:00:00:00:01 (ingot.mac); here are eth0 52:54:00:00:00:02"},
		"two of one MAC":             {[]host.Link{eth("eth0", bootMAC, true, true), eth("eth1", bootMAC, true, true)}, wanted, "", "eth0 and eth1 both have 52:54:00:00:00:01"},
	} {
		steps, lacks := host.Decide(c.seen, c.want)
		var got []string
		for _, s := range steps {
			got = append(got, s.Link+": "+s.String())
		}
		if strings.Join(got, ", ") != c.steps || (lacks == nil) != (c.lacks == "") || lacks != nil && !strings.Contains(lacks.Error(), c.lacks) {
			t.Errorf("%s: %q, %v", name, got, lacks)
		}
	}
}

// A gateway outside of the address's network is on the link all the same.
func TestGatewayOnLink(t *testing.T) {
	seen := []host.Link{eth("eth0", bootMAC, true, true, netip.MustParsePrefix("192.0.2.7/32"))}
	for prefix, on := range map[string]bool{"192.0.2.7/32": true, "192.0.2.7/24": false} {
		steps, err := host.Decide(seen, host.Wanted{MAC: bootMAC, Address: netip.MustParsePrefix(prefix), Gateway: router})
		if err != nil || steps[len(steps)-1].OnLink != on {
			t.Errorf("%s: %+v, %v", prefix, steps, err)
		}
	}
}

// A world is interfaces that obey, with a cable that is put in at some time.
type world struct {
	links  []host.Link
	cable  time.Time
	refuse string
	took   []string
}

func (w *world) network() host.Network {
	return host.Network{Now: time.Now, Log: slog.New(slog.DiscardHandler), Links: func() ([]host.Link, error) {
		for i := range w.links {
			w.links[i].Carrier = w.links[i].Up && !time.Now().Before(w.cable)
		}
		return slices.Clone(w.links), nil
	}, Do: func(s host.Step) error {
		if s.String() == w.refuse {
			return errors.New("operation not permitted")
		}
		w.took = append(w.took, s.Link+": "+s.String())
		for i, l := range w.links {
			if l.Name == s.Link && s.Address.IsValid() {
				w.links[i].Addresses = append(l.Addresses, s.Address)
			}
			w.links[i].Up = l.Up || l.Name == s.Link
		}
		return nil
	}}
}

func booted(cable time.Duration) *world {
	return &world{links: []host.Link{lo(false), eth("eth0", bootMAC, false, false)}, cable: time.Now().Add(cable)}
}

func TestUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, from := booted(7*time.Second), time.Now()
		const all = "[lo: up eth0: up eth0: address 192.0.2.7/24 eth0: default route by 192.0.2.1]"
		if err := w.network().Up(t.Context(), wanted); err != nil || fmt.Sprint(w.took) != all || time.Since(from) > 8*time.Second {
			t.Errorf("%v after %s: %v", err, time.Since(from), w.took)
		}
		w.took = nil
		if err := w.network().Up(t.Context(), wanted); err != nil || fmt.Sprint(w.took) != "[eth0: default route by 192.0.2.1]" {
			t.Errorf("again: %v, %v", err, w.took)
		}
	})
}

func TestUpGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, from := booted(time.Hour), time.Now()
		var log strings.Builder
		n := w.network()
		n.Log = slog.New(slog.NewTextHandler(&log, nil))
		err := n.Up(t.Context(), wanted)
		if strings.Count(log.String(), "waited for") != 1 || !strings.Contains(log.String(), "eth0 has no carrier") {
			t.Errorf("meanwhile it says %s", log.String())
		}
		if e, ok := errors.AsType[*host.NoCarrier](err); !ok || e.Code() != "UNAVAILABLE" || e.Link != "eth0" || time.Since(from) != 30*time.Second {
			t.Errorf("%v after %s", err, time.Since(from))
		}
		w = booted(0)
		w.refuse = "address 192.0.2.7/24"
		if e, ok := errors.AsType[*host.Unset](w.network().Up(t.Context(), wanted)); !ok || !strings.Contains(e.Error(), "eth0: address 192.0.2.7/24: operation not permitted") {
			t.Errorf("%v", e)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		from = time.Now()
		if err := booted(time.Hour).network().Up(ctx, wanted); err == nil || time.Since(from) != time.Second {
			t.Errorf("%v after %s, its context's second", err, time.Since(from))
		}
		// What cannot pass is not waited for.
		for _, c := range []agent.Config{{Address: mine}, {Address: mine, MAC: bootMAC, Gateway: mine.Addr()}} {
			from = time.Now()
			err = booted(0).network().Configure(t.Context(), c)
			if _, ok := errors.AsType[*agent.Invalid](err); !ok || time.Since(from) != 0 {
				t.Errorf("%v after %s", err, time.Since(from))
			}
		}
		w = booted(0)
		if err := w.network().Configure(t.Context(), agent.Config{Address: mine, MAC: bootMAC, Gateway: router}); err != nil || len(w.took) != 4 {
			t.Errorf("%v, %v", err, w.took)
		}
	})
}
