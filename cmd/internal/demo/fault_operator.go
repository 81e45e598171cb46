package demo

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/ingotmetal/ingot/cmd/api"
)

// secondOperator signs another operator in.
func secondOperator(ctx context.Context, l *lab) (err error) {
	l.second, err = l.signIn(ctx, "bob")
	return err
}

// approveTwice has two operators approve a machine at once, every other one with
// different plans. One wins; the other is told so, and nothing of theirs is done.
func approveTwice(ctx context.Context, l *lab, m *machine) error {
	asks := []asked{{"ada", l.operator, l.setup(m)}, {"bob", l.second, l.setup(m)}}
	if m.n%2 == 0 {
		asks[1].setup.Hostname, asks[1].setup.Layout.Root = m.name()+"-bob", 128<<20
	}
	var all sync.WaitGroup
	errs := make([]error, len(asks))
	shown := make([]api.SetupPlan, len(asks))
	for i, a := range asks {
		var err error
		if shown[i], err = l.plan(ctx, m, a); err != nil {
			return err
		}
	}
	for i, a := range asks {
		all.Go(func() { errs[i] = l.confirm(ctx, m, a, shown[i]) })
	}
	all.Wait()
	won := 0
	if errs[0] != nil {
		won = 1
	}
	refused, ok := errors.AsType[*api.Problem](errs[1-won])
	if errs[won] != nil || !ok || refused.Name != "CONFLICT" {
		return &Broken{fmt.Sprintf("%s was approved twice at once: %v, %v", m.name(), errs[0], errs[1])}
	}
	m.planned(*shown[won].Layout)
	l.say(asks[1-won].who, "refused", refused.Name+": "+refused.Detail)
	row, err := l.show(ctx, m)
	if err != nil {
		return err
	}
	if row.Plan == nil || row.Plan.Digest != shown[won].Digest || row.Plan.Hostname != asks[won].setup.Hostname {
		return &Broken{m.name() + " is not set up as " + asks[won].who + " approved"}
	}
	return nil
}
