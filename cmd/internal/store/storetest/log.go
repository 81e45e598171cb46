package storetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/ingotmetal/ingot/cmd/internal/store"
	"github.com/ingotmetal/ingot/statemachine/journal"
)

// logLaws are about the log and those who follow it.
func logLaws() []Law {
	return []Law{
		{Name: "a row is what was logged, with the keys that were written", Check: on(rowIsEntry)},
		{Name: "revisions have no gap", Check: on(noGap)},
		{Name: "the log is one chain", Check: on(oneChain)},
		{Name: "followers see each row once, in order, with its keys", Check: on(followed)},
		{Name: "Changed fires at the next row", Check: on(changedFires)},
	}
}

// rowIsEntry compares a row with its closure.
func rowIsEntry(ctx context.Context, s site) error {
	if err := s.fill(ctx, model{"old": "1", "gone": "1", "same": "1"}); err != nil {
		return err
	}
	e := store.Entry{Time: day.Add(7 * time.Nanosecond), Actor: "someone", Facts: []journal.Fact{
		{Type: "kit.first", Subject: "n1", Body: "\x00\xff"}, {Type: "kit.second"}, {Type: "kit.first", Subject: "n1"},
	}}
	rev, err := s.Update(ctx, func(tx store.Tx) error {
		tx.Put("z", nil)
		tx.Put("same", []byte("1"))
		tx.Put(store.LedgerPrefix+"seen", nil)
		tx.Put("old", []byte("2"))
		tx.Put("old", []byte("3"))
		tx.Log(e)
		tx.Delete("gone")
		tx.Delete(store.LedgerPrefix + "unseen")
		tx.Put("a", nil)
		tx.Put("ledger", nil) // is none of the ledger's
		return nil
	})
	if err != nil {
		return err
	}
	st, err := s.state(ctx)
	if err != nil {
		return err
	}
	row, ok := st.row(rev)
	if want := []string{"a", "gone", "ledger", "old", "same", "z"}; !ok || !slices.Equal(row.Keys, want) {
		return fmt.Errorf("the row names the keys %q, want %q", row.Keys, want)
	}
	if !row.Time.Equal(e.Time) || row.Actor != e.Actor || !slices.Equal(row.Facts, e.Facts) {
		return fmt.Errorf("the row is %+v, logged was %+v", row, e)
	}
	return nil
}

// noGap counts revisions, one by one and then at once.
func noGap(ctx context.Context, s site) error {
	var saw journal.Head
	look := func(tx store.Tx) error { saw = tx.Head(); return nil }
	for want := store.Rev(1); want <= 5; want++ {
		rev, err := s.Update(ctx, func(tx store.Tx) error {
			if got := store.Rev(tx.Head().Revision); got != want-1 {
				return fmt.Errorf("the closure sees the head at %d, want %d", got, want-1)
			}
			tx.Log(told("gap"))
			return nil
		})
		if err != nil || rev != want {
			return fmt.Errorf("Update returned revision %d, %v; want %d", rev, err, want)
		}
		if _, err := s.Update(ctx, func(tx store.Tx) error { tx.Log(told("no")); return errRefused }); !errors.Is(err, errRefused) {
			return err
		}
		if rev, err = s.Update(ctx, look); err != nil || rev != want || store.Rev(saw.Revision) != want {
			return fmt.Errorf("a closure that logs nothing saw %s and returned revision %d, %v; want %d", saw, rev, err, want)
		}
	}
	const writers, each = 8, 10
	revs := make([]store.Rev, writers*each)
	if err := together(ctx, writers, func(w int) (err error) {
		for n := range each {
			i := w*each + n
			revs[i], err = s.set(ctx, "gap", fmt.Sprint(i))
			if err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		return err
	}
	slices.Sort(revs)
	for i, rev := range revs {
		if rev != store.Rev(6+i) {
			return fmt.Errorf("revision %d was returned where %d was due", rev, 6+i)
		}
	}
	_, err := s.state(ctx)
	return err
}

// oneChain writes at once, and holds each head that it saw against the end.
func oneChain(ctx context.Context, s site) error {
	start, err := s.state(ctx)
	if err != nil {
		return err
	}
	if start.head.Revision != 0 || start.head != start.base || len(start.data) != 0 {
		return fmt.Errorf("a fresh store begins after %s, ends at %s and holds %d keys", start.base, start.head, len(start.data))
	}
	heads := make([]journal.Head, 4*10)
	if err := together(ctx, 4, func(w int) error {
		for n := range 10 {
			at := &heads[w*10+n]
			if _, err := s.Update(ctx, func(tx store.Tx) error {
				*at = tx.Head()
				tx.Put(fmt.Sprint(w, n), nil)
				tx.Log(told("chain"))
				return nil
			}); err != nil {
				return err
			}
			if _, err := s.state(ctx); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		return err
	}
	return s.View(ctx, func(r store.Reader) error {
		end, err := journal.Verify(start.base, store.Rows(r, 0), append(heads, r.Head())...)
		if err == nil && end.Revision != uint64(len(heads)) {
			err = fmt.Errorf("the log ends at %s, want revision %d", end, len(heads))
		}
		return err
	})
}

// followed has readers follow many writers by Changed and Rows.
func followed(ctx context.Context, s site) error {
	const writers, each, readers = 16, 6, 3
	return together(ctx, writers+readers, func(i int) error {
		if i >= writers {
			return s.follow(ctx, writers*each)
		}
		for n := range each {
			key := fmt.Sprintf("own/%d/%d", i, n)
			if _, err := s.Update(ctx, func(tx store.Tx) error {
				rev := []byte(fmt.Sprint(tx.Head().Revision + 1))
				tx.Put(key, rev)
				tx.Put("shared", rev)
				tx.Log(told(key))
				return nil
			}); err != nil {
				return err
			}
		}
		return nil
	})
}

// follow reads the log up to a revision. What a row names is there with it.
func (s site) follow(ctx context.Context, to store.Rev) error {
	for at := store.Rev(0); at < to; {
		if err := s.View(ctx, func(r store.Reader) error {
			for row, err := range store.Rows(r, at) {
				if err != nil {
					return err
				}
				if store.Rev(row.Revision) != at+1 {
					return fmt.Errorf("after row %d a follower sees row %d", at, row.Revision)
				}
				at++
				own, _ := r.Get(row.Facts[0].Subject)
				if want := fmt.Sprint(row.Revision); string(own) != want || !slices.Contains(row.Keys, row.Facts[0].Subject) {
					return fmt.Errorf("row %d is seen, and its key %q is %q", at, row.Facts[0].Subject, own)
				}
			}
			if shared, _ := r.Get("shared"); at > 0 && string(shared) != fmt.Sprint(uint64(at)) {
				return fmt.Errorf("the newest row is %d, and the key that it wrote is of %q", at, shared)
			}
			return nil
		}); err != nil {
			return err
		}
		if at == to {
			break
		}
		if err := comes(ctx, fmt.Sprintf("Changed(%d)", at), s.Changed(at)); err != nil {
			return err
		}
	}
	return nil
}

// changedFires wants it neither early nor late.
func changedFires(ctx context.Context, s site) error {
	if _, err := s.set(ctx, "k", "1"); err != nil {
		return err
	}
	wait := []<-chan struct{}{s.Changed(1), s.Changed(1)}
	quiet := map[string]func(store.Tx) error{
		"an observation":    func(tx store.Tx) error { tx.Put(store.LedgerPrefix+"k", nil); return nil },
		"a look":            func(tx store.Tx) error { return nil },
		"a refused closure": func(tx store.Tx) error { tx.Log(told("no")); return errRefused },
	}
	for what, fn := range quiet {
		if _, err := s.Update(ctx, fn); err != nil && !errors.Is(err, errRefused) {
			return err
		}
		if come(wait[0]) || come(wait[1]) || come(s.Changed(1)) {
			return fmt.Errorf("%s has Changed fire", what)
		}
	}
	if !come(s.Changed(0)) {
		return errors.New("there is a row 1, and Changed(0) is not closed")
	}
	if _, err := s.set(ctx, "k", "2"); err != nil {
		return err
	}
	for _, c := range wait {
		if err := comes(ctx, "Changed(1)", c); err != nil {
			return err
		}
	}
	late := s.Changed(2)
	if come(late) || !come(s.Changed(1)) || !come(s.Changed(0)) {
		return errors.New("after row 2, Changed(2) is closed, or Changed(1) or Changed(0) is not")
	}
	if err := ends(ctx, "Close", s.Close); err != nil {
		return err
	}
	return errors.Join(comes(ctx, "Changed(2) at the end", late), comes(ctx, "Changed after the end", s.Changed(2)), comes(ctx, "Changed ahead of the end", s.Changed(9)))
}
