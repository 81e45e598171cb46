package api

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"time"
)

var happened = []Event{
	{Cursor: "7:0", Time: time.Unix(60, 0).UTC(), Actor: "ann", Type: "node.cordoned", Subject: "node_1", Body: []byte(`{"why":"a\nb"}`)},
	{Cursor: "7:1", Time: time.Unix(60, 0).UTC(), Actor: "ann", Type: "boot.mode"},
}

func stream(t *testing.T, events ...Event) []byte {
	var b []byte
	for _, e := range events {
		var err error
		if b, err = AppendEvent(AppendBeat(b), e); err != nil {
			t.Fatal(err)
		}
	}
	return b
}

// collect reads a stream and its end.
func collect(r io.Reader) (events []Event, end error) {
	for e, err := range ReadEvents(r) {
		if err != nil {
			return events, err
		}
		events = append(events, e)
	}
	return events, nil
}

func TestEventsGoAndCome(t *testing.T) {
	raw := stream(t, happened...)
	if !strings.Contains(string(raw), "id: 7:0\nevent: node.cordoned\ndata: {") {
		t.Errorf("%s", raw)
	}
	got, err := collect(bytes.NewReader(raw))
	if !reflect.DeepEqual(got, happened) || !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("%+v, %v", got, err)
	}
	for cut := range raw {
		got, err := collect(bytes.NewReader(raw[:cut]))
		if len(got) > 2 || !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Fatalf("cut at %d: %d events, %v", cut, len(got), err)
		}
	}
}

func TestEventsAreBounded(t *testing.T) {
	long := strings.Repeat("x", maxEvent)
	for name, raw := range map[string]string{
		"a line":    "data: " + long,
		"lines":     strings.Repeat("data: "+long[:1000]+"\n", 1000),
		"no JSON":   "data: " + canary + "\n\n",
		"not event": "data: [1]\n\n",
	} {
		events, err := collect(strings.NewReader(raw))
		if len(events) != 0 || code(err) != "INVALID_INPUT" || strings.Contains(err.Error(), canary) {
			t.Errorf("%s: %v, %v", name, events, err)
		}
	}
	if b, err := AppendEvent(nil, Event{Cursor: "1:1\ndata: x", Type: "a\rb"}); err != nil || strings.Count(string(b), "\n") != 4 {
		t.Errorf("%q, %v", b, err)
	}
}

// An event without an end is given up once it is too long, and not kept for ever.
func TestEndlessEventsAreGivenUp(t *testing.T) {
	rest := strings.NewReader(strings.Repeat("data: "+strings.Repeat("x", 1000)+"\n", 8*maxEvent/1000))
	if _, err := collect(rest); code(err) != "INVALID_INPUT" || rest.Len() < 6*maxEvent {
		t.Errorf("%v with %d bytes to come", err, rest.Len())
	}
}

func TestFollow(t *testing.T) {
	raw := stream(t, happened...)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.String() != "/v1/events/stream?cursor=6%3A0&node=node_1" || r.Header.Get("Accept") != "text/event-stream, application/problem+json" {
			t.Errorf("%s %v", r.URL, r.Header)
		}
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = w.Write(raw)
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	}))
	defer srv.Close()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var got []Event
	var end error
	for e, err := range Follow(ctx, &Client{Base: srv.URL}, &EventStream{EventFilter: EventFilter{Node: "node_1", Cursor: "6:0"}}) {
		if end = err; err == nil {
			got = append(got, e)
		}
		if len(got) == 2 {
			cancel()
		}
	}
	if !reflect.DeepEqual(got, happened) || !errors.Is(end, context.Canceled) || code(end) != "UNAVAILABLE" {
		t.Errorf("%+v, %v", got, end)
	}
	c, _, _ := answer(t, 403, nil, "")
	for _, err := range Follow(t.Context(), c, &EventStream{}) {
		if code(err) != "ACCESS_DENIED" {
			t.Error(err)
		}
	}
}

func FuzzReadEvents(f *testing.F) {
	f.Add([]byte("id: 1:0\nevent: a\ndata: {\"cursor\":\"1:0\"}\n\n:\n\ndata: [\n\n"))
	f.Add([]byte("data: {\ndata: }\n\ndata:\n\n\r\n"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		events, err := collect(bytes.NewReader(raw))
		if err == nil || len(events) > len(raw)/4 {
			t.Errorf("%d events of %d bytes, %v", len(events), len(raw), err)
		}
		for _, e := range events {
			again, err := AppendEvent(nil, e)
			if err != nil {
				return // a body or time that JSON cannot carry back
			}
			if back, _ := collect(bytes.NewReader(again)); len(back) != 1 || back[0].Cursor != e.Cursor {
				t.Errorf("%+v came back as %+v", e, back)
			}
		}
	})
}
