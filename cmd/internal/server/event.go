package server

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/ingotmetal/ingot/cmd/api"
	"github.com/ingotmetal/ingot/cmd/internal/control"
	"github.com/ingotmetal/ingot/cmd/internal/serve"
	"github.com/ingotmetal/ingot/cmd/internal/store"
	"github.com/ingotmetal/ingot/statemachine/journal"
)

// defaultEvents is the length of a page of events (EVENT-1).
const defaultEvents = 100

// filter reads what events are asked for.
func filter(f api.EventFilter) (journal.Filter, error) {
	out := journal.Filter{Subject: f.Node, Prefix: f.Type}
	if f.Cursor == "" {
		return out, nil
	}
	var err error
	out.After, err = journal.ParseCursor(f.Cursor)
	return out, err
}

func eventView(e journal.Event) api.Event {
	v := api.Event{Cursor: e.At.String(), Time: e.Time, Actor: e.Actor, Type: e.Fact.Type, Subject: e.Fact.Subject}
	if json.Valid([]byte(e.Fact.Body)) {
		v.Body = json.RawMessage(e.Fact.Body)
	}
	return v
}

func (s *Server) eventList(ctx context.Context, in *api.EventList) (api.EventPage, error) {
	f, err := filter(in.EventFilter)
	if err != nil {
		return api.EventPage{}, err
	}
	out := api.EventPage{Events: []api.Event{}, Cursor: in.Cursor}
	if s.foreign(ctx) {
		return out, nil
	}
	err = s.Door.Store().View(ctx, func(r store.Reader) error {
		page, err := control.Events(r, f, cmp.Or(in.Limit, defaultEvents))
		if err != nil {
			return err
		}
		out.More, out.Cursor = page.More, page.Next.String()
		for _, e := range page.Events {
			out.Events = append(out.Events, eventView(e))
		}
		return nil
	})
	return out, err
}

// keepAlive is how often a stream without events says that it lives, so that what
// is in between does not cut it.
const keepAlive = 15 * time.Second

// eventStream sends events as they happen (EVENT-1), each with its cursor as its ID.
func (s *Server) eventStream(ctx context.Context, in *api.EventStream, w http.ResponseWriter) error {
	in.Cursor = cmp.Or(in.LastEventID, in.Cursor)
	f, err := filter(in.EventFilter)
	if err != nil {
		return err
	}
	if s.foreign(ctx) {
		return absent("event", "ingot event list")
	}
	out := stream{w: bufio.NewWriter(w), flush: http.NewResponseController(w).Flush}
	for first := true; ; first = false {
		page, rev, err := s.eventsAfter(ctx, f)
		if err != nil {
			return err
		}
		if first { // headers go out at once
			if err := out.comment(); err != nil {
				return err
			}
		}
		for _, e := range page.Events {
			if err := out.event(eventView(e)); err != nil {
				return err
			}
		}
		if f.After = page.Next; page.More {
			continue
		}
		if more, err := s.wait(ctx, rev, &out); !more || err != nil {
			return err
		}
	}
}

func (s *Server) eventsAfter(ctx context.Context, f journal.Filter) (page control.Page, rev store.Rev, err error) {
	err = s.Door.Store().View(ctx, func(r store.Reader) error {
		if err := still(ctx, r); err != nil {
			return err
		}
		rev = store.Rev(r.Head().Revision)
		page, err = control.Events(r, f, defaultEvents)
		return err
	})
	return page, rev, err
}

// wait waits for news after a revision, and keeps the stream alive meanwhile. False
// ends the stream: the server stops, and the reader goes on elsewhere.
func (s *Server) wait(ctx context.Context, rev store.Rev, out *stream) (bool, error) {
	tick := time.NewTicker(keepAlive)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return false, ctx.Err()
		case <-s.Door.Store().Failed():
			return false, &store.Unavailable{Err: s.Door.Store().Err()}
		case <-serve.Stopping(ctx):
			return false, nil
		case <-s.Door.Store().Changed(rev):
			return true, nil
		case <-tick.C:
			if err := s.Door.Store().View(ctx, func(r store.Reader) error { return still(ctx, r) }); err != nil {
				return false, err
			}
			if err := out.comment(); err != nil {
				return false, err
			}
		}
	}
}

// stream writes server-sent events.
type stream struct {
	w     *bufio.Writer
	flush func() error
}

func (o *stream) comment() error {
	_, _ = o.w.Write(api.AppendBeat(nil))
	return o.send()
}

func (o *stream) event(e api.Event) error {
	raw, err := api.AppendEvent(nil, e)
	if err != nil {
		return err
	}
	_, _ = o.w.Write(raw)
	return o.send()
}

func (o *stream) send() error {
	if err := o.w.Flush(); err != nil {
		return err
	}
	return o.flush()
}
