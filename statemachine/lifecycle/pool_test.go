package lifecycle_test

import (
	"net/netip"
	"reflect"
	"testing"

	sm "github.com/ingotmetal/ingot/statemachine"
	"github.com/ingotmetal/ingot/statemachine/lifecycle"
	"pgregory.net/rapid"
)

func addr(s string) netip.Addr { return netip.MustParseAddr(s) }

// BOOT-19, BOOT-22: what is never free.
func TestNewPool(t *testing.T) {
	for name, c := range map[string]struct {
		network string
		exclude []netip.Addr
		count   int
		lowest  string
	}{
		"a /30":                  {"10.0.0.0/30", nil, 2, "10.0.0.1"},
		"not masked":             {"10.0.0.9/29", nil, 6, "10.0.0.9"},
		"gateway and server":     {"10.0.0.0/29", []netip.Addr{addr("10.0.0.1"), addr("10.0.0.2")}, 4, "10.0.0.3"},
		"the same twice":         {"10.0.0.0/29", []netip.Addr{addr("10.0.0.1"), addr("10.0.0.1")}, 5, "10.0.0.2"},
		"an address of none":     {"10.0.0.0/29", []netip.Addr{{}, addr("192.0.2.1"), addr("10.0.0.0"), addr("10.0.0.7")}, 6, "10.0.0.1"},
		"IPv4 in IPv6":           {"10.0.0.0/29", []netip.Addr{addr("::ffff:10.0.0.1")}, 5, "10.0.0.2"},
		"all":                    {"10.0.0.0/30", []netip.Addr{addr("10.0.0.1"), addr("10.0.0.2")}, 0, ""},
		"the widest":             {"10.0.0.0/8", nil, 1<<24 - 2, "10.0.0.1"},
		"the end of all numbers": {"255.255.255.248/29", nil, 6, "255.255.255.249"},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := lifecycle.NewPool(netip.MustParsePrefix(c.network), c.exclude...)
			if err != nil {
				t.Fatal(err)
			}
			low, ok := p.Lowest()
			if c.lowest == "" && ok || c.lowest != "" && low != addr(c.lowest) || p.Count() != c.count {
				t.Errorf("%d free from %s, want %d from %s", p.Count(), low, c.count, c.lowest)
			}
		})
	}
	for _, bad := range []string{"10.0.0.0/31", "10.0.0.0/32", "0.0.0.0/0", "10.0.0.0/7", "2001:db8::/64", "::ffff:10.0.0.0/120"} {
		if _, err := lifecycle.NewPool(netip.MustParsePrefix(bad)); codeOf(err) != string(sm.InvalidInput) {
			t.Errorf("%s: %v", bad, err)
		}
	}
	if _, err := lifecycle.NewPool(netip.Prefix{}); codeOf(err) != string(sm.InvalidInput) {
		t.Errorf("no network: %v", err)
	}
}

func TestPoolRefuses(t *testing.T) {
	p, err := lifecycle.NewPool(netip.MustParsePrefix("10.0.0.0/29"), addr("10.0.0.1"))
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		do   func(netip.Addr) (lifecycle.Pool, error)
		a    netip.Addr
		code sm.Code
	}{
		"take a taken":        {p.Take, addr("10.0.0.1"), sm.Conflict},
		"take a stranger":     {p.Take, addr("10.0.1.2"), sm.Conflict},
		"take nothing":        {p.Take, netip.Addr{}, sm.Conflict},
		"put a free":          {p.Put, addr("10.0.0.2"), sm.Conflict},
		"put a stranger":      {p.Put, addr("10.0.1.2"), sm.InvalidInput},
		"put nothing":         {p.Put, netip.Addr{}, sm.InvalidInput},
		"put the network":     {p.Put, addr("10.0.0.0"), sm.InvalidInput},
		"put the broadcast":   {p.Put, addr("10.0.0.7"), sm.InvalidInput},
		"put IPv4 in IPv6":    {p.Put, addr("::ffff:10.0.0.1"), sm.InvalidInput},
		"nothing in no pool":  {lifecycle.Pool{}.Take, addr("10.0.0.2"), sm.Conflict},
		"put into no pool":    {lifecycle.Pool{}.Put, addr("10.0.0.2"), sm.InvalidInput},
		"put another version": {p.Put, addr("2001:db8::1"), sm.InvalidInput},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := c.do(c.a); codeOf(err) != string(c.code) {
				t.Errorf("%v, want %s", err, c.code)
			}
		})
	}
}

// The pool beside a naive twin that keeps a set of numbers.
func TestPoolAgainstTwin(t *testing.T) {
	network := netip.MustParsePrefix("10.0.0.0/27")
	rapid.Check(t, func(t *rapid.T) {
		p, err := lifecycle.NewPool(network)
		if err != nil {
			t.Fatal(err)
		}
		free := map[netip.Addr]bool{}
		for i := byte(1); i < 31; i++ {
			free[netip.AddrFrom4([4]byte{10, 0, 0, i})] = true
		}
		any := rapid.Custom(func(t *rapid.T) netip.Addr {
			return netip.AddrFrom4([4]byte{10, 0, byte(rapid.IntRange(0, 1).Draw(t, "net")), byte(rapid.IntRange(0, 33).Draw(t, "host"))})
		})
		change := func(q lifecycle.Pool, err error, legal bool) {
			if (err == nil) != legal || err != nil && !reflect.DeepEqual(q, p) {
				t.Fatalf("legal %t, got %v; %v from %v", legal, err, q, p)
			}
			p = q
		}
		t.Repeat(map[string]func(*rapid.T){
			"take": func(t *rapid.T) {
				a := any.Draw(t, "addr")
				q, err := p.Take(a)
				change(q, err, free[a])
				delete(free, a)
			},
			"put": func(t *rapid.T) {
				a := any.Draw(t, "addr")
				host := a.As4()[3]
				legal := network.Contains(a) && host != 0 && host != 31 && !free[a]
				q, err := p.Put(a)
				if change(q, err, legal); legal {
					free[a] = true
				}
			},
			"lowest": func(t *rapid.T) {
				if a, ok := p.Lowest(); ok {
					q, err := p.Take(a)
					change(q, err, true)
					delete(free, a)
				}
			},
			"": func(*rapid.T) { sameAsTwin(t, p, free) },
		})
	})
}

// sameAsTwin compares a pool with the set of what is free, and demands its
// one form: spans in order, apart from each other.
func sameAsTwin(t *rapid.T, p lifecycle.Pool, free map[netip.Addr]bool) {
	var want netip.Addr
	for a := range free {
		if !want.IsValid() || a.Less(want) {
			want = a
		}
	}
	if low, ok := p.Lowest(); ok != (len(free) > 0) || low != want || p.Count() != len(free) {
		t.Fatalf("%d free from %s, the twin has %d from %s", p.Count(), low, len(free), want)
	}
	for i, s := range p.Free {
		if s.Last.Less(s.First) || i > 0 && !p.Free[i-1].Last.Next().Less(s.First) {
			t.Fatalf("spans %v", p.Free)
		}
	}
}
