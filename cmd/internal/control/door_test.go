package control_test

import (
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ingotmetal/ingot/cmd/internal/control"
	"github.com/ingotmetal/ingot/cmd/internal/store"
	"github.com/ingotmetal/ingot/cmd/internal/store/storetest"
	"github.com/ingotmetal/ingot/statemachine/journal"
	"github.com/ingotmetal/ingot/statemachine/lifecycle"
	"github.com/ingotmetal/ingot/statemachine/netboot"
)

// site is a door on a hostile store, with a policy.
type site struct {
	*control.Door
	t *testing.T
}

var noon = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

func newSite(t *testing.T) *site {
	t.Helper()
	st := storetest.Hostile(storetest.Memory("lab"))
	t.Cleanup(func() {
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	})
	s := &site{control.New(control.Config{Store: st, Now: func() time.Time { return noon }}), t}
	s.do(control.Target{}, lifecycle.SetPolicy{Call: ada, Policy: lifecycle.Policy{Network: netip.MustParsePrefix("10.0.0.0/16"), Enrollment: "enrol"}})
	return s
}

var ada = lifecycle.Call{By: "ada", Operator: true}

// do is a call that succeeds.
func (s *site) do(t control.Target, in lifecycle.Input) control.Done {
	s.t.Helper()
	done, err := s.Do(s.t.Context(), control.Call{Actor: "ada"}, t, control.Just(in))
	if err != nil {
		s.t.Fatal(err)
	}
	return done
}

func mac(i int) netboot.MAC { return netboot.MAC{2, 0, 0, 0, byte(i >> 8), byte(i)} }

// verify walks the whole log.
func (s *site) verify() journal.Head {
	s.t.Helper()
	var head journal.Head
	err := s.Store().View(s.t.Context(), func(r store.Reader) error {
		var err error
		head, err = journal.Verify(r.Base(), store.Rows(r, store.Rev(r.Base().Revision)), r.Head())
		return err
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return head
}

// BOOT-7: N concurrent sightings get N distinct lowest addresses.
func TestConcurrentSightingsGetTheLowestAddresses(t *testing.T) {
	s := newSite(t)
	const n = 300
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			in := lifecycle.Sighted{MAC: mac(i)}
			if _, err := s.Do(t.Context(), control.Call{Actor: "booter"}, control.Target{MAC: in.MAC}, control.Just(in)); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	got := map[netip.Addr]bool{}
	err := s.Store().View(t.Context(), func(r store.Reader) error {
		for key := range r.Range("by/address/", "by/address0") {
			got[netip.MustParseAddr(strings.TrimPrefix(key, "by/address/"))] = true
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	want := netip.MustParseAddr("10.0.0.1")
	for range n {
		if !got[want] {
			t.Fatalf("%s is not held; %d are", want, len(got))
		}
		want = want.Next()
	}
	if head := s.verify(); head.Revision != n+1 {
		t.Errorf("the log ends at %s", head)
	}
}

// One key, one effect, however often it is sent (also at once).
func TestIdempotencyKey(t *testing.T) {
	s := newSite(t)
	call := control.Call{Actor: "booter", Key: "k1", Digest: [32]byte{1}}
	in := lifecycle.Sighted{MAC: mac(1)}
	dones := make([]control.Done, 8)
	var wg sync.WaitGroup
	for i := range dones {
		wg.Go(func() {
			var err error
			if dones[i], err = s.Do(t.Context(), call, control.Target{MAC: in.MAC}, control.Just(in)); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	first := 0
	for _, d := range dones {
		if d.Rev != 2 || len(d.Facts) == 0 {
			t.Errorf("a call answers revision %d with %v", d.Rev, d.Facts)
		}
		if !d.Replayed {
			first++
		}
	}
	if first != 1 {
		t.Errorf("%d calls did it", first)
	}
	call.Digest = [32]byte{2}
	if _, err := s.Do(t.Context(), call, control.Target{MAC: in.MAC}, control.Just(in)); code(err) != "CONFLICT" {
		t.Errorf("the key with another call: %v", err)
	}
	call.Actor = "other"
	if d, err := s.Do(t.Context(), call, control.Target{MAC: in.MAC}, control.Just(in)); err != nil || d.Replayed {
		t.Errorf("another actor's key: %+v, %v", d, err)
	}
}

func code(err error) string {
	c, _ := errors.AsType[interface {
		error
		Code() string
	}](err)
	if c == nil {
		return fmt.Sprint(err)
	}
	return c.Code()
}

// A dry run says what would be, and writes nothing.
func TestDryRun(t *testing.T) {
	s := newSite(t)
	before := s.verify()
	in := lifecycle.Sighted{MAC: mac(7)}
	d, err := s.Do(t.Context(), control.Call{Actor: "ada", DryRun: true}, control.Target{MAC: in.MAC}, control.Just(in))
	if err != nil || len(d.Facts) == 0 || len(d.Rows) == 0 {
		t.Fatalf("%+v, %v", d, err)
	}
	if after := s.verify(); after != before {
		t.Errorf("the log went from %s to %s", before, after)
	}
	real := s.do(control.Target{MAC: in.MAC}, in)
	if fmt.Sprint(real.Facts) != fmt.Sprint(d.Facts) {
		t.Errorf("it did %v, and said %v", real.Facts, d.Facts)
	}
}

// EVENT-1: what a record went through is found by its subject, in order.
func TestEventsOfOneSubject(t *testing.T) {
	s := newSite(t)
	for i := range 5 {
		s.do(control.Target{MAC: mac(i)}, lifecycle.Sighted{MAC: mac(i)})
	}
	s.do(control.Target{MAC: mac(3)}, lifecycle.BootVerb{Call: ada, On: netboot.SetMode, MAC: mac(3), Mode: netboot.Rescue})
	var page control.Page
	read := func(f journal.Filter, limit int) error {
		return s.Store().View(t.Context(), func(r store.Reader) error {
			var err error
			page, err = control.Events(r, f, limit)
			return err
		})
	}
	if err := read(journal.Filter{Subject: mac(3).String()}, 100); err != nil {
		t.Fatal(err)
	}
	var types []string
	for _, e := range page.Events {
		types = append(types, e.Fact.Type)
	}
	if got := strings.Join(types, " "); got != "boot.enrolling boot.mode boot.enrolling" {
		t.Errorf("got %s", got)
	}
	if err := read(journal.Filter{Subject: mac(3).String(), After: page.Events[0].At}, 1); err != nil || len(page.Events) != 1 || !page.More {
		t.Errorf("%+v, %v", page, err)
	}
	if err := read(journal.Filter{After: journal.Cursor{Revision: 99}}, 1); code(err) != "CONFLICT" {
		t.Errorf("a cursor beyond the end: %v", err)
	}
}
