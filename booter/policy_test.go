package booter_test

import (
	"errors"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/ingotmetal/ingot/booter"
)

func TestValidate(t *testing.T) {
	tests := []struct {
		name   string
		change func(*booter.Policy)
		want   []string // the fields reported, "" for none
	}{
		{"a whole policy", func(*booter.Policy) {}, nil},
		{"images are not judged", func(p *booter.Policy) { p.Enrollment, p.Rescue, p.Staged = "..", "", nil }, nil},
		{"nothing at all", func(p *booter.Policy) { *p = booter.Policy{} }, []string{"Links"}},
		{"no network yet", func(p *booter.Policy) { p.Networks = nil }, nil},
		{"a v6 network", func(p *booter.Policy) { p.Networks[0] = netip.MustParsePrefix("fd00::/64") }, []string{"Networks"}},
		{"an empty network", func(p *booter.Policy) { p.Networks[0] = netip.Prefix{} }, []string{"Networks"}},
		{"a link without an id", func(p *booter.Policy) { p.Links[0].ServerID = nobody }, []string{"Links"}},
		{"which another serves", func(p *booter.Policy) { p.Links[0].ServerID, p.ServerIDs = nobody, []netip.Addr{other} }, nil},
		{"a bad id", func(p *booter.Policy) { p.ServerIDs = []netip.Addr{netip.MustParseAddr("224.0.0.1")} }, []string{"ServerIDs"}},
		{"a bad id of a link", func(p *booter.Policy) {
			p.Links[0].ServerID, p.ServerIDs = netip.IPv4Unspecified(), []netip.Addr{other}
		}, []string{"Links"}},
		{"negative limits", func(p *booter.Policy) {
			p.Limits = booter.Limits{MAC: booter.Limit{Max: -1}, Site: booter.Limit{Per: -1}, Boots: booter.Limit{Max: -1}, Offer: -1}
		}, []string{"Limits.MAC", "Limits.Site", "Limits.Boots", "Limits.Offer"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := site()
			tt.change(&p)
			err := p.Validate()
			if (err == nil) != (len(tt.want) == 0) {
				t.Fatalf("%v, want %v", err, tt.want)
			}
			for _, field := range tt.want {
				if !strings.Contains(err.Error(), "booter: "+field+" is ") {
					t.Errorf("%v does not name %s", err, field)
				}
			}
			if e, ok := errors.AsType[interface {
				error
				Code() string
			}](err); err != nil && (!ok || e.Code() != "INVALID_INPUT") {
				t.Errorf("%v has no code", err)
			}
		})
	}
}

// The zero policy must not answer anybody.
func TestZeroPolicyIsSilent(t *testing.T) {
	var p booter.Policy
	if _, why := p.Answer(enrolling(), discover(), now); why != booter.ForeignNetwork {
		t.Errorf("%q", why)
	}
}

// Limits of a policy replace the defaults, field by field.
func TestLimits(t *testing.T) {
	p, req := site(), request()
	p.Limits = booter.Limits{MAC: booter.Limit{Max: 2}, Offer: time.Second}
	req.Recent.Packets = 2
	if _, why := p.Answer(enrolling(), req, now); why != booter.RateMAC {
		t.Errorf("two packets are the limit: %q", why)
	}
	if _, why := p.Answer(enrolling(), bare(2*time.Second), now); why != booter.NotPXE {
		t.Errorf("the offer is over: %q", why)
	}
	if _, why := p.Answer(enrolling(), bare(time.Second), now); why != "" {
		t.Errorf("the offer stands: %q", why)
	}
}

// An interface that carries part of an admin network, or more, serves it.
func TestLinkNetworks(t *testing.T) {
	for prefix, want := range map[string]booter.Silence{
		"10.0.0.0/24": "", "10.0.0.128/25": "", "10.0.0.0/16": "", "10.0.1.0/24": booter.ForeignNetwork,
	} {
		p := site()
		p.Links[0].Networks = []netip.Prefix{netip.MustParsePrefix("192.168.0.0/24"), netip.MustParsePrefix(prefix)}
		if _, why := p.Answer(enrolling(), request(), now); why != want {
			t.Errorf("%s: %q, want %q", prefix, why, want)
		}
	}
}
