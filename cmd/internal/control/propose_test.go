package control_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/ingotmetal/ingot/cmd/internal/control"
	"github.com/ingotmetal/ingot/cmd/internal/store"
	"github.com/ingotmetal/ingot/statemachine/lifecycle"
	"github.com/ingotmetal/ingot/statemachine/netboot"
	"github.com/ingotmetal/ingot/statemachine/registration"
)

// pxeDesk is a site with a machine that was enrolled by its BMC and UUID alone.
type pxeDesk struct {
	*site
	id lifecycle.NodeID
}

func newPXEDesk(t *testing.T) *pxeDesk {
	t.Helper()
	p := &pxeDesk{bubble(t), "node_0000000000000000000000000a"}
	p.do(control.Target{Rowless: true, Server: uuidOf(1)},
		lifecycle.EnrollMetal{Call: ada, NewID: p.id, Metal: lifecycle.Metal{BMC: "https://10.9.0.1", Server: uuidOf(1), ReportsMACs: true}})
	return p
}

// cycles is a power verb of the agent's, sent just now, after a boot override.
func (p *pxeDesk) cycles(verb string, override, once bool) {
	p.t.Helper()
	_, err := p.Store().Update(p.t.Context(), func(tx store.Tx) error { return control.BootsPXE(tx, p.id, override, once) })
	if err != nil {
		p.t.Fatal(err)
	}
	p.ends(verb)
}

// ends is the end of a verb whose override stays as it is.
func (p *pxeDesk) ends(verb string) {
	p.t.Helper()
	_, err := p.Do(p.t.Context(), control.Call{Actor: "site-agent"}, control.Target{Node: p.id}, func(l *control.Look) (lifecycle.Input, error) {
		control.Cycles(l, p.id, verb, l.Now)
		return lifecycle.PinBMC{Claim: "another", Pin: "sha256/x"}, nil // a step that changes nothing
	})
	if err != nil {
		p.t.Fatal(err)
	}
}

// sees is a booter's report.
func (p *pxeDesk) sees(booter string, seen ...control.Seen) {
	p.t.Helper()
	if _, _, err := p.Sight(p.t.Context(), control.Call{Actor: booter}, booter, seen); err != nil {
		p.t.Fatal(err)
	}
}

func now(i int, product registration.ServerID) control.Seen {
	return control.Seen{MAC: mac(i), Product: product, First: time.Now(), Last: time.Now(), Count: 1}
}

// candidate is the node that a MAC may belong to.
func (p *pxeDesk) candidate(m netboot.MAC) lifecycle.NodeID {
	p.t.Helper()
	st, _, err := p.Read(p.t.Context(), control.Target{MAC: m})
	if err != nil {
		p.t.Fatal(err)
	}
	for _, r := range st.Node.NICs {
		if r.MAC == m {
			return lifecycle.NodeID(r.Candidate)
		}
	}
	return ""
}

// swapped is a UUID in the other byte order.
func swapped(u registration.ServerID) registration.ServerID {
	u[0], u[1], u[2], u[3] = u[3], u[2], u[1], u[0]
	u[4], u[5], u[6], u[7] = u[5], u[4], u[7], u[6]
	return u
}

// proposals are sightings of a MAC, and whether they make it a candidate.
var proposals = []struct {
	name string
	runs func(*pxeDesk)
	want bool
}{
	{"cycled and seen", func(p *pxeDesk) {
		p.cycles("cycle", true, true)
		time.Sleep(time.Minute)
		p.sees("b1", now(1, uuidOf(1)))
	}, true},
	{"turned on and seen", func(p *pxeDesk) { p.cycles("on", true, true); p.sees("b1", now(1, uuidOf(1))) }, true},
	{"its UUID in the other byte order", func(p *pxeDesk) { p.cycles("cycle", true, true); p.sees("b1", now(1, swapped(uuidOf(1)))) }, true},
	{"after ten minutes", func(p *pxeDesk) {
		p.cycles("cycle", true, true)
		time.Sleep(10 * time.Minute)
		p.sees("b1", now(1, uuidOf(1)))
	}, true},
	{"late", func(p *pxeDesk) {
		p.cycles("cycle", true, true)
		time.Sleep(10*time.Minute + 1)
		p.sees("b1", now(1, uuidOf(1)))
	}, false},
	{"seen in time, and reported late", func(p *pxeDesk) {
		p.cycles("cycle", true, true)
		s := now(1, uuidOf(1))
		time.Sleep(time.Hour)
		p.sees("b1", s)
	}, true},
	{"never cycled", func(p *pxeDesk) { p.sees("b1", now(1, uuidOf(1))) }, false},
	{"cycled without the override", func(p *pxeDesk) { p.cycles("cycle", false, false); p.sees("b1", now(1, uuidOf(1))) }, false},
	{"turned off", func(p *pxeDesk) { p.cycles("off", true, true); p.sees("b1", now(1, uuidOf(1))) }, false},
	{"an override that was spent", func(p *pxeDesk) {
		p.cycles("cycle", true, true)
		time.Sleep(11 * time.Minute)
		p.ends("cycle")
		p.sees("b1", now(1, uuidOf(1)))
	}, false},
	{"an override that stays", func(p *pxeDesk) {
		p.cycles("cycle", true, false)
		time.Sleep(11 * time.Minute)
		p.ends("cycle")
		p.sees("b1", now(1, uuidOf(1)))
	}, true},
	{"seen before", func(p *pxeDesk) {
		p.sees("b1", now(1, uuidOf(1)))
		time.Sleep(time.Second)
		p.cycles("cycle", true, true)
		p.sees("b1", now(1, uuidOf(1)))
	}, false},
	{"seen before by another booter", func(p *pxeDesk) {
		p.sees("b2", now(1, uuidOf(1)))
		time.Sleep(time.Second)
		p.cycles("cycle", true, true)
		p.sees("b1", now(1, uuidOf(1)))
	}, false},
	{"seen before by a booter that forgot it", func(p *pxeDesk) {
		p.sees("b1", now(1, uuidOf(1)))
		p.sees("b1")
		time.Sleep(48 * time.Hour)
		p.cycles("cycle", true, true)
		p.sees("b1", now(1, uuidOf(1)))
	}, false},
	{"the UUID from a second MAC", func(p *pxeDesk) { p.cycles("cycle", true, true); p.sees("b1", now(2, uuidOf(1)), now(1, uuidOf(1))) }, false},
	{"the UUID from a second MAC at another booter", func(p *pxeDesk) {
		p.sees("b2", now(2, swapped(uuidOf(1))))
		time.Sleep(23 * time.Hour)
		p.cycles("cycle", true, true)
		p.sees("b1", now(1, uuidOf(1)))
	}, false},
	{"the UUID from a second MAC, a day ago", func(p *pxeDesk) {
		p.sees("b2", now(2, uuidOf(1)))
		time.Sleep(25 * time.Hour)
		p.cycles("cycle", true, true)
		p.sees("b1", now(1, uuidOf(1)))
	}, true},
	{"the UUID from a second MAC that its booter reports no more", func(p *pxeDesk) {
		p.sees("b1", now(2, uuidOf(1)))
		p.sees("b1")
		p.cycles("cycle", true, true)
		p.sees("b1", now(1, uuidOf(1)))
	}, false},
	{"the UUID from a second MAC that sends another one now", func(p *pxeDesk) {
		p.sees("b1", now(2, swapped(uuidOf(1))))
		time.Sleep(time.Minute)
		p.sees("b1", now(2, uuidOf(3)))
		p.cycles("cycle", true, true)
		p.sees("b1", now(1, uuidOf(1)))
	}, false},
	{"the UUID from a second MAC that is reported no more, a day ago", func(p *pxeDesk) {
		p.sees("b1", now(2, uuidOf(1)))
		p.sees("b1")
		time.Sleep(24 * time.Hour)
		p.cycles("cycle", true, true)
		p.sees("b1", now(1, uuidOf(1)))
	}, true},
	{"another UUID", func(p *pxeDesk) { p.cycles("cycle", true, true); p.sees("b1", now(1, uuidOf(2))) }, false},
	{"no UUID", func(p *pxeDesk) { p.cycles("cycle", true, true); p.sees("b1", now(1, registration.ServerID{})) }, false},
	{"first seen with another UUID", func(p *pxeDesk) {
		p.cycles("cycle", true, true)
		p.sees("b1", now(1, uuidOf(2)))
		p.sees("b1", now(1, uuidOf(1)))
	}, false},
}

// BOOT-11: which sightings make a MAC the candidate of a machine that was cycled into
// PXE, and which prove nothing.
func TestProposals(t *testing.T) {
	for _, tt := range proposals {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newPXEDesk(t)
				defer p.Store().Close()
				tt.runs(p)
				want := lifecycle.NodeID("")
				if tt.want {
					want = p.id
				}
				if got := p.candidate(mac(1)); got != want {
					t.Errorf("a candidate of %q, want %q", got, want)
				}
			})
		})
	}
}
