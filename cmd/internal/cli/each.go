package cli

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
)

// result is what became of one of several targets.
type result struct {
	Target string          `json:"target"`
	Answer json.RawMessage `json:"answer,omitempty"`
	Error  json.RawMessage `json:"error,omitempty"`
}

// each does the operation to every target, also after one failed: each is on its
// own. It ends with the one code where all failed alike, and 9 where only some did.
func (v *verb) each(ctx context.Context, c *connection, in reflect.Value, words []string) error {
	var results []result
	var failed []error
	would := false
	for _, w := range words {
		raw, err := v.doTo(ctx, c, in, w)
		would = would || v.verdict(raw) != nil
		switch {
		case err != nil:
			failed = append(failed, err)
			results = append(results, result{Target: w, Error: problem(err)})
		default:
			results = append(results, result{Target: w, Answer: raw})
		}
		if !v.structured() {
			if err := v.tell(ctx, w, raw, err); err != nil {
				return err
			}
		}
	}
	if v.structured() {
		if err := v.value(ctx, v.def.Name+".many", must(map[string]any{"results": results})); err != nil {
			return err
		}
	}
	return v.sum(failed, len(words), would)
}

// doTo calls the operation on one target, with a key of its own.
func (v *verb) doTo(ctx context.Context, c *connection, in reflect.Value, word string) ([]byte, error) {
	own := reflect.New(in.Type().Elem())
	own.Elem().Set(in.Elem())
	v.arguments()[0].field.At(own.Interface()).SetString(word)
	if key, ok := v.key(own); ok && key.String() != "" {
		key.SetString(key.String() + "-" + word)
	}
	return v.call(ctx, c, own)
}

// tell prints what became of one target.
func (v *verb) tell(ctx context.Context, word string, raw []byte, err error) error {
	if err != nil {
		v.note("%s: %s", word, clean(err.Error()))
		return nil
	}
	if v.given.output != "name" {
		if err := v.printf("%s:\n", word); err != nil {
			return err
		}
	}
	return v.answer(ctx, raw)
}

// sum is the error of the whole.
func (v *verb) sum(failed []error, of int, would bool) error {
	switch {
	case len(failed) == 0 && would:
		return wouldChange{}
	case len(failed) == 0:
		return nil
	case len(failed) < of:
		return &told{&Some{len(failed), of}}
	}
	for _, err := range failed[1:] {
		if exitOf(err) != exitOf(failed[0]) {
			return &told{errors.New("all failed, for several reasons")}
		}
	}
	return &told{failed[0]}
}
