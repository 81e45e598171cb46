package machine

import (
	"context"
	"errors"
	"time"

	"github.com/ingotmetal/ingot/bmc"
)

// Rotate changes the account's password to next. Nobody else talks to the BMC
// meanwhile, polling and the other machines behind it included, so that nobody
// logs in with the wrong one and locks the account. It is tried once.
//
// Then settle is called, still alone, with nil where next stands, and else with
// the error: the old one stands, or with [bmc.Indeterminate] either may. It
// makes the credential source agree, and keeps both where nobody knows. Settle
// gets a context that does not end with the caller's. Its error is joined to
// that of the rotation.
func (m *Machine) Rotate(ctx context.Context, next bmc.Secret, settle func(context.Context, error) error) error {
	began := time.Now()
	m.red.learn("", next)
	o := op{name: "rotate", attempts: 1}
	err := m.tries(ctx, o, func(ctx context.Context) error {
		leave, err := m.gate.door.enter(ctx, true)
		if err != nil {
			return err
		}
		defer leave()
		err = m.attempt(ctx, o, func(ctx context.Context, s *seat) error {
			a, ok := bmc.As[bmc.Accounts](s.session)
			if !ok {
				return &bmc.Error{Kind: bmc.Unsupports, Op: o.name, Sent: bmc.SentNo, Why: "the driver " + m.c.Driver.Info().Name + " does not"}
			}
			return a.RotatePassword(ctx, next)
		})
		settled := settle(context.WithoutCancel(ctx), err)
		m.drop(ctx, m.present()) // the next login takes what the source says now
		if settled != nil {
			err = m.red.err(errors.Join(err, settled))
		}
		return err
	})
	m.c.Metrics.Call(o.name, time.Since(began), err)
	m.c.Log.InfoContext(ctx, "password rotated", "err", err)
	return err
}
