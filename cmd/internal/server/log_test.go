package server_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ingotmetal/ingot/cmd/api"
	"github.com/ingotmetal/ingot/statemachine/journal"
	"github.com/ingotmetal/ingot/statemachine/registration"
)

func serverOf(text string) (registration.ServerID, error) { return registration.ParseServerID(text) }

func slicesSort(all []string) { slices.Sort(all) }

// EVENT-1: pages meet each event once, in order, while rows are added; a node's own
// are those of all events that are about it.
func TestEventPages(t *testing.T) {
	s := newSite(t)
	s.policy()
	m := s.machine(1)
	m.installed()
	var all []api.Event
	page := api.EventPage{More: true}
	for n := 0; page.More; n++ {
		page = ask(s, api.EventListing, s.ada, &api.EventList{Limit: 2, EventFilter: api.EventFilter{Cursor: page.Cursor}})
		s.check(len(page.Events) <= 2 && page.Cursor != "", "a page", page)
		all = append(all, page.Events...)
		if n < 5 {
			s.write("test/x", n)
		}
	}
	want := s.events(0)
	var got, own []string
	id := m.row().Node
	for _, e := range all {
		got = append(got, e.Type)
		if e.Subject == id {
			own = append(own, e.Cursor)
		}
	}
	s.check(slices.Equal(got, want), "events", got, want)
	var node []string
	for _, e := range ask(s, api.EventListing, s.ada, &api.EventList{Limit: 200, EventFilter: api.EventFilter{Node: id}}).Events {
		node = append(node, e.Cursor)
	}
	s.check(len(own) > 5 && slices.Equal(own, node), "the node's", own, node)
	typed := ask(s, api.EventListing, s.ada, &api.EventList{EventFilter: api.EventFilter{Node: id, Type: "registration."}})
	for _, e := range typed.Events {
		s.check(strings.HasPrefix(e.Type, "registration."), "by type", e)
	}
	end := ask(s, api.EventListing, s.ada, &api.EventList{EventFilter: api.EventFilter{Cursor: page.Cursor}})
	s.check(len(end.Events) == 0 && end.Cursor == page.Cursor, "at the end", end)
	p := refuses(s, "CONFLICT", api.EventListing, s.ada, &api.EventList{EventFilter: api.EventFilter{Cursor: "999999:0"}})
	s.check(p.Next != "" && strings.Contains(p.Next, "anew"), "beyond the end", p)
	refuses(s, "INVALID_INPUT", api.EventListing, s.ada, &api.EventList{EventFilter: api.EventFilter{Cursor: "99999999999999999999:0"}})
}

// A filter that nothing passes looks at a part of the log in each call, and says so.
func TestEventScanIsBounded(t *testing.T) {
	s := newSite(t)
	for range 5200 {
		s.write("test/x", 1)
	}
	in := &api.EventList{EventFilter: api.EventFilter{Type: "no.such"}}
	page := ask(s, api.EventListing, s.ada, in)
	s.check(page.More && len(page.Events) == 0 && strings.HasPrefix(page.Cursor, "5000:"), "the first part", page)
	in.Cursor = page.Cursor
	page = ask(s, api.EventListing, s.ada, in)
	s.check(!page.More && len(page.Events) == 0, "the rest", page)
	in.Cursor = page.Cursor
	s.write("test/x", 2)
	in.Type = "test."
	s.check(len(ask(s, api.EventListing, s.ada, in).Events) == 1, "and on from there")
}

// EVENT-1: rows that have left for a segment are named as such; what is left goes on.
func TestEventsOfASealedLog(t *testing.T) {
	s := newSite(t)
	s.policy()
	m := s.machine(1)
	m.installed()
	old := ask(s, api.EventListing, s.ada, &api.EventList{Limit: 1})
	s.seal()
	p := refuses(s, "CONFLICT", api.EventListing, s.ada, &api.EventList{EventFilter: api.EventFilter{Cursor: old.Cursor}})
	s.check(strings.Contains(p.Detail, "left the store"), "the cursor", p)
	page := ask(s, api.EventListing, s.ada, &api.EventList{})
	s.check(len(page.Events) > 0 && page.Events[len(page.Events)-1].Type == "log.sealed", "what is left", page)
	base := strings.Split(page.Events[0].Cursor, ":")[0]
	s.check(base != "1", "the first that is left", base)
	own := ask(s, api.EventListing, s.ada, &api.EventList{EventFilter: api.EventFilter{Node: m.row().Node}})
	s.check(!own.More && own.Cursor != "", "the node's", own)
}

// A stream goes on from the last event's ID, is in order, and ends with the session
// or key that opened it.
func TestEventStream(t *testing.T) {
	s := newSite(t)
	reader := s.mint("read_only")
	me := ask(s, api.SessionShow, reader, &api.Empty{}).Key.ID
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	got := make(chan api.Event, 100)
	over := make(chan error, 1)
	go func() {
		for e, err := range api.Follow(ctx, reader, &api.EventStream{EventFilter: api.EventFilter{Type: "test."}}) {
			if err != nil {
				over <- err
				return
			}
			got <- e
		}
	}()
	var last api.Event
	for i := range 5 {
		s.write("test/x", i)
		last = <-got
	}
	s.write("test/x", 9)
	for e, err := range api.Follow(ctx, s.ada, &api.EventStream{LastEventID: last.Cursor}) {
		must(t, err)
		s.check(e.Type == "test.wrote" && e.Cursor != last.Cursor, "after the last", e)
		break
	}
	for _, err := range api.Follow(ctx, s.ada, &api.EventStream{LastEventID: "99999:0"}) {
		s.check(codeOf(err) == "CONFLICT", "beyond the end", err)
	}
	ask(s, api.KeyRevoke, s.ada, &api.RevokeKey{KeyRef: api.KeyRef{Key: me}})
	select {
	case err := <-over:
		s.check(err != nil && ctx.Err() == nil, "the stream of a dead key", err)
	case <-time.After(10 * time.Second):
		t.Error("the stream of a dead key goes on")
	}
}

// ID-6: the chain verifies offline, whole and in parts, and a flipped bit is found.
func TestAuditRowsVerifyOffline(t *testing.T) {
	s := newSite(t)
	s.policy()
	s.machine(1).installed()
	read := func(in *api.AuditRows) []byte {
		body, err := api.AuditRowsRead.Open(t.Context(), s.ada, in)
		must(t, err)
		defer body.Close()
		raw, err := io.ReadAll(body)
		must(t, err)
		return raw
	}
	head := ask(s, api.AuditHeadShow, s.ada, &api.Empty{})
	end, err := journal.ParseHead(head.Head)
	must(t, err)
	check := func(raw []byte, from journal.Head, known ...journal.Head) (journal.Head, error) {
		stream, err := journal.ReadStream(bytes.NewReader(raw))
		if err != nil {
			return journal.Head{}, err
		}
		return journal.Verify(from, stream.Rows(), known...)
	}
	whole := read(&api.AuditRows{})
	if got, err := check(whole, journal.Start("lab"), end); err != nil || got != end {
		t.Fatalf("%s, %v", got, err)
	}
	first := read(&api.AuditRows{Until: 5})
	mid, err := check(first, journal.Start("lab"))
	must(t, err)
	s.check(mid.Revision == 5, "until 5", mid)
	if _, err := check(read(&api.AuditRows{After: 5}), mid, end); err != nil {
		t.Error(err)
	}
	for i := 60; i < len(whole); i += len(whole) / 97 {
		bad := slices.Clone(whole)
		bad[i] ^= 1 << (i % 8)
		if _, err := check(bad, journal.Start("lab"), end); err == nil {
			t.Errorf("a flipped bit at %d of %d is not found", i, len(whole))
		}
	}
	if _, err := check(whole[:len(whole)-200], journal.Start("lab"), end); err == nil {
		t.Error("a cut is not found")
	}
	_, err = api.AuditRowsRead.Open(t.Context(), s.ada, &api.AuditRows{After: 99999})
	s.check(codeOf(err) == "CONFLICT", "beyond the end", err)
	s.seal()
	_, err = api.AuditRowsRead.Open(t.Context(), s.ada, &api.AuditRows{After: 1})
	s.check(codeOf(err) == "CONFLICT", "rows that have left", err)
	_, err = check(read(&api.AuditRows{}), journal.Head{})
	s.check(err != nil, "it does not begin where it does not")
}

// MACH-9: refused mutations of somebody who is known are in the log, a few of many;
// those of nobody leave no row.
func TestRefusalsInTheLog(t *testing.T) {
	s := newSite(t)
	s.policy()
	m := s.machine(1)
	read := s.mint("read_only")
	before := s.head()
	for range 50 {
		refuses(s, "ACCESS_DENIED", api.RegistrationDisable, read, m.change())
	}
	told := s.events(before)
	s.check(len(told) >= 5 && len(told) <= 11 && told[0] == "access.denied", "of 50 refusals", told)
	before = s.head()
	for i := range 20 {
		refuses(s, "UNAUTHENTICATED", api.RegistrationDisable, s.as(""), m.change())
		_, err := api.RegistrationDisable.Call(t.Context(), s.as(api.Secret(fmt.Sprint("ingot_key_", i))), m.change())
		s.check(err != nil, "a key of nobody")
		refuses(s, "INVALID_INPUT", api.RegistrationRegister, s.as(""), &api.Register{})
	}
	in := api.OpenSession{}
	in.Body.Operator, in.Body.Password = "ada", "wrong password"
	refuses(s, "UNAUTHENTICATED", api.SessionOpen, s.as(""), &in)
	s.check(s.head() == before, "rows of anonymous refusals", s.events(before))
}

// API-2: every list goes in order, each row once while others come, to any depth; and
// takes no cursor but its own.
func TestListsAreWholeAndTheirCursorsAreTheirOwn(t *testing.T) {
	s := newSite(t)
	for range 12 {
		s.joined()
	}
	seen := map[string]int{}
	var order []string
	page := api.Nodes{}
	for first := true; first || page.NextCursor != ""; first = false {
		page = ask(s, api.NodeListing, s.ada, &api.NodeList{Page: api.Page{Limit: 5, Cursor: page.NextCursor}})
		for _, n := range page.Nodes {
			seen[n.ID]++
			order = append(order, n.ID)
		}
		if len(order) < 60 {
			s.joined()
			s.joined()
		}
	}
	s.check(slices.IsSorted(order) && len(order) >= 12 && len(order) == len(seen), "the nodes", order)
	for range 3 {
		s.mint("full")
	}
	keys := ask(s, api.KeyListing, s.ada, &api.KeyList{Page: api.Page{Limit: 1}}).NextCursor
	s.check(keys != "" && !strings.Contains(keys, "key"), "a cursor is opaque", keys)
	calls := map[string]func(cursor string) error{
		"nodes": func(c string) error {
			_, err := api.NodeListing.Call(t.Context(), s.ada, &api.NodeList{Page: api.Page{Cursor: c}})
			return err
		},
		"rows": func(c string) error {
			_, err := api.RegistrationListing.Call(t.Context(), s.ada, &api.RegistrationList{Page: api.Page{Cursor: c}})
			return err
		},
		"boots": func(c string) error {
			_, err := api.BootListing.Call(t.Context(), s.ada, &api.BootList{Page: api.Page{Cursor: c}})
			return err
		},
		"discovered": func(c string) error {
			_, err := api.BootDiscovered.Call(t.Context(), s.ada, &api.DiscoveredList{Page: api.Page{Cursor: c}})
			return err
		},
		"sessions": func(c string) error {
			_, err := api.SessionListing.Call(t.Context(), s.ada, &api.SessionList{Page: api.Page{Cursor: c}})
			return err
		},
		"operators": func(c string) error {
			_, err := api.OperatorListing.Call(t.Context(), s.ada, &api.OperatorList{Page: api.Page{Cursor: c}})
			return err
		},
	}
	for name, call := range calls {
		for _, bad := range []string{keys, "x", "AAAA", "...", "node_00000000000000000000000001", strings.Repeat("A", 256), "c2lnaHRpbmcv"} {
			if err := call(bad); codeOf(err) != "INVALID_INPUT" {
				t.Errorf("%s take %q: %v", name, bad, err)
			}
		}
	}
}

// API-2: filters take every state of every axis, also such as nothing is in.
func TestFiltersTakeEveryState(t *testing.T) {
	s := newSite(t)
	s.policy()
	s.machine(1).installed()
	for _, state := range []string{"pending", "approved", "disabled", "awaiting_setup", "setting_up", "a_state_of_tomorrow"} {
		got := ask(s, api.RegistrationListing, s.ada, &api.RegistrationList{State: state})
		s.check((len(got.Registrations) == 1) == (state == "approved"), state, got)
		ask(s, api.NodeListing, s.ada, &api.NodeList{Registration: state})
	}
	for _, state := range []string{"discovered", "enrolling", "enrolled", "decommissioned"} {
		ask(s, api.BootListing, s.ada, &api.BootList{State: state})
		s.check((len(ask(s, api.NodeListing, s.ada, &api.NodeList{Boot: state}).Nodes) == 1) == (state == "enrolled"), state)
	}
	for _, state := range strings.Fields("adopting adopted enrolling inspecting commissioning ready deploying deployed releasing rescue failed retiring retired") {
		ask(s, api.NodeListing, s.ada, &api.NodeList{Provision: state})
	}
	for _, state := range strings.Fields("connected disconnected unreachable lost") {
		ask(s, api.NodeListing, s.ada, &api.NodeList{Connectivity: state})
	}
	for _, state := range strings.Fields("idle waiting running succeeded failed") {
		ask(s, api.NodeListing, s.ada, &api.NodeList{Run: state, Retirement: "awaiting-off", Scheduling: "draining"})
	}
}

// Many readers at once wait and hang up; nothing of them stays.
func TestWaitersHangUp(t *testing.T) {
	s := newSite(t)
	s.policy()
	b := s.mint("booter")
	snap := ask(s, api.BooterSnapshot, b, &api.Empty{})
	settle := goroutines()
	ctx, stop := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	for i := range 1000 {
		wg.Go(func() {
			var err error
			if i%2 == 0 {
				in := &api.BootChanges{Incarnation: snap.Incarnation, Revision: snap.Revision, LongPoll: api.LongPoll{Wait: api.Duration{Duration: time.Minute}}}
				_, err = api.BooterChanges.Call(ctx, b, in)
			} else {
				for _, err = range api.Follow(ctx, s.ada, &api.EventStream{EventFilter: api.EventFilter{Type: "no."}}) {
				}
			}
			if err == nil || !errors.Is(err, context.Canceled) && ctx.Err() == nil {
				t.Error(err)
			}
		})
	}
	waitFor(t, "all wait", func() bool { return goroutines() > settle+2000 })
	s.write("test/x", 1)
	stop()
	wg.Wait()
	waitFor(t, "all are gone", func() bool { return goroutines() < settle+100 })
}
