package storetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/ingotmetal/ingot/cmd/internal/store"
	"github.com/ingotmetal/ingot/statemachine/journal"
)

// keepingLaws are about what is there when a store is opened again.
func keepingLaws() []Law {
	return []Law{
		{Name: "opening again finds everything", Check: reopens},
		{Name: "trimming drops old rows alone", Check: trims},
		{Name: "a crash loses nothing acknowledged", Needs: Crashes, Check: crashes},
	}
}

// busy writes all kinds of things at once, and what they come to is in the state.
func (s site) busy(ctx context.Context, round int) error {
	if err := together(ctx, 4, func(w int) error {
		for n := range 5 {
			name := fmt.Sprintf("%d/%d/%d", round, w, n)
			if _, err := s.Update(ctx, func(tx store.Tx) error {
				tx.Put("busy/"+name, []byte(name))
				tx.Put("empty/"+name, nil)
				tx.Put(store.LedgerPrefix+name, bytes.Repeat([]byte{0}, n))
				tx.Delete("busy/" + fmt.Sprintf("%d/%d/%d", round-1, w, n))
				tx.Log(told(name))
				return nil
			}); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		return err
	}
	_, err := s.Update(ctx, func(tx store.Tx) error { tx.Put(store.LedgerPrefix+"last", []byte{byte(round)}); return nil })
	return err
}

// survives keeps busy, has the store come back by other means, and wants the same
// state; thrice. The next revision is the one that follows.
func survives(ctx context.Context, s *site, back func() error) error {
	for round := range 3 {
		if err := s.busy(ctx, round); err != nil {
			return err
		}
		before, err := s.state(ctx)
		if err != nil {
			return err
		}
		if err := back(); err != nil {
			return err
		}
		after, err := s.state(ctx)
		if err == nil {
			err = before.same(after)
		}
		if err != nil {
			return fmt.Errorf("round %d: %w", round, err)
		}
		if rev, err := s.set(ctx, "next", ""); err != nil || rev != store.Rev(before.head.Revision)+1 {
			return fmt.Errorf("round %d: the next revision is %d, %v; want %d", round, rev, err, before.head.Revision+1)
		}
	}
	return nil
}

func reopens(ctx context.Context, sub Subject) error {
	return on(func(ctx context.Context, s site) error {
		hostile := model{}
		for i, k := range hostileKeys() {
			hostile[k] = fmt.Sprint(i)
		}
		if err := s.fill(ctx, hostile); err != nil {
			return err
		}
		err := survives(ctx, &s, func() error { return s.again(ctx, sub) })
		return errors.Join(err, ends(ctx, "Close", s.Close))
	})(ctx, sub)
}

func crashes(ctx context.Context, sub Subject) error {
	return on(func(ctx context.Context, s site) error {
		err := survives(ctx, &s, func() error {
			next, err := sub.Crash(ctx)
			if err != nil {
				return err
			}
			_ = ends(ctx, "Close after a crash", s.Close) // it is dead; its error says nothing
			s.Store = next
			return nil
		})
		return errors.Join(err, ends(ctx, "Close", s.Close))
	})(ctx, sub)
}

// trims drops rows step by step, and opens again in between.
func trims(ctx context.Context, sub Subject) error {
	return on(func(ctx context.Context, s site) error {
		err := trimming(ctx, sub, &s)
		return errors.Join(err, ends(ctx, "Close", s.Close))
	})(ctx, sub)
}

func trimming(ctx context.Context, sub Subject, s *site) error {
	for n := range 6 {
		if _, err := s.set(ctx, fmt.Sprint("t/", n), "1"); err != nil {
			return err
		}
	}
	see := func(tx store.Tx) error { tx.Put(store.LedgerPrefix+"t", []byte("1")); return nil }
	if _, err := s.Update(ctx, see); err != nil {
		return err
	}
	full, err := s.state(ctx)
	if err != nil {
		return err
	}
	for _, step := range []struct{ to, rows store.Rev }{{2, 4}, {2, 4}, {1, 4}, {0, 4}, {5, 1}, {5, 1}} {
		if _, err := s.Update(ctx, func(tx store.Tx) error { tx.Trim(step.to); return nil }); err != nil {
			return fmt.Errorf("trimming to %d: %w", step.to, err)
		}
		for _, next := range []func() error{
			func() error { _, err := s.Update(ctx, see); return err }, // a commit that trims nothing
			func() error { return s.again(ctx, sub) },
			func() error { return nil },
		} {
			if err := s.trimmed(ctx, full, int(step.rows)); err != nil {
				return fmt.Errorf("after trimming to %d: %w", step.to, err)
			}
			if err := next(); err != nil {
				return err
			}
		}
	}
	for _, to := range []store.Rev{6, 7, 99} {
		if err := s.refuses(ctx, fmt.Sprintf("trimming to %d, the newest being 6", to), is[*store.Misuse], func(tx store.Tx) error {
			tx.Put("bad", nil)
			tx.Log(told("trim"))
			tx.Trim(to)
			return nil
		}); err != nil {
			return err
		}
	}
	if rev, err := s.Update(ctx, func(tx store.Tx) error { tx.Log(told("trim")); tx.Trim(5); return nil }); err != nil || rev != 7 {
		return fmt.Errorf("the revision after trimming is %d, %v; want 7", rev, err)
	}
	_, err = s.state(ctx)
	return err
}

// trimmed wants the last rows of the full log, the base before them, and all else
// as it was.
func (s site) trimmed(ctx context.Context, full state, rows int) error {
	st, err := s.state(ctx)
	if err != nil {
		return err
	}
	cut := len(full.rows) - rows
	last := full.rows[cut-1]
	want := journal.Head{Revision: last.Revision, Hash: last.Hash()}
	if st.base != want || st.head != full.head || !maps.Equal(st.data, full.data) {
		return fmt.Errorf("the log begins after %s and ends at %s, want %s and %s; the data are the same: %t", st.base, st.head, want, full.head, maps.Equal(st.data, full.data))
	}
	if !slices.EqualFunc(st.rows, full.rows[cut:], func(a, b journal.Row) bool { return a.Hash() == b.Hash() }) {
		return fmt.Errorf("%d rows are left, want the last %d", len(st.rows), rows)
	}
	return nil
}
