package vmlab

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// fleetSize is how many machines a fleet has, and fleetWait how long each of them may
// take for all of it.
const (
	fleetSize = 10
	fleetWait = 15 * time.Minute
)

// fleet is the scenario of machines that get their power at once and are set up, each
// as soon as it asks.
func fleet(l *Lab, ctx context.Context) ([]Result, error) {
	for range fleetSize {
		if _, err := l.plain(ctx, PXE); err != nil {
			return nil, err
		}
	}
	all := l.machines[len(l.machines)-fleetSize:]
	results, errs := make([]Result, fleetSize), make([]error, fleetSize)
	began := l.Now()
	var wait sync.WaitGroup
	for i, m := range all {
		wait.Go(func() { results[i], errs[i] = l.one(ctx, "fleet", m, l.enrolls) })
	}
	wait.Wait()
	if err := errors.Join(errs...); err != nil {
		return results, err
	}
	l.say("site", "fleet", fmt.Sprintf("%d machines at once took %.0f s; the memory of their processes peaked at %d MiB in all", fleetSize, l.Now().Sub(began).Seconds(), peaks(all)))
	return results, nil
}

// enrolls has a machine announce itself and be set up.
func (l *Lab) enrolls(ctx context.Context, m *Machine) error {
	return l.steps(ctx, m, []step{
		{"power on", time.Minute, func(context.Context) error { return m.On() }},
		{"its first announce", fleetWait, func(ctx context.Context) error { return l.announces(ctx, m) }},
		{"approving its setup", time.Minute, func(ctx context.Context) error { return l.approve(ctx, m) }},
		{"its setup", fleetWait, func(ctx context.Context) error { return l.rests(ctx, m, "approved") }},
	})
}

// peaks is the sum of the machines' peaks of memory, in MiB.
func peaks(all []*Machine) (sum int64) {
	for _, m := range all {
		sum += m.peak
	}
	return sum
}
