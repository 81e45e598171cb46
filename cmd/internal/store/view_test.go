package store

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"
)

func TestViewsEnd(t *testing.T) {
	rows := reader{&fake{rows: map[string][]byte{"a": nil, "b": nil, "c": nil, "d": nil}}}
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		count := func(r Reader, step func(n int)) (n int) {
			for range r.Range("", "~") {
				n++
				step(n)
			}
			return n
		}
		var kept Reader
		mine := errors.New("mine")
		var tooLong *TooLong
		for name, c := range map[string]struct {
			fn   func(Reader) error
			want func(error) bool
		}{
			"in time": {func(r Reader) error {
				kept = r
				if n := count(r, func(int) { time.Sleep(MaxView / 5) }); n != 4 {
					return fmt.Errorf("saw %d", n)
				}
				return mine
			}, func(err error) bool { return err == mine }},
			"too long": {func(r Reader) error {
				if n := count(r, func(int) { time.Sleep(MaxView / 2) }); n != 2 {
					t.Errorf("saw %d", n)
				}
				if _, ok := r.Get("a"); ok {
					t.Error("saw a")
				}
				return mine
			}, func(err error) bool { return errors.As(err, &tooLong) }},
			"slow after its last read": {func(r Reader) error {
				r.Get("a")
				time.Sleep(2 * MaxView)
				return nil
			}, func(err error) bool { return err == nil }},
		} {
			if err := RunView(ctx, time.Now, rows, c.fn); !c.want(err) {
				t.Errorf("%s: %v", name, err)
			}
		}
		if _, ok := kept.Get("a"); ok {
			t.Error("a reader outlived its view")
		}
		err := RunView(ctx, time.Now, rows, func(r Reader) error {
			if n := count(r, func(n int) { cancel() }); n != 1 {
				t.Errorf("saw %d", n)
			}
			return nil
		})
		if err != context.Canceled {
			t.Error(err)
		}
	})
}
