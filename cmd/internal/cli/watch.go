package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"
)

// validUntil checks the conditions of --until against the answer's type.
func (v *verb) validUntil() error {
	for _, u := range v.until {
		path, _, ok := strings.Cut(u, "=")
		if !ok || !known(v.op.Out(), path) {
			return usage("--until %s: want FIELD=VALUE of a field that the answer has", quote(u)).then("known: %s", strings.Join(fieldsOf(v.op.Out()), ", "))
		}
	}
	if len(v.until) > 0 && v.every <= 0 || v.watch && v.every <= 0 {
		return usage("--every must be more than 0")
	}
	return nil
}

func fieldsOf(t reflect.Type) (out []string) {
	for _, f := range reflect.VisibleFields(t) {
		if name := jsonName(f); name != "" && !f.Anonymous && len(f.Index) == 1 {
			out = append(out, name)
		}
	}
	return out
}

// watching looks again and again, and prints what is other than before. It ends when
// --until holds, or its time is over.
func (v *verb) watching(ctx context.Context, c *connection, in reflect.Value) error {
	w := watcher{verb: v, seen: map[string]any{}}
	for first := true; ; first = false {
		raw, err := v.look(ctx, c, in)
		if err != nil {
			return w.ended(ctx, err)
		}
		if err := w.show(ctx, raw, first); err != nil {
			return err
		}
		if v.reached(raw) {
			return nil
		}
		if err := pause(ctx, v.every); err != nil {
			return w.ended(ctx, err)
		}
	}
}

// look reads what is watched, whole.
func (v *verb) look(ctx context.Context, c *connection, in reflect.Value) ([]byte, error) {
	if !v.pages() {
		return v.call(ctx, c, in)
	}
	v.set(in, "cursor", "")
	items, _, err := v.all(ctx, c, in)
	return must(map[string]any{v.shape.list: items}), err
}

func (v *verb) reached(raw []byte) bool {
	var x any
	_ = json.Unmarshal(raw, &x)
	return slices.ContainsFunc(v.until, func(u string) bool {
		path, value, _ := strings.Cut(u, "=")
		return fmt.Sprint(pick(x, path)) == value
	})
}

// A watcher remembers what was shown.
type watcher struct {
	*verb
	seen map[string]any
}

// ended is the error of a wait that ran out of time or was interrupted.
func (w *watcher) ended(ctx context.Context, err error) error {
	if ctx.Err() == nil {
		return err
	}
	if len(w.until) == 0 && errors.Is(ctx.Err(), context.Canceled) {
		return nil // a person had seen enough
	}
	what := "the wait ended"
	if len(w.until) > 0 {
		what += " before " + strings.Join(w.until, " or ")
	}
	if seen := w.state(); seen != "" {
		what += "; last seen: " + seen
	}
	return &Ended{What: what, Next: "the same command goes on waiting; it changes nothing"}
}

// state is what the fields of --until were last.
func (w *watcher) state() string {
	var out []string
	for _, u := range w.until {
		path, _, _ := strings.Cut(u, "=")
		for _, x := range w.seen {
			out = append(out, path+"="+brief(pick(x, path)))
		}
	}
	slices.Sort(out)
	return strings.Join(slices.Compact(out), ", ")
}

// show prints what is new: all at first, then a line for each thing that is other.
func (w *watcher) show(ctx context.Context, raw []byte, first bool) error {
	now := w.things(raw)
	if first && !w.structured() {
		if err := w.answer(ctx, raw); err != nil {
			return err
		}
	}
	for _, id := range slices.Sorted(maps.Keys(now)) {
		was, had := w.seen[id]
		if had && reflect.DeepEqual(was, now[id]) || first && !w.structured() {
			continue
		}
		if err := w.say(ctx, id, was, now[id]); err != nil {
			return err
		}
	}
	for id, was := range w.seen {
		if _, still := now[id]; !still {
			if err := w.say(ctx, id, was, nil); err != nil {
				return err
			}
		}
	}
	w.seen = now
	return nil
}

// things are what an answer holds, by name.
func (w *watcher) things(raw []byte) map[string]any {
	out := map[string]any{}
	var x any
	_ = json.Unmarshal(raw, &x) // it was read before
	if w.shape.list == "" {
		out[idOf(raw, w.shape.id)] = x
		return out
	}
	list, _ := pick(x, w.shape.list).([]any)
	for _, e := range list {
		out[fmt.Sprint(pick(e, w.shape.id))] = e
	}
	return out
}

// say prints one change.
func (w *watcher) say(ctx context.Context, id string, was, now any) error {
	if w.structured() {
		change := "put"
		if now == nil {
			change = "delete"
		}
		raw := must(map[string]any{"schema": schema("watch"), "change": change, "name": id, "object": now})
		if w.given.jq != "" {
			return w.query(ctx, raw)
		}
		return w.print(string(raw) + "\n")
	}
	what := "gone"
	switch {
	case was == nil:
		what = "new"
	case now != nil:
		what = strings.Join(differences(was, now, ""), ", ")
	}
	return w.printf("%s %s\n", w.Now().UTC().Format(time.RFC3339), strings.TrimSpace(clean(id)+" "+what))
}

// differences lists which fields are other, in the order of their names.
func differences(was, now any, path string) (out []string) {
	a, ok1 := was.(map[string]any)
	b, ok2 := now.(map[string]any)
	if !ok1 || !ok2 {
		if !reflect.DeepEqual(was, now) {
			out = append(out, fmt.Sprintf("%s: %s -> %s", path, brief(was), brief(now)))
		}
		return out
	}
	names := map[string]bool{}
	for _, m := range []map[string]any{a, b} {
		for k := range m {
			names[k] = true
		}
	}
	for _, k := range slices.Sorted(maps.Keys(names)) {
		out = append(out, differences(a[k], b[k], strings.TrimPrefix(path+"."+k, "."))...)
	}
	return out
}

func brief(x any) string {
	if x == nil {
		return "-"
	}
	if s, ok := x.(string); ok {
		return clean(s)
	}
	raw := string(must(x))
	if len(raw) > 80 {
		return "(longer)"
	}
	return clean(raw)
}
