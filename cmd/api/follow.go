package api

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"strings"
)

// maxEvent bounds one event of a stream, in bytes. A fact's body has at most
// 64 KiB, which JSON may make six times as long.
const maxEvent = 512 << 10

// Follow runs event.stream and yields events as they come. It ends with an error
// that is never nil: ctx's, the server's [*Problem], or [*Unreachable] where the
// stream was cut. To go on, call it again with the last event's cursor; no event
// is lost by that, and none comes twice.
func Follow(ctx context.Context, c *Client, in *EventStream) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		body, err := EventFollow.Open(ctx, c, in)
		if err != nil {
			yield(Event{}, err)
			return
		}
		defer body.Close()
		for e, err := range ReadEvents(body) {
			if err != nil {
				err = &Unreachable{EventFollow.Name, errors.Join(ctx.Err(), err)}
			}
			if !yield(e, err) || err != nil {
				return
			}
		}
	}
}

// AppendEvent appends e as a server-sent event (HTML Living Standard, section
// 9.2), with its cursor as ID.
func AppendEvent(b []byte, e Event) ([]byte, error) {
	data, err := json.Marshal(e)
	if err != nil {
		return b, err
	}
	for _, part := range []string{"id: ", oneLine(e.Cursor), "\nevent: ", oneLine(e.Type), "\ndata: "} {
		b = append(b, part...)
	}
	return append(append(b, data...), "\n\n"...), nil
}

// oneLine keeps a field from being more than one.
func oneLine(s string) string { return strings.NewReplacer("\n", "", "\r", "", "\x00", "").Replace(s) }

// AppendBeat appends a comment, which shows a reader and all between that the
// stream lives.
func AppendBeat(b []byte) []byte { return append(b, ":\n\n"...) }

// ReadEvents reads what [AppendEvent] and [AppendBeat] wrote. It ends with an
// error that is never nil: that of r, io.ErrUnexpectedEOF at its end, or
// [*Malformed].
func ReadEvents(r io.Reader) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		lines := bufio.NewScanner(r)
		lines.Buffer(make([]byte, 0, 4096), maxEvent)
		var data []byte
		for lines.Scan() {
			line := lines.Bytes()
			if value, ok := bytes.CutPrefix(line, []byte("data:")); ok {
				data = append(data, bytes.TrimPrefix(value, []byte(" "))...)
			}
			if len(data) > maxEvent {
				break
			}
			if len(line) > 0 || len(data) == 0 {
				continue // a field of an event, or the end of none
			}
			e, err := parseEvent(data)
			if !yield(e, err) || err != nil {
				return
			}
			data = data[:0]
		}
		yield(Event{}, endOf(lines.Err(), len(data)))
	}
}

func parseEvent(data []byte) (Event, error) {
	var e Event
	if err := json.Unmarshal(data, &e); err != nil {
		return Event{}, &Malformed{Want: "events as JSON"}
	}
	return e, nil
}

// endOf says why a stream has no more.
func endOf(err error, pending int) error {
	switch {
	case errors.Is(err, bufio.ErrTooLong), pending > maxEvent:
		return &Malformed{Want: "events of at most 512 KiB"}
	case err != nil:
		return err
	}
	return io.ErrUnexpectedEOF
}
