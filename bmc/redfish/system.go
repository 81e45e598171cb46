package redfish

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/ingotmetal/ingot/bmc"
	"github.com/ingotmetal/ingot/bmc/wire"
)

const rootPath = "/redfish/v1/"

// openBudget bounds the requests of an Open: BMCs of multi-node chassis have up
// to some tens of systems.
const openBudget = 128

// find reads what selects the machine.
func (s *Session) find(ctx context.Context, selector string) error {
	c := s.call("open", openBudget)
	if err := s.readRoot(ctx, c); err != nil {
		return err
	}
	place := s.root.link("Systems")
	if place == "" {
		return c.fail(bmc.Protocol, bmc.SentYes, "the service has no systems", "is this a Redfish BMC?")
	}
	paths, err := s.systems(ctx, c, place)
	if err != nil {
		return err
	}
	list, err := c.read(ctx, paths)
	if err != nil {
		return err
	}
	i, err := choose(list, selector)
	if err != nil {
		return err
	}
	for _, one := range list {
		s.all = append(s.all, bare(one.path))
	}
	s.host = list[i]
	if err := s.findQuirks(ctx, c); err != nil {
		return err
	}
	if !s.opts.IgnoreChassis {
		s.box, err = c.findChassis(ctx, s.host, linkedAlone(list, i))
	}
	return err
}

// readRoot reads the service root, which asks for no credentials (DSP0266,
// section 13.3.1). A BMC that asks all the same gets them once.
func (s *Session) readRoot(ctx context.Context, c *call) error {
	a, err := s.wire.Do(ctx, wire.Request{Op: c.name, Path: rootPath})
	if err != nil {
		return err
	}
	if a.Status == http.StatusUnauthorized {
		s.root = doc{"Links": []byte(`{"Sessions":{"@odata.id":"/redfish/v1/SessionService/Sessions"}}`)}
		if s.root, a, err = c.get(ctx, rootPath); err != nil {
			return err
		}
	}
	if err := c.judge(a); err != nil {
		return err
	}
	var d doc
	if err := a.JSON(&d); err != nil {
		return err
	}
	s.root = d
	return nil
}

// systems lists the members. A service that knows the collection only with a
// trailing slash is asked with one from then on.
func (s *Session) systems(ctx context.Context, c *call, place string) ([]string, error) {
	paths, err := c.members(ctx, place)
	if !isKind(err, bmc.NotFound) || strings.HasSuffix(place, "/") {
		return paths, err
	}
	s.slash = true
	return c.members(ctx, place)
}

// read reads all systems, in the order of their paths. A member that dangles is
// kept: its node may be starting, and be the one that is meant.
func (c *call) read(ctx context.Context, paths []string) ([]host, error) {
	var list []host
	for _, p := range paths {
		d, _, err := c.get(ctx, p)
		gone := isKind(err, bmc.NotFound)
		if err != nil && !gone {
			return nil, err
		}
		list = append(list, host{path: p, doc: d, gone: gone})
	}
	if !slices.ContainsFunc(list, func(h host) bool { return !h.gone }) {
		return nil, c.fail(bmc.NotFound, bmc.SentYes, "the BMC has no system", "")
	}
	return list, nil
}

// isHost reports whether a system is a machine that can be driven: it can be
// reset, and is no composition or part.
func (h host) isHost() bool {
	kind := h.doc.str("SystemType")
	return h.doc.at("Actions").sub("#ComputerSystem.Reset") != nil && (kind == "" || kind == "Physical" || kind == "Virtual")
}

// choose returns the index of the machine that a selector names; an empty one
// names the only host. While a member dangles, neither that a host is the only one
// nor that a serial number is nobody else's is known.
func choose(list []host, selector string) (int, error) {
	found, sure := hosts(list), false
	if selector != "" {
		found, sure = matching(list, selector)
	}
	i := slices.IndexFunc(list, func(h host) bool { return h.gone })
	if len(found) == 1 && (i < 0 || sure && !list[found[0]].gone) {
		return found[0], nil
	}
	e := &bmc.Error{Kind: bmc.InvalidOption, Op: "open", Sent: bmc.SentYes, Do: "select one of " + names(list)}
	switch {
	case i >= 0 && len(found) < 2 && selector == "":
		e.Why = "the BMC lists another system, which it does not show now: " + bare(list[i].path)
	case i >= 0 && len(found) < 2:
		e.Kind, e.Why = bmc.Busy, "the BMC does not show a system that may be the one: "+bare(list[i].path)
	case len(found) == 0:
		e.Why = "no system is named " + selector
	case selector == "":
		e.Why = "the BMC has more than one machine"
	default:
		e.Why = "more than one system is named " + selector
	}
	return 0, e
}

// matching are the indexes of the systems that a selector names: by Id or path,
// else by UUID, else by serial number or service tag. Sure says that it is a name
// that no two systems share.
func matching(list []host, selector string) (found []int, sure bool) {
	for by, names := range []func(host) bool{
		func(h host) bool {
			return h.doc.str("Id") == selector || same(h.path, selector) || h.gone && lastOf(h.path) == selector
		},
		func(h host) bool { return sameUUID(h.doc.str("UUID"), selector) },
		func(h host) bool { return h.doc.str("SerialNumber") == selector || h.doc.str("SKU") == selector },
	} {
		for i, h := range list {
			if names(h) {
				found = append(found, i)
			}
		}
		if len(found) > 0 {
			return found, by < 2
		}
	}
	return nil, false
}

// hosts are the indexes of the machines; of a BMC that shows no host, of all
// systems that it shows.
func hosts(list []host) []int {
	var out, all []int
	for i, h := range list {
		if h.gone {
			continue
		}
		all = append(all, i)
		if h.isHost() {
			out = append(out, i)
		}
	}
	if len(out) == 0 {
		return all
	}
	return out
}

// names lists systems by Id and path, for an error.
func names(list []host) string {
	var out []string
	for _, h := range list {
		id := h.doc.str("Id")
		if h.gone {
			id = lastOf(h.path)
		}
		out = append(out, id+" ("+bare(h.path)+")")
	}
	return strings.Join(out, ", ")
}

// sameUUID compares in either order; a placeholder names nothing.
func sameUUID(reported, selector string) bool {
	u, ok := bmc.ReadUUID(selector)
	c := bmc.ClaimUUID(reported)
	return ok && c.Fault == "" && (c.UUID == u || c.Swapped == u)
}
