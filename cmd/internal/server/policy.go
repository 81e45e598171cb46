package server

import (
	"context"
	"net/netip"
	"time"

	"github.com/ingotmetal/ingot/cmd/api"
	"github.com/ingotmetal/ingot/cmd/internal/control"
	"github.com/ingotmetal/ingot/cmd/internal/store"
	"github.com/ingotmetal/ingot/statemachine/lifecycle"
)

// deadlines are the fields of a policy that are durations, by their names on the
// wire: states of the provision axis, and runs.
func deadlines(p *lifecycle.Policy) map[string]*time.Duration {
	return map[string]*time.Duration{
		"enrolling": &p.Deadlines.Enrolling, "acceptance": &p.Deadlines.Acceptance, "inspecting": &p.Deadlines.Inspecting,
		"commissioning": &p.Deadlines.Commissioning, "deploying": &p.Deadlines.Deploying, "releasing": &p.Deadlines.Releasing,
		"secure-erase": &p.Deadlines.SecureErase, "rescue": &p.Deadlines.Rescue, "unrescue": &p.Deadlines.Unrescue, "retiring": &p.Deadlines.Retiring,
		"run-provision": &p.Runs.Provision, "run-attest": &p.Runs.Attest, "run-wipe": &p.Runs.Wipe,
	}
}

// policyView is a policy as people see it.
func policyView(p lifecycle.Policy) api.Policy {
	v := api.Policy{AutoEnroll: !p.Strict, Allow: p.Allow, EnrollmentImage: p.Enrollment, RescueImage: p.Rescue, AnswerOnlyPXE: !p.AnswerAny,
		ClearBundles: p.ClearBundles, MaxUnapproved: p.MaxUnapproved, MaxDiscovered: p.MaxDiscovered}
	if p.Network.IsValid() {
		v.Network = p.Network.String()
	}
	v.Gateway, v.Server = addrText(p.Gateway), addrText(p.Server)
	for _, a := range p.Exclude {
		v.Exclude = append(v.Exclude, a.String())
	}
	for name, d := range deadlines(&p) {
		if *d != 0 {
			if v.Deadlines == nil {
				v.Deadlines = map[string]api.Duration{}
			}
			v.Deadlines[name] = api.Duration{Duration: *d}
		}
	}
	return v
}

func addrText(a netip.Addr) string {
	if !a.IsValid() {
		return ""
	}
	return a.String()
}

// parsePolicy reads a policy; what it means is checked by the step.
func parsePolicy(v *api.Policy) (lifecycle.Policy, error) {
	p := lifecycle.Policy{Strict: !v.AutoEnroll, Allow: v.Allow, Enrollment: v.EnrollmentImage, Rescue: v.RescueImage, AnswerAny: !v.AnswerOnlyPXE,
		ClearBundles: v.ClearBundles, MaxUnapproved: v.MaxUnapproved, MaxDiscovered: v.MaxDiscovered}
	var err error
	if v.Network != "" {
		if p.Network, err = netip.ParsePrefix(v.Network); err != nil {
			return p, invalid("body.network", "an IPv4 prefix such as 10.0.0.0/24")
		}
	}
	if p.Gateway, err = addr("body.gateway", v.Gateway); err != nil {
		return p, err
	}
	if p.Server, err = addr("body.server", v.Server); err != nil {
		return p, err
	}
	for _, text := range v.Exclude {
		a, err := netip.ParseAddr(text)
		if err != nil {
			return p, invalid("body.exclude", "IPv4 addresses")
		}
		p.Exclude = append(p.Exclude, a)
	}
	known := deadlines(&p)
	for name, d := range v.Deadlines {
		into, ok := known[name]
		if !ok {
			return p, invalid("body.deadlines", "names of states and runs: enrolling, acceptance, inspecting, commissioning, deploying, releasing, secure-erase, rescue, unrescue, retiring, run-provision, run-attest, run-wipe")
		}
		*into = d.Duration
	}
	return p, nil
}

// policyVersion is the revision of the newest row that changed the policy, 1 where
// none did (API-1).
func policyVersion(r store.Reader) uint64 {
	return max(1, control.ChangedAt(r, lifecycle.RowSite+"policy"))
}

func (s *Server) policyShow(ctx context.Context, _ *api.Empty) (api.PolicyView, error) {
	var out api.PolicyView
	err := s.Door.Store().View(ctx, func(r store.Reader) error {
		st, err := s.Door.Load(r, control.Target{})
		out = api.PolicyView{Policy: policyView(st.Site.Policy), Version: policyVersion(r)}
		return err
	})
	return out, err
}

func (s *Server) policySet(ctx context.Context, in *api.SetPolicy) (api.PolicyChanged, error) {
	p, err := parsePolicy(&in.Body)
	if err != nil {
		return api.PolicyChanged{}, err
	}
	c, err := s.call(ctx, api.PolicySet, in.Change, in)
	if err != nil {
		return api.PolicyChanged{}, err
	}
	done, err := s.Door.Do(ctx, c, control.Target{}, func(l *control.Look) (lifecycle.Input, error) {
		if v := policyVersion(l); in.Version != 0 && in.Version != v {
			return nil, stale()
		}
		call := by(ctx, in.Change)
		call.Version = 0 // it is the site's, not a node's
		return lifecycle.SetPolicy{Call: call, Policy: p, Reserved: control.Reserved(l)}, nil
	})
	if err != nil {
		return api.PolicyChanged{}, err
	}
	out := api.PolicyChanged{Outcome: outcome(in.Change, done)}
	out.PolicyView, err = s.policyShow(ctx, &api.Empty{})
	if in.DryRun {
		out.Policy = policyView(done.Next.Site.Policy)
	}
	return out, err
}
