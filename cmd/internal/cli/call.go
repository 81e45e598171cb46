package cli

import (
	"context"
	"errors"
	"io"
	"reflect"
	"time"

	"github.com/ingotmetal/ingot/cmd/api"
)

// tries is how often a call is made that meets no answer, and mostWait the longest
// that a server may ask to wait in between.
const (
	tries    = 4
	mostWait = 10 * time.Second
)

// key is the Idempotency-Key in an input; false where the operation has none.
func (v *verb) key(in reflect.Value) (reflect.Value, bool) {
	for _, p := range v.params {
		if p.field.In == api.InHeader && p.field.Name == "Idempotency-Key" {
			return p.field.At(in.Interface()), true
		}
	}
	return reflect.Value{}, false
}

// call makes the call, and again where it met no answer: reads, and changes by the
// same key, so that they are done once.
func (v *verb) call(ctx context.Context, c *connection, in reflect.Value) ([]byte, error) {
	key, keyed := v.key(in)
	if keyed && key.String() == "" && !v.dry() {
		drawn, err := v.draw()
		if err != nil {
			return nil, err
		}
		key.SetString(drawn)
	}
	may := keyed || !v.def.Mutates
	for try := 1; ; try++ {
		raw, err := c.Do(ctx, v.op, in.Interface())
		wait, again := retry(err, try)
		if err == nil || !may || !again || pause(ctx, wait) != nil {
			return raw, v.met(err, c.where, key)
		}
	}
}

// met adds to an error what to do: at a first contact, and where nobody knows
// whether a change took place.
func (v *verb) met(err error, t Context, key reflect.Value) error {
	lost, ok := errors.AsType[*api.Unreachable](err)
	if !ok {
		return err
	}
	if better := explained(err, t); better != err {
		return better
	}
	what, next := lost.Error(), ""
	if errors.Is(err, context.DeadlineExceeded) {
		what, next = t.Server+" gave no answer in the time that the command has", "--timeout gives it more"
	}
	if key.IsValid() && v.def.Mutates && key.String() != "" {
		next = "whether it took place is unknown; the same command with --idempotency-key " + key.String() + " does it at most once"
	}
	return &Refusal{what, next, "UNAVAILABLE"}
}

// retry reports whether a call that met err may be made again, and after how long.
func retry(err error, try int) (time.Duration, bool) {
	if try >= tries {
		return 0, false
	}
	wait := 100 * time.Millisecond << try
	if p, ok := errors.AsType[*api.Problem](err); ok {
		return max(wait, p.Wait()), p.Code() == "UNAVAILABLE" && p.Wait() <= mostWait
	}
	lost, ok := errors.AsType[*api.Unreachable](err)
	if !ok || errors.Is(lost, context.Canceled) || errors.Is(lost, context.DeadlineExceeded) {
		return 0, false
	}
	better := explained(lost, Context{}) // a key that is not believed is no better in a second
	return wait, better == error(lost) || CodeOf(better) != "UNAUTHENTICATED"
}

// pause waits, or returns ctx's error.
func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

// open is call for streams.
func (v *verb) open(ctx context.Context, c *connection, in reflect.Value) (io.ReadCloser, error) {
	body, err := c.Open(ctx, v.op, in.Interface())
	return body, v.met(err, c.where, reflect.Value{})
}
