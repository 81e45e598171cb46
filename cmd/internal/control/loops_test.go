package control_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ingotmetal/ingot/cmd/internal/control"
	"github.com/ingotmetal/ingot/cmd/internal/store"
	"github.com/ingotmetal/ingot/cmd/internal/store/storetest"
	"github.com/ingotmetal/ingot/statemachine/journal"
	"github.com/ingotmetal/ingot/statemachine/lifecycle"
)

// wrong is a refusal that may be counted.
type wrong struct{ i int }

func (w *wrong) Error() string { return fmt.Sprint("wrong ", w.i) }

// Each target of Each is refused alone, also where its refusal is counted: what the
// others did is done and told, and the notes of the refused are not kept.
func TestEachIsolates(t *testing.T) {
	s := newSite(t)
	targets := []control.Target{{MAC: mac(1)}, {MAC: mac(2)}, {MAC: mac(3)}, {MAC: mac(1)}}
	rev, errs, err := s.Each(t.Context(), control.Call{Actor: "b"}, targets, func(i int, l *control.Look) (lifecycle.Input, error) {
		l.Note(fmt.Sprint("test/", i), []byte("noted"))
		switch i {
		case 1:
			return nil, &wrong{i}
		case 2:
			l.Count(func(error) bool { l.Note("test/counted", []byte("1")); return true })
			return nil, &wrong{i}
		}
		return lifecycle.Sighted{MAC: targets[i].MAC}, nil
	})
	if err != nil || errs[0] != nil || errs[3] != nil {
		t.Fatalf("%v, %v", errs, err)
	}
	for i := 1; i < 3; i++ {
		if w, ok := errors.AsType[*wrong](errs[i]); !ok || w.i != i {
			t.Errorf("target %d: %v", i, errs[i])
		}
	}
	rows := s.all()
	for key, want := range map[string]bool{"test/0": true, "test/1": false, "test/2": false, "test/3": true, "test/counted": true} {
		if _, ok := rows["ledger/"+key]; ok != want {
			t.Errorf("%s is kept: %t", key, ok)
		}
	}
	if len(below(rows, "boot/")) != 1 || !strings.Contains(rows[store.LogKey(rev)], "boot.enrolling") || s.verify().Revision != uint64(rev) {
		t.Errorf("records %v, log %q", below(rows, "boot/"), rows[store.LogKey(rev)])
	}
}

// A dry run of a call that counts its refusals is counted, and writes nothing else.
func TestDryRunIsCounted(t *testing.T) {
	s := newSite(t)
	before := len(s.all())
	call := func(fail bool) error {
		_, err := s.Do(t.Context(), control.Call{Actor: "b", DryRun: true}, control.Target{MAC: mac(1)}, func(l *control.Look) (lifecycle.Input, error) {
			l.Count(func(error) bool { l.Note("test/counted", []byte("1")); return true })
			if fail {
				return nil, &wrong{1}
			}
			return lifecycle.Sighted{MAC: mac(1)}, nil
		})
		return err
	}
	if err := call(false); err != nil || len(s.all()) != before {
		t.Errorf("%v, %d rows", err, len(s.all())-before)
	}
	if err := call(true); err == nil || len(s.all()) != before+1 {
		t.Errorf("%v, %d rows", err, len(s.all())-before)
	}
}

// The loops end with the store, whatever they were at.
func TestLoopsEndWithTheStore(t *testing.T) {
	for _, early := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			s := bubble(t)
			s.announced(nodeA)
			stop := func() {
				if err := s.Store().Close(); err != nil {
					t.Error(err)
				}
			}
			if early {
				stop()
			}
			over := make(chan string, 2)
			go func() {
				(&control.Sweeper{Door: s.Door, Log: slog.New(slog.DiscardHandler)}).Run(context.Background())
				over <- "sweeper"
			}()
			go func() {
				(&control.Reconciler{Door: s.Door, Log: slog.New(slog.DiscardHandler)}).Run(context.Background())
				over <- "reconciler"
			}()
			synctest.Wait()
			if !early {
				stop()
			}
			<-over
			<-over
		})
	}
}

// blind is a store that cannot be viewed for a while.
type blind struct {
	store.Store
	now atomic.Bool
}

func (b *blind) View(ctx context.Context, fn func(store.Reader) error) error {
	if b.now.Load() {
		return &store.Unavailable{Err: errors.New("not now")}
	}
	return b.Store.View(ctx, fn)
}

// A reconciler whose rows have left the store looks at every node again.
func TestReconcilerOfASealedLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := &blind{Store: storetest.Hostile(storetest.Memory("lab"))}
		s := &site{control.New(control.Config{Store: st, Now: time.Now}), t}
		s.announced(nodeA)
		began := 0
		doer := func(ctx context.Context, _ lifecycle.Need) error { began++; <-ctx.Done(); return nil }
		r := &control.Reconciler{Door: s.Door, Log: slog.New(slog.DiscardHandler), Doers: map[string]control.Doer{lifecycle.NeedDrain: doer}}
		ctx, stop := context.WithCancel(t.Context())
		over := make(chan struct{})
		go func() { defer close(over); r.Run(ctx) }()
		synctest.Wait()
		st.now.Store(true)
		s.do(control.Target{Node: nodeA}, lifecycle.Schedule{Call: ada, On: "drain"})
		s.do(control.Target{MAC: mac(1)}, lifecycle.Sighted{MAC: mac(1)})
		_, err := s.Record(t.Context(), control.Call{Actor: "test"}, func(tx store.Tx, _ time.Time) ([]journal.Fact, error) {
			tx.Trim(store.Rev(tx.Head().Revision - 1))
			return []journal.Fact{{Type: "log.sealed", Subject: "site"}}, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		st.now.Store(false)
		time.Sleep(time.Minute)
		synctest.Wait()
		if began != 1 {
			t.Errorf("began %d times", began)
		}
		stop()
		<-over
		if err := s.Store().Close(); err != nil {
			t.Error(err)
		}
	})
}

// A node that cannot be read holds up nobody else.
func TestReconcilerWithABrokenNode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := bubble(t)
		s.announced(nodeA)
		const broken = lifecycle.RowNode + "node_00000000000000000000000000"
		_, err := s.Record(t.Context(), control.Call{Actor: "test"}, func(tx store.Tx, _ time.Time) ([]journal.Fact, error) {
			tx.Put(broken, []byte("{"))
			return []journal.Fact{{Type: "test.wrote", Subject: "site"}}, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		began := 0
		doer := func(ctx context.Context, _ lifecycle.Need) error { began++; <-ctx.Done(); return nil }
		r := &control.Reconciler{Door: s.Door, Log: slog.New(slog.DiscardHandler), Doers: map[string]control.Doer{lifecycle.NeedDrain: doer}}
		ctx, stop := context.WithCancel(t.Context())
		over := make(chan struct{})
		go func() { defer close(over); r.Run(ctx) }()
		synctest.Wait()
		_, err = s.Record(t.Context(), control.Call{Actor: "test"}, func(tx store.Tx, _ time.Time) ([]journal.Fact, error) {
			tx.Put(broken, []byte("{{"))
			return []journal.Fact{{Type: "test.wrote", Subject: "site"}}, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		s.do(control.Target{Node: nodeA}, lifecycle.Schedule{Call: ada, On: "drain"})
		synctest.Wait()
		if began != 1 {
			t.Errorf("began %d times", began)
		}
		stop()
		<-over
		if err := s.Store().Close(); err != nil {
			t.Error(err)
		}
	})
}

// What strangers leave in ledgers is forgotten when it has had its day, and what is
// of a record stays.
func TestLedgersAreTidied(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := bubble(t)
		s.do(control.Target{}, lifecycle.SetPolicy{Call: ada, Policy: lifecycle.Policy{Strict: true, MaxDiscovered: 2, Network: netip.MustParsePrefix("10.0.0.0/16")}})
		ctx, stop := context.WithCancel(t.Context())
		over := make(chan struct{})
		go func() {
			defer close(over)
			(&control.Sweeper{Door: s.Door, Log: slog.New(slog.DiscardHandler)}).Run(ctx)
		}()
		for i := range 20 {
			seen := []control.Seen{{MAC: mac(i), Product: uuidOf(i + 1), First: time.Now(), Last: time.Now(), Count: 1}}
			if _, _, err := s.Sight(t.Context(), control.Call{Actor: "b"}, fmt.Sprint("b", i), seen); err != nil {
				t.Fatal(err)
			}
			if err := s.Booted(t.Context(), control.Booter{Name: fmt.Sprint("b", i)}, []control.Booted{{MAC: mac(i), At: time.Now(), Stage: "dhcp"}}); err != nil {
				t.Fatal(err)
			}
		}
		if n := len(below(s.all(), "ledger/sighted/")); n != 20 {
			t.Errorf("%d are kept for a day", n)
		}
		time.Sleep(26 * time.Hour)
		synctest.Wait()
		rows := s.all()
		for prefix, want := range map[string]int{"boot/": 2, "ledger/sighted/": 2, "ledger/said/": 0, "ledger/booted/": 2, "ledger/sightings/": 0, "ledger/booter/": 20, "ledger/discovered/": 2} {
			if n := len(below(rows, prefix)); n != want {
				t.Errorf("%s has %d rows, want %d", prefix, n, want)
			}
		}
		time.Sleep(31 * 24 * time.Hour)
		synctest.Wait()
		if n := len(below(s.all(), "ledger/booter/")); n != 0 {
			t.Errorf("%d booters", n)
		}
		stop()
		<-over
		if err := s.Store().Close(); err != nil {
			t.Error(err)
		}
	})
}
