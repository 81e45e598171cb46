package cli

import (
	"context"
	"encoding/json"
	"reflect"

	"github.com/ingotmetal/ingot/cmd/api"
)

// items are the elements of a list's answer, as they came, and where to go on.
func (v *verb) items(raw []byte) (items []json.RawMessage, next string, err error) {
	var m map[string]json.RawMessage
	if err := json.Unmarshal(raw, &m); err != nil {
		return nil, "", &Refusal{"the answer is no list: " + err.Error(), "", "UNAVAILABLE"}
	}
	if err := json.Unmarshal(m[v.shape.list], &items); err != nil {
		return nil, "", &Refusal{"the answer has no " + v.shape.list, "use a newer ingot", "UNAVAILABLE"}
	}
	var more struct {
		Next   string `json:"next_cursor"`
		Cursor string `json:"cursor"`
		More   bool   `json:"more"`
	}
	_ = json.Unmarshal(raw, &more) // it is an object
	if next = more.Next; more.More {
		next = more.Cursor
	}
	return items, next, nil
}

// listing reads page after page, up to --limit, and prints them as one.
func (v *verb) listing(ctx context.Context, c *connection, in reflect.Value) error {
	items, next, err := v.all(ctx, c, in)
	if err != nil {
		return err
	}
	whole := map[string]any{v.shape.list: items}
	if next != "" {
		whole["next_cursor"] = next
	}
	if err := v.answer(ctx, must(whole)); err != nil {
		return err
	}
	if next != "" && !v.structured() {
		v.note("there is more: --cursor %s", next)
	}
	return nil
}

func (v *verb) all(ctx context.Context, c *connection, in reflect.Value) (all []json.RawMessage, next string, err error) {
	all = []json.RawMessage{}
	for {
		v.pageSize(in, len(all))
		raw, err := v.call(ctx, c, in)
		if err != nil {
			return nil, "", err
		}
		items, cursor, err := v.items(raw)
		if err != nil {
			return nil, "", err
		}
		all = append(all, items...)
		if cursor == "" || v.limit > 0 && len(all) >= v.limit {
			return all, cursor, nil
		}
		v.set(in, "cursor", cursor)
	}
}

// pageSize asks for no more than is wanted.
func (v *verb) pageSize(in reflect.Value, have int) {
	f := v.param("limit")
	if f == nil || v.limit <= 0 {
		return
	}
	f.field.At(in.Interface()).SetInt(min(int64(v.limit-have), int64(bound(f.field, "maximum"))))
}

func (v *verb) set(in reflect.Value, name, text string) {
	if p := v.param(name); p != nil {
		p.field.At(in.Interface()).SetString(text)
	}
}

// param is the one of a field outside the body.
func (v *verb) param(name string) *param {
	for _, p := range v.params {
		if p.field.Name == name && p.field.In != api.InBody {
			return p
		}
	}
	return nil
}
