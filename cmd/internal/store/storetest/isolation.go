package storetest

import (
	"context"
	"fmt"
	"strconv"

	"github.com/ingotmetal/ingot/cmd/internal/store"
)

// isolationLaws are about updates that run at once.
func isolationLaws() []Law {
	return []Law{
		{Name: "no update is lost", Check: on(noLostUpdate)},
		{Name: "two closures never take the same free key", Check: on(noPhantom)},
		{Name: "registers are linearizable", Check: on(registersLinear)},
		{Name: "the lowest free address is linearizable", Check: on(addressesLinear)},
	}
}

// noLostUpdate counts in two keys, whose sum each closure moves by one.
func noLostUpdate(ctx context.Context, s site) error {
	const writers, each = 12, 12
	keys := []string{"count/a", store.LedgerPrefix + "count"}
	if err := together(ctx, writers, func(w int) error {
		for n := range each {
			if _, err := s.Update(ctx, func(tx store.Tx) error {
				key := keys[(w+n)%2]
				was, _ := tx.Get(key)
				n, _ := strconv.Atoi(string(was))
				tx.Put(key, []byte(strconv.Itoa(n+1)))
				tx.Log(told("count"))
				return nil
			}); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		return err
	}
	return s.View(ctx, model{keys[0]: fmt.Sprint(writers * each / 2), keys[1]: fmt.Sprint(writers * each / 2)}.all)
}

// noPhantom has each closure look for the first key that is not there, and put it.
func noPhantom(ctx context.Context, s site) error {
	const writers, each = 8, 8
	took := make([]int, writers*each)
	if err := together(ctx, writers, func(w int) error {
		for n := range each {
			at := &took[w*each+n]
			if _, err := s.Update(ctx, func(tx store.Tx) error {
				*at = lowest(tx, "free/")
				tx.Put(slot("free/", *at), nil)
				tx.Log(told("free"))
				return nil
			}); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		return err
	}
	owner := map[int]bool{}
	for _, n := range took {
		if owner[n] || n >= len(took) {
			return fmt.Errorf("the key %s was taken twice, or beyond the lowest that was free", slot("free/", n))
		}
		owner[n] = true
	}
	return nil
}

// slot is the nth key below a prefix.
func slot(prefix string, n int) string { return fmt.Sprintf("%s%03d", prefix, n) }

// lowest is the first n whose slot is not there.
func lowest(r store.Reader, prefix string) int {
	n := 0
	for k := range r.Range(prefix, prefix+"~") {
		if k != slot(prefix, n) {
			break
		}
		n++
	}
	return n
}
