package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/ingotmetal/ingot/cmd/api"
)

// once calls the operation and prints its answer.
func (v *verb) once(ctx context.Context, c *connection, in reflect.Value) error {
	raw, err := v.call(ctx, c, in)
	if err != nil {
		return err
	}
	if raw, err = v.after(ctx, c, in, raw); err != nil {
		return err
	}
	if err := v.answer(ctx, raw); err != nil {
		return err
	}
	return v.verdict(raw)
}

// verdict ends a dry run that found something to do.
func (v *verb) verdict(raw []byte) error {
	var out api.Outcome
	if v.dry() && json.Unmarshal(raw, &out) == nil && changes(out) {
		return wouldChange{}
	}
	return nil
}

// changes reports whether a change has, or would have, an effect: a fact came true.
// Rows alone are none, since a call is remembered by its key too.
func changes(o api.Outcome) bool { return len(o.Facts)+len(o.Moves) > 0 }

// answer prints an answer in the form that was asked for.
func (v *verb) answer(ctx context.Context, raw []byte) error {
	switch {
	case v.page != nil:
		return v.page(v, raw)
	case v.structured():
		return v.value(ctx, v.def.Name, raw)
	case v.given.output == "name":
		return v.name(raw)
	case v.shape.list != "":
		items, _, err := v.items(raw)
		if err != nil {
			return err
		}
		return v.table(items)
	}
	if text, ok := v.signedIn(raw); ok {
		return v.print(text)
	}
	out := reflect.New(v.op.Out())
	if err := json.Unmarshal(raw, out.Interface()); err != nil {
		return &Refusal{"the answer cannot be read: " + err.Error(), "use -o json, or a newer ingot", "UNAVAILABLE"}
	}
	return v.text(out.Elem())
}

// name prints what the answer's things are called, one a line.
func (v *verb) name(raw []byte) error {
	if v.shape.list != "" {
		items, _, err := v.items(raw)
		if err != nil {
			return err
		}
		for _, item := range items {
			if err := v.printf("%s\n", idOf(item, v.shape.id)); err != nil {
				return err
			}
		}
		return nil
	}
	if id := idOf(raw, v.shape.id); id != "" {
		return v.printf("%s\n", id)
	}
	return nil
}

// idOf is what a JSON value has at a path, as text.
func idOf(raw []byte, path string) string {
	var x any
	_ = json.Unmarshal(raw, &x)
	if s, ok := pick(x, path).(string); ok {
		return clean(s)
	}
	return ""
}

// text prints an answer for people: what a change did, or what there is.
func (v *verb) text(out reflect.Value) error {
	if p, ok := out.Addr().Interface().(*api.SetupPlan); ok {
		return v.planPage(p)
	}
	o := out.FieldByName("Outcome")
	if !o.IsValid() {
		return errors.Join(v.facts(out), v.print(approvedPage(out)))
	}
	if err := v.outcome(o.Interface().(api.Outcome)); err != nil {
		return err
	}
	return v.beside(out)
}

// approvedPage is the layout that a registration was approved with.
func approvedPage(out reflect.Value) string {
	r, ok := out.Addr().Interface().(*api.Registration)
	if !ok || r.Plan == nil || r.Plan.Text == "" {
		return ""
	}
	return "\n" + strings.TrimRight(page(r.Plan.Text), "\n") + "\n"
}

// outcome prints what a change did, or would do.
func (v *verb) outcome(o api.Outcome) error {
	var b strings.Builder
	verb := ""
	if o.Dry {
		verb = "would: "
	}
	for _, m := range o.Moves {
		fmt.Fprintf(&b, "%s%s %s -> %s\n", verb, clean(m.Axis), clean(m.From), clean(m.To))
	}
	for _, f := range o.Facts {
		fmt.Fprintf(&b, "%sfact %s\n", verb, clean(f))
	}
	if o.Dry || v.given.output == "wide" {
		for _, r := range o.Rows {
			fmt.Fprintf(&b, "%srow %s %s\n", verb, clean(r.Change), clean(r.Key))
		}
	}
	switch {
	case !changes(o) && o.Dry:
		b.WriteString("nothing would change\n")
	case !changes(o):
		b.WriteString("nothing changed: it was so already\n")
	case !o.Dry:
		fmt.Fprintf(&b, "done in revision %d\n", o.Revision)
	}
	if o.Replayed {
		b.WriteString("an earlier call with this key did it\n")
	}
	return v.print(b.String())
}

// beside prints the rest of a change's answer: all of it in wide, and always what is
// shown once.
func (v *verb) beside(out reflect.Value) error {
	var b strings.Builder
	for _, f := range reflect.VisibleFields(out.Type()) {
		at, err := out.FieldByIndexErr(f.Index)
		if err != nil || f.Anonymous || at.IsZero() {
			continue
		}
		if _, secret := at.Interface().(api.Secret); secret {
			fmt.Fprintf(&b, "%s: %s\n", jsonName(f), scalar(at))
		}
	}
	if b.Len() > 0 {
		b.WriteString("it is shown this once: keep it now\n")
	}
	if err := v.print(b.String()); err != nil || v.given.output != "wide" {
		return err
	}
	for _, f := range reflect.VisibleFields(out.Type()) {
		if at, err := out.FieldByIndexErr(f.Index); err == nil && !f.Anonymous && at.Kind() == reflect.Struct && len(f.Index) == 1 {
			if err := v.facts(at); err != nil {
				return err
			}
		}
	}
	return nil
}
