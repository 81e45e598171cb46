package storetest

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"

	"github.com/ingotmetal/ingot/cmd/internal/store"
)

// endLaws are about how calls and stores end.
func endLaws() []Law {
	return []Law{
		{Name: "a context withdraws what has not run", Check: on(withdraws)},
		{Name: "a context withdraws nothing that has run", Check: on(withdrawsNothing)},
		{Name: "a panic reaches its caller alone", Check: on(panics)},
		{Name: "Failed and Err tell the end", Check: on(tellsEnd)},
		{Name: "Close waits for what has begun", Check: closeWaits},
		{Name: "what Close meets is kept or refused", Check: closeParts},
		{Name: "nothing is served after Close", Check: on(servesNothing)},
	}
}

// withdraws ends contexts before a call, and while it is queued.
func withdraws(ctx context.Context, s site) error {
	gone, end := context.WithCancel(ctx)
	end()
	ran := false
	_, err := s.Update(gone, func(store.Tx) error { ran = true; return nil })
	if ran || !errors.Is(err, context.Canceled) {
		return fmt.Errorf("an update with an ended context: %v; it ran: %t", err, ran)
	}
	if err = s.View(gone, func(store.Reader) error { ran = true; return nil }); ran || !errors.Is(err, context.Canceled) {
		return fmt.Errorf("a view with an ended context: %v; it ran: %t", err, ran)
	}
	h, err := s.hold(ctx)
	if err != nil {
		return err
	}
	defer h.release()
	queued, withdraw := context.WithCancel(ctx)
	defer withdraw()
	var late atomic.Bool
	result := make(chan error, 1)
	go func() {
		_, err := s.Update(queued, func(store.Tx) error { late.Store(true); return nil })
		result <- err
	}()
	settle()
	withdraw()
	if err := ends(ctx, "a withdrawn update", func() error { return <-result }); !errors.Is(err, context.Canceled) {
		return fmt.Errorf("a withdrawn update returned %v", err)
	}
	if err := h.end(ctx); err != nil {
		return err
	}
	if _, err := s.set(ctx, "behind", ""); err != nil {
		return err
	}
	if late.Load() {
		return errors.New("a withdrawn update ran")
	}
	return nil
}

// withdrawsNothing ends contexts from within closures.
func withdrawsNothing(ctx context.Context, s site) error {
	const writers, each = 8, 6
	if err := together(ctx, writers, func(w int) error {
		for n := range each {
			mine, end := context.WithCancel(ctx)
			rev, err := s.Update(mine, func(tx store.Tx) error {
				tx.Put(fmt.Sprintf("late/%d/%d", w, n), nil)
				tx.Log(told("late"))
				end()
				return nil
			})
			if end(); err != nil || rev == 0 {
				return fmt.Errorf("an update whose context ended as it ran returned revision %d, %v", rev, err)
			}
		}
		return nil
	}); err != nil {
		return err
	}
	st, err := s.state(ctx)
	if err == nil && len(st.data) != writers*each {
		err = fmt.Errorf("%d updates were acknowledged, %d are there", writers*each, len(st.data))
	}
	return err
}

// panics has some closures panic, beside others that do not.
func panics(ctx context.Context, s site) error {
	const writers, each = 6, 6
	bang := errors.New("bang")
	if err := together(ctx, writers, func(w int) error {
		for n := range each {
			bad := (w+n)%3 == 0
			var err error
			got := caught(func() {
				_, err = s.Update(ctx, func(tx store.Tx) error {
					tx.Put(fmt.Sprintf("panic/%d/%d", w, n), nil)
					tx.Log(told("panic"))
					if bad {
						panic(bang)
					}
					return nil
				})
			})
			if bad != (got == bang) || err != nil {
				return fmt.Errorf("a closure that panics: %t; its caller saw the panic %v and the error %v", bad, got, err)
			}
		}
		return nil
	}); err != nil {
		return err
	}
	if err := s.exits(ctx); err != nil {
		return err
	}
	st, err := s.state(ctx)
	if want := writers * each * 2 / 3; err == nil && (len(st.data) != want || len(st.rows) != want) {
		err = fmt.Errorf("%d keys and %d rows are there, want %d", len(st.data), len(st.rows), want)
	}
	return err
}

// exits has a closure end its goroutine, as one does that fails a test: its caller's
// ends with it, and the store goes on.
func (s site) exits(ctx context.Context) error {
	done := make(chan error, 1)
	go func() {
		err := error(nil)
		defer func() { done <- err }()
		_, _ = s.Update(ctx, func(tx store.Tx) error {
			tx.Put("exit", nil)
			runtime.Goexit()
			return nil
		})
		err = errors.New("Update returned to the caller of a closure that ended its goroutine")
	}()
	return ends(ctx, "an update whose closure ended its goroutine", func() error { return <-done })
}

// caught is what f panics with.
func caught(f func()) (v any) {
	defer func() { v = recover() }()
	f()
	return nil
}

func tellsEnd(ctx context.Context, s site) error {
	if come(s.Failed()) || s.Err() != nil {
		return fmt.Errorf("an open store has failed: %v", s.Err())
	}
	if _, err := s.Update(ctx, func(store.Tx) error { return errRefused }); !errors.Is(err, errRefused) || come(s.Failed()) {
		return fmt.Errorf("after a refusal, %v, the store has failed: %t", err, come(s.Failed()))
	}
	if err := ends(ctx, "Close", s.Close); err != nil {
		return err
	}
	if err := comes(ctx, "Failed", s.Failed()); err != nil {
		return err
	}
	if !errors.Is(s.Err(), store.ErrClosed) {
		return fmt.Errorf("a closed store's Err is %v", s.Err())
	}
	return nil
}

// closeWaits closes while an update runs, and finds it afterwards.
func closeWaits(ctx context.Context, sub Subject) error {
	opened, err := sub.Open(ctx)
	if err != nil {
		return err
	}
	s := site{opened}
	h, err := s.hold(ctx)
	if err != nil {
		return err
	}
	closed := make(chan error, 1)
	go func() { closed <- s.Close() }()
	settle()
	select {
	case <-closed:
		h.release()
		return errors.New("Close did not wait for an update that had begun")
	default:
	}
	if err := errors.Join(h.end(ctx), ends(ctx, "Close", func() error { return <-closed })); err != nil {
		return err
	}
	return on(func(ctx context.Context, s site) error { return s.View(ctx, model{"held": ""}.upTo(1)) })(ctx, sub)
}

// closeParts closes under many writers, and settles accounts once it is open again.
func closeParts(ctx context.Context, sub Subject) error {
	return on(func(ctx context.Context, s site) error {
		const writers, each = 8, 12
		fates := make([][]fate, writers)
		if err := together(ctx, writers+1, func(w int) error {
			if w < writers {
				fates[w] = s.write(ctx, fmt.Sprint(w), each)
				return nil
			}
			if err := comes(ctx, "Changed", s.Changed(0)); err != nil {
				return err
			}
			return s.Close()
		}); err != nil {
			return err
		}
		return on(func(ctx context.Context, s site) error {
			st, err := s.state(ctx)
			if err != nil {
				return err
			}
			dark, err := st.settle(fates)
			if err == nil && dark != (darkness{}) {
				err = errors.New("an update that met Close was told that its outcome is unknown")
			}
			return err
		})(ctx, sub)
	})(ctx, sub)
}

// servesNothing calls everything after Close, which comes again with on.
func servesNothing(ctx context.Context, s site) error {
	if _, err := s.set(ctx, "k", "1"); err != nil {
		return err
	}
	if err := ends(ctx, "Close", s.Close); err != nil {
		return err
	}
	ran := false
	right := func(err error) bool { return !ran && is[*store.Unavailable](err) && errors.Is(err, store.ErrClosed) }
	_, err := s.Update(ctx, func(store.Tx) error { ran = true; return nil })
	if !right(err) {
		return fmt.Errorf("an update after Close returned %v; it ran: %t", err, ran)
	}
	if err = s.View(ctx, func(store.Reader) error { ran = true; return nil }); !right(err) {
		return fmt.Errorf("a view after Close returned %v; it ran: %t", err, ran)
	}
	return nil
}
