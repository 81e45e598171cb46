package storetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/ingotmetal/ingot/cmd/internal/store"
	"github.com/ingotmetal/ingot/statemachine/journal"
)

// refusalLaws are about closures of which nothing is kept.
func refusalLaws() []Law {
	return []Law{
		{Name: "a refused closure leaves nothing", Check: on(leavesNothing)},
		{Name: "a change is told", Check: on(changeIsTold)},
		{Name: "a closure logs once", Check: on(logsOnce)},
		{Name: "an entry that is no row is refused", Check: on(noRow)},
		{Name: "bad keys are refused", Check: on(badKeys)},
		{Name: "a value has its bound", Check: on(bigValue)},
	}
}

// leavesNothing mixes closures that change their minds with others that do not, so
// that they share commits.
func leavesNothing(ctx context.Context, s site) error {
	const writers, each = 8, 12
	if err := together(ctx, writers, func(w int) error {
		for n := range each {
			name := fmt.Sprintf("%d/%d", w, n)
			_, err := s.Update(ctx, func(tx store.Tx) error {
				if v, ok := tx.Get("shared"); ok && bytes.HasPrefix(v, []byte("refused")) {
					return fmt.Errorf("a closure sees what another one refused: %s", v)
				}
				val := "kept " + name
				if n%2 == 1 {
					val = "refused " + name
				}
				for _, k := range []string{"own/" + name, "shared", store.LedgerPrefix + name} {
					tx.Put(k, []byte(val))
				}
				tx.Log(told(val))
				if n%2 == 1 {
					tx.Delete("own/" + fmt.Sprintf("%d/%d", w, n-1))
					return errRefused
				}
				return nil
			})
			if n%2 == 0 && err != nil || n%2 == 1 && !errors.Is(err, errRefused) {
				return fmt.Errorf("closure %s did not end as it said: %v", name, err)
			}
		}
		return nil
	}); err != nil {
		return err
	}
	st, err := s.state(ctx)
	if err != nil {
		return err
	}
	for k, v := range st.data {
		if !strings.HasPrefix(v, "kept") {
			return fmt.Errorf("%q is %q", k, v)
		}
	}
	for _, row := range st.rows {
		if !strings.HasPrefix(row.Facts[0].Subject, "kept") {
			return fmt.Errorf("row %d is a refused closure's", row.Revision)
		}
	}
	if want := writers * each / 2; len(st.rows) != want || len(st.data) != 2*want+1 {
		return fmt.Errorf("%d rows and %d keys, want %d and %d", len(st.rows), len(st.data), want, 2*want+1)
	}
	return nil
}

// changeIsTold is EVENT-1, with the exception of MACH-9.
func changeIsTold(ctx context.Context, s site) error {
	if err := s.fill(ctx, model{"there": "1", store.LedgerPrefix + "x": "1"}); err != nil {
		return err
	}
	for what, fn := range map[string]func(store.Tx) error{
		"an untold put": func(tx store.Tx) error {
			tx.Put(store.LedgerPrefix+"x", []byte("2"))
			tx.Put("new", nil)
			return nil
		},
		"an untold delete":         func(tx store.Tx) error { tx.Delete("there"); return nil },
		"an untold key like ledgr": func(tx store.Tx) error { tx.Put("ledger", nil); return nil },
	} {
		if err := s.refuses(ctx, what, is[*store.Misuse], fn); err != nil {
			return err
		}
	}
	before, err := s.state(ctx)
	if err != nil {
		return err
	}
	rev, err := s.Update(ctx, func(tx store.Tx) error {
		tx.Put(store.LedgerPrefix+"x", []byte("3"))
		return nil
	})
	if err != nil || rev != store.Rev(before.head.Revision) {
		return fmt.Errorf("an observation alone: revision %d, %v; want %d", rev, err, before.head.Revision)
	}
	if rev, err = s.Update(ctx, func(tx store.Tx) error { tx.Log(told("fact")); return nil }); err != nil || rev != store.Rev(before.head.Revision)+1 {
		return fmt.Errorf("a fact alone: revision %d, %v; want %d", rev, err, before.head.Revision+1)
	}
	after, err := s.state(ctx)
	if err == nil && (after.data[store.LedgerPrefix+"x"] != "3" || after.head.Revision != before.head.Revision+1) {
		err = fmt.Errorf("the observation is %q, the head %s", after.data[store.LedgerPrefix+"x"], after.head)
	}
	return err
}

func logsOnce(ctx context.Context, s site) error {
	return s.refuses(ctx, "a closure that logs twice", is[*store.Misuse], func(tx store.Tx) error {
		tx.Put("once", nil)
		tx.Log(told("first"))
		tx.Log(told("second"))
		return nil
	})
}

func noRow(ctx context.Context, s site) error {
	bad := map[string]func(*store.Entry){
		"no fact":      func(e *store.Entry) { e.Facts = nil },
		"no actor":     func(e *store.Entry) { e.Actor = "" },
		"no such type": func(e *store.Entry) { e.Facts = []journal.Fact{{Type: "?"}} },
	}
	for what, spoil := range bad {
		if err := s.refuses(ctx, what, is[*journal.Malformed], func(tx store.Tx) error {
			e := told("bad")
			spoil(&e)
			tx.Put("bad", nil)
			tx.Put(store.LedgerPrefix+"bad", nil)
			tx.Log(e)
			return nil
		}); err != nil {
			return err
		}
	}
	return nil
}

// badKeys writes, deletes and reads keys that cannot be.
func badKeys(ctx context.Context, s site) error {
	bad := []string{
		"", strings.Repeat("k", store.MaxKey+1), store.LogPrefix, store.LogKey(1), store.LogPrefix + "x", store.MetaPrefix, store.MetaPrefix + "head",
		"é", "a\x00", "\x00", "a\nb", "\x1f", "a\x7f", "\xff", "a\xc3",
	}
	for _, k := range bad {
		for what, write := range map[string]func(store.Tx){
			"put":    func(tx store.Tx) { tx.Put(k, []byte("bad")) },
			"delete": func(tx store.Tx) { tx.Delete(k) },
		} {
			if err := s.refuses(ctx, fmt.Sprintf("to %s %.20q", what, k), is[*store.Misuse], func(tx store.Tx) error {
				tx.Put("good", nil)
				tx.Log(told("keys"))
				write(tx)
				tx.Put("good too", nil)
				return nil
			}); err != nil {
				return err
			}
		}
	}
	return s.View(ctx, func(r store.Reader) error {
		for _, k := range append(bad, strings.Repeat("k", 1<<16)) {
			if v, ok := r.Get(k); ok && !kept(k) {
				return fmt.Errorf("%.20q is there: %q", k, v)
			}
		}
		return nil
	})
}

// bigValue writes the largest value, and one byte more.
func bigValue(ctx context.Context, s site) error {
	big := bytes.Repeat([]byte{0xA7}, store.MaxValue+1)
	if err := s.refuses(ctx, "a value that is too large", is[*store.Misuse], func(tx store.Tx) error {
		tx.Put("good", nil)
		tx.Put("big", big)
		tx.Log(told("big"))
		return nil
	}); err != nil {
		return err
	}
	want := model{"big": string(big[1:])}
	if err := s.fill(ctx, want); err != nil {
		return fmt.Errorf("the largest value: %w", err)
	}
	return s.View(ctx, func(r store.Reader) error {
		if v, ok := r.Get("big"); !ok || !bytes.Equal(v, big[1:]) {
			return fmt.Errorf("the largest value has come back with %d bytes", len(v))
		}
		return nil
	})
}
