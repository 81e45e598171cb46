package storetest

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/ingotmetal/ingot/cmd/internal/store"
)

// faultLaws are about commits that fail.
func faultLaws() []Law {
	return []Law{
		{Name: "a batch that does not begin changes nothing", Needs: Faults, Check: refusedBatch},
		{Name: "an unknown commit stops the store", Needs: Faults, Check: unknownStops},
		{Name: "a killed commit is whole or gone", Needs: Faults, Check: wholeOrGone},
	}
}

// refusedBatch finds the store going on.
func refusedBatch(ctx context.Context, sub Subject) error {
	return on(func(ctx context.Context, s site) error {
		if _, err := s.set(ctx, "k", "1"); err != nil {
			return err
		}
		sub.Arm(1, Refused)
		_, err := s.set(ctx, "k", "2")
		if !is[*store.Unavailable](err) || isUnknown(err) || come(s.Failed()) {
			return fmt.Errorf("a batch that did not begin is told as %v; the store has failed: %t", err, come(s.Failed()))
		}
		if err := s.View(ctx, model{"k": "1"}.upTo(1)); err != nil {
			return err
		}
		if rev, err := s.set(ctx, "k", "3"); err != nil || rev != 2 {
			return fmt.Errorf("the update after it returned revision %d, %v; want 2", rev, err)
		}
		return nil
	})(ctx, sub)
}

// unknownStops has one update end in the dark.
func unknownStops(ctx context.Context, sub Subject) error {
	for _, f := range []Fault{Lost, Replyless} {
		if err := on(func(ctx context.Context, s site) error {
			err := unknown(ctx, sub, &s, f)
			return errors.Join(err, ends(ctx, "Close", s.Close))
		})(ctx, sub); err != nil {
			return fmt.Errorf("fault %d: %w", f, err)
		}
	}
	return nil
}

func unknown(ctx context.Context, sub Subject, s *site, f Fault) error {
	rev, err := s.set(ctx, "k", "acknowledged")
	if err != nil {
		return err
	}
	sub.Arm(1, f)
	if _, err := s.set(ctx, "k", "dark"); !isUnknown(err) {
		return fmt.Errorf("a commit whose outcome nobody knows is told as %v", err)
	}
	if err := errors.Join(comes(ctx, "Failed", s.Failed()), comes(ctx, "Changed", s.Changed(rev+9))); err != nil {
		return err
	}
	if !is[*store.Unknown](s.Err()) {
		return fmt.Errorf("the store has stopped with %v", s.Err())
	}
	ran := false
	if _, err := s.Update(ctx, func(store.Tx) error { ran = true; return nil }); ran || !is[*store.Unavailable](err) || isUnknown(err) {
		return fmt.Errorf("a store that has stopped answers an update with %v; it ran: %t", err, ran)
	}
	shown, unseen := s.state(ctx) // it may refuse; what it shows is durable
	if err := s.again(ctx, sub); err != nil {
		return err
	}
	st, err := s.state(ctx)
	if err != nil {
		return err
	}
	if got := st.data["k"]; got != "acknowledged" && got != "dark" || store.Rev(st.head.Revision) != rev && got == "acknowledged" || store.Rev(st.head.Revision) != rev+1 && got == "dark" {
		return fmt.Errorf("after it the key is %q in revision %d, acknowledged was %d", got, st.head.Revision, rev)
	}
	if unseen == nil {
		if err := shown.same(st); err != nil {
			return fmt.Errorf("a view of a store that has stopped showed what is not durable: %w", err)
		}
	}
	next, err := s.set(ctx, "k", "again")
	if err != nil || next != store.Rev(st.head.Revision)+1 {
		return fmt.Errorf("the next revision is %d, %v; want %d", next, err, st.head.Revision+1)
	}
	return nil
}

// fate is what a writer was told of one closure.
type fate struct {
	name string
	rev  store.Rev
	err  error
}

// wholeOrGone kills commit after commit under many writers.
func wholeOrGone(ctx context.Context, sub Subject) error {
	for n := 1; n <= 6; n++ {
		f := []Fault{Lost, Replyless}[n%2]
		if err := on(func(ctx context.Context, s site) error {
			err := killed(ctx, sub, &s, n, f)
			return errors.Join(err, ends(ctx, "Close", s.Close))
		})(ctx, sub); err != nil {
			return fmt.Errorf("killed at commit %d (fault %d): %w", n, f, err)
		}
	}
	return nil
}

// write makes updates until one fails, and tells their fates. Each has four parts.
func (s site) write(ctx context.Context, name string, n int) (fates []fate) {
	for i := range n {
		t := fate{name: fmt.Sprint(name, "/", i)}
		t.rev, t.err = s.Update(ctx, func(tx store.Tx) error {
			for _, prefix := range []string{"a/", store.LedgerPrefix, "z/"} {
				tx.Put(prefix+t.name, []byte(t.name))
			}
			tx.Log(told(t.name))
			return nil
		})
		fates = append(fates, t)
		if t.err != nil {
			break
		}
	}
	return fates
}

// killed writes until the store stops, and settles accounts once it is open again.
func killed(ctx context.Context, sub Subject, s *site, n int, f Fault) error {
	const writers, each = 12, 12
	fates := make([][]fate, writers)
	sub.Arm(n, f)
	if err := together(ctx, writers, func(w int) error {
		fates[w] = s.write(ctx, fmt.Sprint(n, "/", w), each)
		return nil
	}); err != nil {
		return err
	}
	if err := s.again(ctx, sub); err != nil {
		return err
	}
	st, err := s.state(ctx)
	if err != nil {
		return err
	}
	dark, err := st.settle(fates)
	switch {
	case err != nil:
		return err
	case dark.there > 0 && dark.gone > 0:
		return fmt.Errorf("of the closures in flight %d are there and %d are gone; they shared a commit", dark.there, dark.gone)
	case dark == (darkness{}):
		return errors.New("no update was told that its outcome is unknown: the fault never struck")
	}
	return nil
}

// darkness counts closures whose outcome nobody knew, by whether they are there.
type darkness struct{ there, gone int }

// isUnknown reports whether an error leaves an outcome open. A refusal by a store
// that stopped earlier wraps the reason, which is no such error.
func isUnknown(err error) bool {
	for ; err != nil; err = errors.Unwrap(err) {
		switch err.(type) {
		case *store.Unknown:
			return true
		case *store.Unavailable:
			return false
		}
	}
	return false
}

// settle compares what writers were told with what is there.
func (st state) settle(fates [][]fate) (dark darkness, err error) {
	for _, t := range slices.Concat(fates...) {
		there, err := st.holds(t)
		switch {
		case err != nil:
			return dark, err
		case isUnknown(t.err) && there:
			dark.there++
		case isUnknown(t.err):
			dark.gone++
		case t.err == nil && !there:
			return dark, fmt.Errorf("%s was acknowledged as revision %d and is gone", t.name, t.rev)
		case t.err != nil && there:
			return dark, fmt.Errorf("%s was refused with %v and is there", t.name, t.err)
		case t.err != nil && !is[*store.Unavailable](t.err):
			return dark, fmt.Errorf("%s was refused with %v", t.name, t.err)
		}
	}
	return dark, nil
}

// holds reports whether a closure is there, all of it.
func (st state) holds(t fate) (bool, error) {
	there := 0
	for _, prefix := range []string{"a/", store.LedgerPrefix, "z/"} {
		if st.data[prefix+t.name] == t.name {
			there++
		}
	}
	for _, row := range st.rows {
		if row.Facts[0].Subject == t.name && (t.err != nil || store.Rev(row.Revision) == t.rev) {
			there++
		}
	}
	if there != 0 && there != 4 {
		return false, fmt.Errorf("%s: %d parts of 4 are there (its keys, and its row as %d)", t.name, there, t.rev)
	}
	return there == 4, nil
}
