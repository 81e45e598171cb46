package storetest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/ingotmetal/ingot/cmd/internal/store"
)

// rowLaws are about what a closure reads and writes.
func rowLaws() []Law {
	return []Law{
		{Name: "rows are as in a map", Check: on(asInMap)},
		{Name: "an empty value is there", Check: on(emptyValue)},
		{Name: "a range is in order of bytes", Check: on(byteOrder)},
		{Name: "a closure sees its own writes", Check: on(ownWrites)},
		{Name: "a range sees what is written ahead of it", Check: on(aheadOfCursor)},
		{Name: "reads nest", Check: on(nested)},
		{Name: "a value is kept as a copy", Check: on(copied)},
		{Name: "a slice lives as long as its closure, a key for ever", Check: on(sliceLives)},
		{Name: "a closure may run twice", Check: on(twice)},
	}
}

// asInMap draws closures and compares everything after each.
func asInMap(ctx context.Context, s site) error {
	m := model{}
	for i, c := range closures(1, 60) {
		var next model
		_, err := s.Update(ctx, func(tx store.Tx) (err error) {
			next, err = c.run(tx, m)
			return err
		})
		switch {
		case err == nil && !c.refuse:
			m = next
		case !c.refuse || !errors.Is(err, errRefused):
			return fmt.Errorf("closure %d: %w", i, err)
		}
		if err := s.View(ctx, m.all); err != nil {
			return fmt.Errorf("after closure %d: %w", i, err)
		}
	}
	return nil
}

// twice does the same with each closure run twice and each slice taken back.
func twice(ctx context.Context, s site) error { return asInMap(ctx, site{Hostile(s.Store)}) }

func emptyValue(ctx context.Context, s site) error {
	if _, err := s.set(ctx, "was", "full"); err != nil {
		return err
	}
	want := model{"nil": "", "none": "", "was": "", store.LedgerPrefix + "e": ""}
	if _, err := s.Update(ctx, func(tx store.Tx) error {
		tx.Put("nil", nil)
		for _, k := range []string{"none", "was", store.LedgerPrefix + "e"} {
			tx.Put(k, []byte{})
		}
		tx.Log(told("empty"))
		return want.all(tx)
	}); err != nil {
		return fmt.Errorf("before the commit: %w", err)
	}
	if err := s.View(ctx, want.all); err != nil {
		return fmt.Errorf("in a view: %w", err)
	}
	_, err := s.Update(ctx, func(tx store.Tx) error { return want.all(tx) })
	return err
}

// byteOrder asks for ranges between all hostile bounds.
func byteOrder(ctx context.Context, s site) error {
	m := model{}
	for i, k := range hostileKeys() {
		m[k] = fmt.Sprint(i)
	}
	if _, err := s.Update(ctx, func(tx store.Tx) error {
		for i, k := range hostileKeys() {
			tx.Put(k, []byte(fmt.Sprint(i)))
		}
		tx.Log(told("order"))
		return m.ranges(tx, "", "\xff")
	}); err != nil {
		return fmt.Errorf("before the commit: %w", err)
	}
	bounds := hostileBounds()
	return s.View(ctx, func(r store.Reader) error {
		for i, lo := range bounds {
			if err := m.ranges(r, lo, bounds[(i*7+3)%len(bounds)]); err != nil {
				return err
			}
		}
		return errors.Join(m.ranges(r, "", "\xff"), m.ranges(r, "\xff", ""), m.ranges(r, "a", "a"), m.ranges(r, "b", "a"))
	})
}

// ownWrites has a closure write over what is there.
func ownWrites(ctx context.Context, s site) error {
	m := model{"a": "1", "c": "1", "e": "1"}
	if err := s.fill(ctx, m); err != nil {
		return err
	}
	_, err := s.Update(ctx, func(tx store.Tx) error {
		m := maps.Clone(m)
		for _, step := range []op{{"put", "b", "2"}, {"put", "c", "2"}, {"delete", "a", ""}, {"put", "f", "2"}, {"put", "a", "3"}, {"delete", "f", ""}, {"delete", "e", ""}, {"put", "ledger/o", "2"}} {
			if step.do == "put" {
				tx.Put(step.key, []byte(step.val))
				m[step.key] = step.val
			} else {
				tx.Delete(step.key)
				delete(m, step.key)
			}
			if err := errors.Join(m.all(tx), m.gets(tx, step.key), m.ranges(tx, "b", "f")); err != nil {
				return fmt.Errorf("after %s %s: %w", step.do, step.key, err)
			}
		}
		tx.Log(told("own"))
		return nil
	})
	return err
}

// fill puts a whole model.
func (s site) fill(ctx context.Context, m model) error {
	_, err := s.Update(ctx, func(tx store.Tx) error {
		for _, k := range slices.Sorted(maps.Keys(m)) {
			tx.Put(k, []byte(m[k]))
		}
		tx.Log(told("fill"))
		return nil
	})
	return err
}

// aheadOfCursor writes while it reads, first with nothing of its own.
func aheadOfCursor(ctx context.Context, s site) error {
	if err := s.fill(ctx, model{"a": "1", "b": "1", "c": "1", "d": "1", "g": "1"}); err != nil {
		return err
	}
	want := []string{"a=1", "c=2", "cc=2", "e=2", "f=2", "g=1"}
	for _, first := range []func(store.Tx){func(store.Tx) {}, func(tx store.Tx) { tx.Put("0", nil) }} {
		if err := s.refuses(ctx, "a closure that writes as it reads", func(err error) bool { return errors.Is(err, errRefused) }, func(tx store.Tx) error {
			first(tx)
			var got []string
			for k, v := range tx.Range("a", "h") {
				got = append(got, k+"="+string(v))
				switch k {
				case "a":
					tx.Delete("b") // ahead
					tx.Put("c", []byte("2"))
					tx.Put("cc", []byte("2"))
					tx.Put("A", []byte("2")) // behind
				case "cc":
					tx.Delete("d")
					tx.Put("e", []byte("2"))
					tx.Put("zz", []byte("2")) // beyond
				case "e":
					tx.Put("f", []byte("2"))
				}
			}
			if !slices.Equal(got, want) {
				return fmt.Errorf("the range yielded %q, want %q", got, want)
			}
			return errRefused
		}); err != nil {
			return err
		}
	}
	return nil
}

// nested reads within reads, in views and updates, and leaves ranges halfway.
func nested(ctx context.Context, s site) error {
	if err := s.fill(ctx, model{"n/1": "a", "n/2": "b", "n/3": "c"}); err != nil {
		return err
	}
	read := func(r store.Reader) error {
		var got []byte
		for k, outer := range r.Range("n/", "n0") {
			for _, inner := range r.Range("n/", "n/3") {
				again, _ := r.Get(k)
				got = append(append(append(got, outer...), inner...), again...)
			}
			for range r.Range("n/", "n0") {
				break
			}
		}
		if string(got) != "aaaabababbbbcaccbc" {
			return fmt.Errorf("nested reads saw %q", got)
		}
		return nil
	}
	if err := s.View(ctx, read); err != nil {
		return fmt.Errorf("in a view: %w", err)
	}
	for _, own := range []string{"", "n/0", "z"} {
		_, err := s.Update(ctx, func(tx store.Tx) error {
			if own != "" {
				tx.Put(store.LedgerPrefix+own, []byte("x"))
			}
			return read(tx)
		})
		if err != nil {
			return fmt.Errorf("in an update: %w", err)
		}
	}
	return nil
}

// copied changes what it has put.
func copied(ctx context.Context, s site) error {
	want := model{"c": "before"}
	if _, err := s.Update(ctx, func(tx store.Tx) error {
		val := []byte("before")
		tx.Put("c", val)
		copy(val, "after!")
		tx.Log(told("copy"))
		return want.gets(tx, "c")
	}); err != nil {
		return err
	}
	return s.View(ctx, want.all)
}

// sliceLives holds on to what reads gave, while it reads and writes on.
func sliceLives(ctx context.Context, s site) error {
	m := model{}
	for i := range 40 {
		m[fmt.Sprintf("live/%02d", i)] = fmt.Sprintf("value %02d", i)
	}
	if err := s.fill(ctx, m); err != nil {
		return err
	}
	var keys []string
	read := func(r store.Reader, between func(key string)) error {
		keys = keys[:0]
		held := map[string][][]byte{}
		for k, v := range r.Range("live/", "live0") {
			keys = append(keys, k)
			again, _ := r.Get(k)
			held[k] = append(held[k], v, again)
			between(k)
		}
		for k, vals := range held {
			for _, v := range vals {
				if string(v) != m[k] {
					return fmt.Errorf("the value of %s was %q, and became %q", k, m[k], v)
				}
			}
		}
		return nil
	}
	if err := s.View(ctx, func(r store.Reader) error { return read(r, func(string) {}) }); err != nil {
		return fmt.Errorf("in a view: %w", err)
	}
	if _, err := s.Update(ctx, func(tx store.Tx) error {
		tx.Log(told("live"))
		return read(tx, func(key string) {
			tx.Put(key, []byte("over it"))
			tx.Put(store.LedgerPrefix+key, []byte("more"))
			tx.Delete(key)
		})
	}); err != nil {
		return fmt.Errorf("in an update: %w", err)
	}
	if err := s.busy(ctx, 0); err != nil {
		return err
	}
	if want := m.between("", "\xff"); !slices.Equal(keys, want) {
		return fmt.Errorf("keys that were read have become %q", keys)
	}
	return nil
}
