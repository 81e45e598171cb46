package secrets_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"

	"pgregory.net/rapid"

	"github.com/ingotmetal/ingot/cmd/internal/secrets"
)

// A held is what a name should stand for.
type held struct{ now, nowV, next, nextV string }

// A sequence is a store, one who reads it, and what it should hold.
type sequence struct {
	ctx       context.Context
	s, reader *secrets.Store
	m         map[string]*held
}

const fine = "<nil>"

// wants fails unless err has the code; fine is none.
func (*sequence) wants(t *rapid.T, what string, err error, code string) {
	got := fmt.Sprint(err)
	if c, ok := errors.AsType[interface {
		error
		Code() string
	}](err); ok {
		got = c.Code()
	}
	if got != code {
		t.Fatalf("%s: %s, want %s", what, got, code)
	}
}

func name(t *rapid.T) string { return rapid.SampledFrom([]string{"a", "b"}).Draw(t, "name") }

func (q *sequence) put(t *rapid.T) {
	n := name(t)
	text, p := drawn(t)
	k, err := q.s.Put(q.ctx, n, "root", p)
	switch e := q.m[n]; {
	case e != nil && e.now == text:
		q.wants(t, "put the same", err, fine)
		if k.Changed || k.Version != e.nowV {
			t.Fatalf("%+v", k)
		}
	case e != nil && e.next != "":
		q.wants(t, "put over a rotation", err, "CONFLICT")
	default:
		q.wants(t, "put", err, fine)
		q.m[n] = &held{now: text, nowV: k.Version}
	}
}

func drawn(t *rapid.T) (string, secrets.Password) {
	text := rapid.SampledFrom([]string{"one", "two", "three"}).Draw(t, "password")
	p, err := secrets.NewPassword(text)
	if err != nil {
		t.Fatal(err)
	}
	return text, p
}

func (q *sequence) pending(t *rapid.T) {
	n := name(t)
	text, p := drawn(t)
	k, err := q.s.PutPending(q.ctx, n, "root", p)
	switch e := q.m[n]; {
	case e == nil:
		q.wants(t, "rotate nothing", err, "NOT_FOUND")
	case e.next == text:
		q.wants(t, "rotate again", err, fine)
		if k.Changed || k.Version != e.nextV {
			t.Fatalf("%+v", k)
		}
	case e.next != "":
		q.wants(t, "rotate twice", err, "CONFLICT")
	case e.now == text:
		q.wants(t, "rotate to the same", err, "INVALID_STATE")
	default:
		q.wants(t, "rotate", err, fine)
		e.next, e.nextV = text, k.Version
	}
}

func (q *sequence) confirm(t *rapid.T) {
	n, v := name(t), "stale"
	e := q.m[n]
	if e != nil && rapid.Bool().Draw(t, "true version") {
		v = e.nextV
	}
	err := q.s.Confirm(q.ctx, n, v)
	switch {
	case e == nil:
		q.wants(t, "confirm nothing", err, "NOT_FOUND")
	case e.next == "" || v == "stale":
		q.wants(t, "confirm another", err, "INVALID_STATE")
	default:
		q.wants(t, "confirm", err, fine)
		q.wants(t, "confirm again", q.s.Confirm(q.ctx, n, v), fine)
		q.wants(t, "roll back late", q.s.RollBack(q.ctx, n, v), "INVALID_STATE")
		*e = held{now: e.next, nowV: e.nextV}
	}
}

func (q *sequence) rollBack(t *rapid.T) {
	n := name(t)
	switch e := q.m[n]; {
	case e == nil:
		q.wants(t, "roll back nothing", q.s.RollBack(q.ctx, n, "x"), "NOT_FOUND")
	case e.next == "":
		q.wants(t, "roll back none", q.s.RollBack(q.ctx, n, "x"), fine)
	default:
		q.wants(t, "roll back another", q.s.RollBack(q.ctx, n, "x"), "INVALID_STATE")
		q.wants(t, "roll back", q.s.RollBack(q.ctx, n, e.nextV), fine)
		q.wants(t, "roll back again", q.s.RollBack(q.ctx, n, e.nextV), fine)
		e.next, e.nextV = "", ""
	}
}

func (q *sequence) remove(t *rapid.T) {
	n := name(t)
	err := q.s.Delete(q.ctx, n)
	switch e := q.m[n]; {
	case e == nil:
		q.wants(t, "delete nothing", err, "NOT_FOUND")
	case e.next != "":
		q.wants(t, "delete in a rotation", err, "CONFLICT")
	default:
		q.wants(t, "delete", err, fine)
		delete(q.m, n)
	}
}

func (q *sequence) rotateKey(t *rapid.T) {
	if len(q.m) > 0 {
		q.wants(t, "a new key", q.s.RotateKey(q.ctx), fine)
	}
}

// holds is what is true after every step.
func (q *sequence) holds(t *rapid.T) {
	for _, n := range []string{"a", "b"} {
		now, next, err := q.reader.Rotation(q.ctx, secrets.Ref{Kind: "store", Name: n})
		e := q.m[n]
		if e == nil {
			q.wants(t, "absent", err, "NOT_FOUND")
			continue
		}
		if got := (held{now.Password.Show(), now.Version, next.Password.Show(), next.Version}); err != nil || got != *e {
			t.Fatalf("%s: %+v, %v; want %+v", n, got, err, *e)
		}
	}
}

// Whatever is done in whatever order, nothing is lost before it is confirmed, and
// each change is seen by every reader.
func TestStoreSequences(t *testing.T) {
	ctx := t.Context()
	rapid.Check(t, func(t *rapid.T) {
		dir, err := os.MkdirTemp(memory(), "ingot-secrets-*")
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(dir)
		q := &sequence{ctx, storeIn(dir), storeIn(dir), map[string]*held{}}
		t.Repeat(map[string]func(*rapid.T){"put": q.put, "pending": q.pending, "confirm": q.confirm, "roll back": q.rollBack, "delete": q.remove, "rotate key": q.rotateKey, "": q.holds})
	})
}

// memory is a folder in memory, or "".
func memory() string {
	if info, err := os.Stat("/dev/shm"); err == nil && info.IsDir() {
		return "/dev/shm"
	}
	return ""
}
