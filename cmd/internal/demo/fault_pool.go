package demo

import (
	"context"
	"fmt"
	"net/netip"

	"github.com/ingotmetal/ingot/booter"
	"github.com/ingotmetal/ingot/cmd/api"
)

// tooMany is how many machines more there are than addresses.
func (l *lab) tooMany() int { return min(3, len(l.machines)-1) }

// narrowPool sets a policy with fewer addresses than machines.
func narrowPool(ctx context.Context, l *lab) error {
	l.free = len(l.machines) - l.tooMany()
	bits := 29
	for 1<<(32-bits) < len(l.machines)+8 {
		bits--
	}
	pool := netip.PrefixFrom(admin.Addr(), bits)
	in := api.SetPolicy{Body: l.rules()}
	in.Body.Network, in.Body.Gateway = pool.String(), ""
	for at := after(booth, l.free+1); pool.Contains(at); at = at.Next() {
		in.Body.Exclude = append(in.Body.Exclude, at.String())
	}
	l.say("ada", "policy", fmt.Sprintf("%d addresses for %d machines", l.free, len(l.machines)))
	_, err := api.PolicySet.Call(ctx, l.operator, &in)
	return err
}

func after(a netip.Addr, n int) netip.Addr {
	for range n {
		a = a.Next()
	}
	return a
}

// makeRoom waits for those that got an address, looks at the others, and retires
// machines until each of them had one.
func makeRoom(ctx context.Context, l *lab) error {
	if err := l.until(ctx, l.free); err != nil {
		return err
	}
	if err := l.lowestAddresses(ctx, l.free); err != nil {
		return err
	}
	var in, out []*machine
	for _, m := range l.machines {
		if l.done[m] {
			in = append(in, m)
			continue
		}
		out = append(out, m)
		if err := l.leftOut(ctx, m); err != nil {
			return err
		}
	}
	for len(out) > 0 { // room for as many as there is at once
		n := min(len(in), len(out))
		for _, m := range in[:n] {
			if err := l.makePlace(ctx, m); err != nil {
				return err
			}
		}
		if err := l.until(ctx, len(l.done)+n); err != nil {
			return err
		}
		in, out = l.working(), out[n:]
	}
	return nil
}

// working are the machines that are approved and not retired.
func (l *lab) working() (all []*machine) {
	for m := range l.done {
		if !m.retired {
			all = append(all, m)
		}
	}
	return all
}

// leftOut looks at a machine without an address: it is seen and silent with its
// reason, and nothing of it is half done.
func (l *lab) leftOut(ctx context.Context, m *machine) error {
	if err := l.silent(ctx, m, booter.StateDiscovered); err != nil {
		return err
	}
	if err := l.moment(ctx, m, "report", "no free address"); err != nil {
		return err
	}
	rec, err := api.BootShow.Call(ctx, l.operator, &api.BootRef{MAC: m.mac.String()})
	if err != nil {
		return err
	}
	if rec.State != "discovered" || rec.Address != "" || rec.Image != "" {
		return &Broken{fmt.Sprintf("%s is half admitted: %+v", m.name(), rec)}
	}
	return nil
}

// makePlace retires a machine and removes its record, whose address is then free.
func (l *lab) makePlace(ctx context.Context, m *machine) error {
	if err := l.retireOne(ctx, m); err != nil {
		return err
	}
	_, err := api.BootPurge.Call(ctx, l.operator, &api.BootChange{BootRef: api.BootRef{MAC: m.mac.String()}})
	l.say(m.name(), "purged", "its address is free, for the next that is seen")
	return err
}
