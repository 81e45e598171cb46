package bmctest

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ingotmetal/ingot/bmc"
)

// staysHome lets the BMC try to lead the driver elsewhere. What the operations
// answer is other laws' affair.
func staysHome(ctx context.Context, t *try) error {
	sim, err := t.sim()
	if err != nil {
		return err
	}
	if s, err := t.open(ctx); err == nil {
		_ = every(ctx, s)
		_ = s.Close(context.WithoutCancel(ctx))
	}
	if n := sim.Tally().Elsewhere; n != 0 {
		return fmt.Errorf("%d requests went to another host", n)
	}
	return nil
}

func movesHere(ctx context.Context, t *try) error {
	sim, err := t.sim()
	if err != nil {
		return err
	}
	if err := t.touch(ctx); err != nil {
		return err
	}
	if n := sim.Tally().Elsewhere; n != 0 {
		return fmt.Errorf("%d requests went to another host", n)
	}
	return nil
}

// linksRefused wants an error that says so: links that lead elsewhere are no
// missing parts.
func linksRefused(ctx context.Context, t *try) error {
	s, err := t.open(ctx)
	if err == nil {
		defer s.Close(context.WithoutCancel(ctx))
		err = every(ctx, s)
	}
	return kinded(err, bmc.Untrusted)
}

func strangerRefused(ctx context.Context, t *try) error {
	sim, err := t.sim()
	if err != nil {
		return err
	}
	err = t.touch(ctx)
	if n := sim.Tally().Requests; n != 0 {
		return fmt.Errorf("%d requests were sent", n)
	}
	return errors.Join(kinded(err, bmc.PeerIdentity), sent(err, bmc.SentNo))
}

// maxBody is more than any resource of a BMC has.
const maxBody = 64 << 20

func bodyLimited(ctx context.Context, t *try) error {
	before := allocated()
	err := t.touch(ctx)
	if grown := allocated() - before; grown > maxBody {
		return fmt.Errorf("%d MiB were read", grown>>20)
	}
	return kinded(err, bmc.Protocol)
}

// maxPages is more than any BMC has resources in one tree.
const maxPages = 2000

func pagesLimited(ctx context.Context, t *try) error {
	sim, err := t.sim()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	err = t.with(ctx, func(s bmc.Session) error { return every(ctx, s) })
	if n := sim.Tally().Requests; n > maxPages {
		return fmt.Errorf("%d requests were sent", n)
	}
	if ctx.Err() != nil {
		return errors.New("it went on until the deadline")
	}
	return kinded(err, bmc.Protocol)
}

func dripEnds(ctx context.Context, t *try) error {
	const limit = 2 * time.Second
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	return t.endsBy(ctx, time.Now().Add(limit))
}

func cancelReturns(ctx context.Context, t *try) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	left := time.Now().Add(time.Second)
	stop := time.AfterFunc(time.Second, cancel)
	defer stop.Stop()
	return t.endsBy(ctx, left)
}

// endsBy wants an operation to fail at most a second after the instant at which
// its context ends.
func (t *try) endsBy(ctx context.Context, at time.Time) error {
	err := t.touch(ctx)
	late := time.Since(at)
	switch {
	case err == nil:
		return errors.New("an answer that never came whole was taken")
	case late > time.Second:
		return fmt.Errorf("it returned %s after its context ended", late)
	case late < -100*time.Millisecond:
		return fmt.Errorf("it gave up %s before: %w", -late, err)
	}
	return nil
}
