package storetest

import (
	"context"
	"errors"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/anishathalye/porcupine"
	"github.com/ingotmetal/ingot/cmd/internal/store"
)

// The size of a history, and how long it may take to judge it. One that takes
// longer is let pass.
const (
	clients   = 6
	calls     = 24
	judgement = 2 * time.Second
)

// A call is what a client asked of one of several keys.
type call struct {
	key      string
	do       string
	arg, was int
}

// history has clients call at once and judges what they saw. act makes a call and
// returns its result.
func history(ctx context.Context, m porcupine.Model, draw func(*rand.Rand) call, act func(call) (int, error)) error {
	var clock atomic.Int64 // only the order of calls and returns counts
	ops := make([]porcupine.Operation, clients*calls)
	if err := together(ctx, clients, func(client int) error {
		rng := rand.New(rand.NewPCG(uint64(client), 11))
		for n := range calls {
			c := draw(rng)
			op := porcupine.Operation{ClientId: client, Input: c, Call: clock.Add(1)}
			out, err := act(c)
			if err != nil {
				return err
			}
			op.Output, op.Return = out, clock.Add(1)
			ops[client*calls+n] = op
		}
		return nil
	}); err != nil {
		return err
	}
	m.Partition = byKey
	if porcupine.CheckOperationsTimeout(m, ops, judgement) == porcupine.Illegal {
		return errors.New("no order of these calls, one at a time, explains what they returned")
	}
	return nil
}

// byKey parts a history into those of its keys.
func byKey(ops []porcupine.Operation) [][]porcupine.Operation {
	parts := map[string][]porcupine.Operation{}
	for _, op := range ops {
		key := op.Input.(call).key
		parts[key] = append(parts[key], op)
	}
	var all [][]porcupine.Operation
	for _, part := range parts {
		all = append(all, part)
	}
	return all
}

// registersLinear reads in views and writes, and compares and sets, in updates.
func registersLinear(ctx context.Context, s site) error {
	model := porcupine.Model{
		Init: func() any { return 0 },
		Step: func(state, in, out any) (bool, any) {
			c, was := in.(call), state.(int)
			switch {
			case c.do == "write":
				return out == was, c.arg
			case c.do == "swap" && was == c.was:
				return out == was, c.arg
			}
			return out == was, was
		},
	}
	draw := func(rng *rand.Rand) call {
		return call{fmt.Sprint("reg/", rng.IntN(3)), []string{"read", "look", "write", "swap"}[rng.IntN(4)], rng.IntN(4), rng.IntN(4)}
	}
	return history(ctx, model, draw, func(c call) (out int, err error) {
		if c.do == "read" {
			err = s.View(ctx, func(r store.Reader) error { out = number(r, c.key); return nil })
			return out, err
		}
		_, err = s.Update(ctx, func(tx store.Tx) error {
			out = number(tx, c.key)
			if c.do == "write" || c.do == "swap" && out == c.was {
				tx.Put(c.key, []byte{byte(c.arg)})
				tx.Log(told(c.key))
			}
			return nil
		})
		return out, err
	})
}

// number is the register at a key, 0 where it is not there.
func number(r store.Reader, key string) int {
	if v, ok := r.Get(key); ok && len(v) == 1 {
		return int(v[0])
	}
	return 0
}

// addressesLinear takes the lowest free address of a pool, and gives some back.
func addressesLinear(ctx context.Context, s site) error {
	model := porcupine.Model{
		Init: func() any { return uint64(0) },
		Step: func(state, in, out any) (bool, any) {
			c, taken := in.(call), state.(uint64)
			if c.do == "release" {
				return true, taken &^ (1 << c.arg)
			}
			n := bits.TrailingZeros64(^taken)
			return out == n, taken | 1<<n
		},
	}
	draw := func(rng *rand.Rand) call {
		return call{key: fmt.Sprintf("pool/%d/", rng.IntN(4)), do: []string{"take", "take", "release"}[rng.IntN(3)], arg: rng.IntN(8)}
	}
	return history(ctx, model, draw, func(c call) (out int, err error) {
		_, err = s.Update(ctx, func(tx store.Tx) error {
			tx.Log(told(c.key))
			if c.do == "release" {
				tx.Delete(slot(c.key, c.arg))
				return nil
			}
			out = lowest(tx, c.key)
			tx.Put(slot(c.key, out), nil)
			return nil
		})
		return out, err
	})
}
