package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"math"
	"os"
	"reflect"
	"strings"
	"time"

	"github.com/ingotmetal/ingot/cmd/api"
	"github.com/ingotmetal/ingot/statemachine/journal"
)

// follow prints events as they happen, and goes on from the last one where the
// connection was cut.
func (v *verb) follow(ctx context.Context, c *connection, in reflect.Value) error {
	if err := v.fromNow(ctx, c, in); err != nil {
		return err
	}
	for try := 1; ; try++ {
		got, err := v.events(ctx, c, in)
		if got {
			try = 0
		}
		switch {
		case errors.Is(ctx.Err(), context.Canceled):
			return nil
		case ctx.Err() != nil:
			return &Ended{"the time to follow events is over", "--timeout gives it more"}
		}
		wait, again := retry(err, max(try, 1))
		if err != nil && !again || try >= tries {
			return err
		}
		if pause(ctx, max(wait, 200*time.Millisecond)) != nil {
			continue // told above
		}
	}
}

// fromNow moves the cursor to the end of the log for --new.
func (v *verb) fromNow(ctx context.Context, c *connection, in reflect.Value) error {
	if !v.fresh {
		return nil
	}
	head, err := api.AuditHeadShow.Call(ctx, c.Client, &api.Empty{})
	if err != nil {
		return v.met(err, c.where, reflect.Value{})
	}
	v.set(in, "cursor", journal.Cursor{Revision: head.Revision, Index: math.MaxUint64}.String())
	return nil
}

// events reads one stream to its end. got says whether any event came.
func (v *verb) events(ctx context.Context, c *connection, in reflect.Value) (got bool, err error) {
	body, err := v.open(ctx, c, in)
	if err != nil {
		return false, err
	}
	defer body.Close()
	lines := bufio.NewScanner(body)
	lines.Buffer(nil, maxFile)
	for lines.Scan() {
		data, ok := strings.CutPrefix(lines.Text(), "data: ")
		if !ok {
			continue
		}
		var e api.Event
		if json.Unmarshal([]byte(data), &e) != nil {
			return got, &Refusal{"the stream has what is no event", "use a newer ingot", "UNAVAILABLE"}
		}
		if err := v.event(ctx, e, []byte(data)); err != nil {
			return got, err
		}
		got = true
		v.set(in, "cursor", e.Cursor)
	}
	return got, nil // cut, or a line too long: the cursor goes on behind it
}

func (v *verb) event(ctx context.Context, e api.Event, raw []byte) error {
	switch {
	case v.given.jq != "":
		return v.query(ctx, wrapped("event", raw))
	case v.structured():
		return v.print(string(wrapped("event", raw)) + "\n")
	}
	line := e.Time.UTC().Format(time.RFC3339) + "  " + e.Type + "  " + e.Subject + "  by " + e.Actor
	if v.given.output == "wide" {
		line += "  " + e.Cursor + "  " + string(e.Body)
	}
	return v.print(clean(line) + "\n")
}

// download writes a stream of bytes to a new file, or to standard output. A file
// that did not become whole is removed.
func (v *verb) download(ctx context.Context, c *connection, in reflect.Value) error {
	switch {
	case v.to == "":
		return usage("--to is missing").then("--to FILE writes a new file, --to - standard output")
	case v.to == "-" && v.OutTerminal:
		return usage("the bytes are nothing for a terminal").then("--to FILE, or a pipe")
	case v.to == "-":
		return v.copyTo(ctx, c, in, v.Out)
	}
	f, err := os.OpenFile(v.path(v.to), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return usage("%v", err)
	}
	err = v.copyTo(ctx, c, in, f)
	if err == nil {
		err = f.Sync()
	}
	if closing := f.Close(); err == nil {
		err = closing
	}
	if err != nil {
		_ = os.Remove(v.path(v.to))
		return err
	}
	if info, err := os.Stat(v.path(v.to)); err == nil {
		v.note("%s: %d bytes", v.to, info.Size())
	}
	return nil
}

func (v *verb) copyTo(ctx context.Context, c *connection, in reflect.Value, w io.Writer) error {
	body, err := v.open(ctx, c, in)
	if err != nil {
		return err
	}
	defer body.Close()
	if _, err := io.Copy(w, body); err != nil {
		return &api.Unreachable{Op: v.def.Name, Err: err}
	}
	return nil
}
