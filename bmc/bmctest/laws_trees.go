package bmctest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ingotmetal/ingot/bmc"
)

// A Recording is a recorded BMC, and facts about it that were worked out without
// any driver.
type Recording struct {
	Name         string        `json:"-"`
	Systems      []SystemFacts `json:"systems"`
	VirtualMedia []MediumFacts `json:"virtualMedia"`
}

// SystemFacts are those of one member of the systems' collection.
type SystemFacts struct {
	URI          string   `json:"uri"`
	Power        string   `json:"powerState"`
	UUID         string   `json:"uuid"`
	Serial       string   `json:"serialNumber"`
	SKU          string   `json:"sku"`
	ResetTypes   []string `json:"resetTypes"` // none: no machine that has power of its own
	BootTargets  []string `json:"bootTargets"`
	InvalidMACs  int      `json:"invalidMACs"`
	DistinctMACs []string `json:"distinctMACs"`
	AdapterMACs  []string `json:"adapterMACs"`
	ControlMACs  []string `json:"controlMACs"` // of DistinctMACs, the BMC's own card for the host
}

// MediumFacts are those of one virtual drive.
type MediumFacts struct {
	URI    string   `json:"uri"`
	Types  []string `json:"mediaTypes"`
	Insert string   `json:"insert"` // action, or none-or-patch
}

// hosts are the systems that can be turned off and on.
func (r *Recording) hosts() []SystemFacts {
	var out []SystemFacts
	for _, s := range r.Systems {
		if len(s.ResetTypes) > 0 {
			out = append(out, s)
		}
	}
	return out
}

// ID is how a system is selected.
func (s *SystemFacts) id() string { return s.URI[strings.LastIndex(s.URI, "/")+1:] }

func treeLaws() []Law {
	return []Law{
		{48, Recorded, "of several machines none is taken without a selector", nil, nil, selectorNeeded},
		{49, Recorded, "the selector finds the same machine in any order", nil, nil, orderless},
		{50, Recorded, "addresses that name no card are told as such", needs(bmc.ReadMACs), nil, macsJudged},
		{51, Recorded, "UUIDs that name no machine are told as such", nil, nil, uuidsJudged},
		{52, Recorded, "every recorded BMC is read whole", nil, nil, treesRead},
		{53, Recorded, "values that no schema has are kept as they are", needs(bmc.BootOnce), nil, valuesKept},
	}
}

// recorded checks something of each system of each recording.
func (t *try) recorded(ctx context.Context, check func(*try, *Recording, SystemFacts) error) error {
	if t.Recordings == nil {
		return &unfit{"the subject has no recordings"}
	}
	var errs []error
	hosts := 0
	for _, r := range t.Recordings() {
		for _, s := range r.hosts() {
			hosts++
			err := t.on(ctx, Tree(r.Name, false), func(t *try) error { return check(t, &r, s) })
			if err != nil {
				errs = append(errs, fmt.Errorf("%s, %s: %w", r.Name, s.id(), err))
			}
		}
	}
	if hosts == 0 {
		return &unfit{"the subject's recordings hold no machine"}
	}
	return errors.Join(errs...)
}

// read opens a session with one system of the stage.
func (t *try) read(ctx context.Context, system string, use func(bmc.Session) error) error {
	e := t.stage.Endpoint()
	e.System = system
	s, err := t.openAt(ctx, e)
	if err != nil {
		return fmt.Errorf("open: %w", err)
	}
	defer s.Close(context.WithoutCancel(ctx))
	return use(s)
}

func (t *try) probe(ctx context.Context, system string) (p bmc.Probed, err error) {
	err = t.read(ctx, system, func(s bmc.Session) error {
		p, err = s.Probe(ctx)
		return err
	})
	return p, err
}

func selectorNeeded(ctx context.Context, t *try) error {
	return t.recorded(ctx, func(t *try, r *Recording, _ SystemFacts) error {
		_, err := t.probe(ctx, "")
		all := r.hosts()
		if len(all) == 1 {
			return err
		}
		if err := kinded(err, bmc.InvalidOption); err != nil {
			return err
		}
		for _, s := range all {
			if !strings.Contains(err.Error(), s.id()) {
				return fmt.Errorf("the refusal does not name %s: %w", s.id(), err)
			}
		}
		return nil
	})
}

func orderless(ctx context.Context, t *try) error {
	return t.recorded(ctx, func(t *try, r *Recording, s SystemFacts) error {
		for range 4 {
			err := t.on(ctx, Tree(r.Name, true), func(t *try) error {
				p, err := t.probe(ctx, s.id())
				if err == nil && p.System != s.URI {
					err = fmt.Errorf("the selector %s finds %s", s.id(), p.System)
				}
				return err
			})
			if err != nil {
				return err
			}
		}
		_, err := t.probe(ctx, "no-such-system")
		return kinded(err, bmc.NotFound, bmc.InvalidOption)
	})
}

func macsJudged(ctx context.Context, t *try) error {
	return t.recorded(ctx, func(t *try, _ *Recording, s SystemFacts) error {
		return t.read(ctx, s.id(), func(session bmc.Session) error {
			i, ok := bmc.As[bmc.Inventory](session)
			if !ok {
				return errors.New("the session has no inventory")
			}
			in, err := i.Inventory(ctx)
			if err != nil {
				return err
			}
			return s.judge(in.NICs)
		})
	})
}

// judge compares cards with the facts.
func (s *SystemFacts) judge(nics []bmc.NIC) error {
	good, faults := map[string]bool{}, map[bmc.MACFault]int{}
	for _, n := range nics {
		faults[n.Fault]++
		if n.Fault == bmc.NoFault {
			if good[n.MAC.String()] {
				return fmt.Errorf("%s stands twice without a fault", n.MAC)
			}
			good[n.MAC.String()] = true
		}
	}
	bad := faults[bmc.Absent] + faults[bmc.Malformed] + faults[bmc.Zero] + faults[bmc.Group]
	if bad < s.InvalidMACs || faults[bmc.ToController] < len(s.ControlMACs) {
		return fmt.Errorf("%d addresses are none, want %d; %d lead to the BMC, want %d", bad, s.InvalidMACs, faults[bmc.ToController], len(s.ControlMACs))
	}
	known := slices.Concat(s.DistinctMACs, s.AdapterMACs)
	for _, m := range s.DistinctMACs {
		if own := slices.Contains(s.ControlMACs, m); good[m] == own {
			return fmt.Errorf("%s: the BMC's own: %t, told as a good one: %t", m, own, good[m])
		}
	}
	for m := range good {
		if !slices.Contains(known, m) {
			return fmt.Errorf("%s is no address of this machine; known are %s", m, known)
		}
	}
	return nil
}

func uuidsJudged(ctx context.Context, t *try) error {
	return t.recorded(ctx, func(t *try, _ *Recording, s SystemFacts) error {
		p, err := t.probe(ctx, s.id())
		if err != nil {
			return err
		}
		want, is := bmc.ClaimUUID(s.UUID), p.UUID
		if !strings.EqualFold(is.Raw, want.Raw) || is.Fault != want.Fault || is.UUID != want.UUID || is.Swapped != want.Swapped {
			return fmt.Errorf("the UUID is told as %+v, want %+v", is, want)
		}
		return nil
	})
}

func treesRead(ctx context.Context, t *try) error {
	return t.recorded(ctx, func(t *try, r *Recording, s SystemFacts) error {
		return t.read(ctx, s.id(), func(session bmc.Session) error {
			if err := every(ctx, session); err != nil {
				return err
			}
			p, err := session.Probe(ctx)
			if err != nil {
				return err
			}
			var all []string
			for _, one := range r.Systems {
				all = append(all, one.URI)
			}
			slices.Sort(all)
			if !slices.Equal(p.Systems, all) {
				return fmt.Errorf("systems %s, want %s", p.Systems, all)
			}
			if p.Power.Raw != s.Power {
				return fmt.Errorf("power %q, want %q", p.Power.Raw, s.Power)
			}
			return nil
		})
	})
}

// valuesKept looks for the boot targets that have no name in package bmc. Old
// firmware spells some that have one in ways of its own, UefiCd or CD/DVD.
func valuesKept(ctx context.Context, t *try) error {
	named := map[bmc.BootTarget]string{
		bmc.BootNone: "none", bmc.BootPXE: "pxe", bmc.BootURI: "http", bmc.BootDisk: "hdd", bmc.BootCD: "cd", bmc.BootUSB: "usb", bmc.BootSetup: "setup",
	}
	kept := func(want string, targets []bmc.BootTarget) bool {
		return slices.ContainsFunc(targets, func(b bmc.BootTarget) bool {
			word, ours := named[b]
			return string(b) == want || ours && strings.Contains(strings.ToLower(want), word)
		})
	}
	return t.recorded(ctx, func(t *try, _ *Recording, s SystemFacts) error {
		return t.read(ctx, s.id(), func(session bmc.Session) error {
			b, ok := bmc.As[bmc.Boot](session)
			if !ok {
				return errors.New("the session has no boot")
			}
			targets, err := b.BootTargets(ctx)
			if err != nil {
				return err
			}
			for _, want := range s.BootTargets {
				if !kept(want, targets) {
					return fmt.Errorf("%q is not among the targets %s", want, targets)
				}
			}
			return nil
		})
	})
}
