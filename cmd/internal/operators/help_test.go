package operators

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/ingotmetal/ingot/cmd/internal/secrets"
	"github.com/ingotmetal/ingot/identity/keys"
)

var noon = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

const phrase = "correct horse battery"

type fataler interface {
	Fatal(...any)
}

// steps is entropy that one can predict: it counts.
type steps struct{ next byte }

func (s *steps) Read(p []byte) (int, error) {
	for i := range p {
		s.next++
		p[i] = s.next
	}
	return len(p), nil
}

// cheap hashes at a cost that tests can bear.
var cheap = Cost{Time: 1, Memory: 64, Threads: 1}

func hasher(t fataler, h Hashing) *Hasher {
	out, err := NewHasher(h, &steps{})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func door(t fataler) Door {
	m, err := secrets.NewMaster([secrets.Size]byte{1})
	if err != nil {
		t.Fatal(err)
	}
	return Door{Hasher: hasher(t, Hashing{Cost: cheap}), Sealer: secrets.NewSealer(m, &steps{})}
}

func seed(t fataler, fill byte) Seed {
	s, err := NewSeed([SeedSize]byte(bytes.Repeat([]byte{fill}, SeedSize)))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// account is alice, whose password is phrase.
func account(t fataler, d Door) Account {
	phc, err := d.Hasher.Hash(context.Background(), "alice", NewPassword(phrase))
	if err != nil {
		t.Fatal(err)
	}
	a, err := NewAccount("alice", "acme", phc, noon.Add(-24*time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// enrolled is alice with the seed of 1s, confirmed an hour before noon.
func enrolled(t fataler, d Door) Account {
	at := noon.Add(-time.Hour)
	a, err := account(t, d).BeginTOTP(d.Sealer, seed(t, 1), at)
	if err != nil {
		t.Fatal(err)
	}
	if a, err = a.ConfirmTOTP(d.Sealer, codeAt(t, 1, at), at); err != nil {
		t.Fatal(err)
	}
	return a
}

func codeAt(t fataler, fill byte, at time.Time) string {
	return seed(t, fill).code(uint64(at.Unix()) / period)
}

func token(t fataler, fill byte) keys.Secret {
	s, err := keys.NewSecret(keys.SessionToken, [keys.SecretSize]byte{fill})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// wants fails unless err has the code and says so much.
func wants(t *testing.T, name string, err error, code, why string) {
	t.Helper()
	coded, ok := errors.AsType[interface {
		error
		Code() string
	}](err)
	if !ok || coded.Code() != code || !strings.Contains(err.Error(), why) {
		t.Errorf("%s: %v, want %s with %q", name, err, code, why)
	}
}

// readsBack wants a record's JSON to give the record again.
func readsBack[T comparable](t *testing.T, v T, decode func([]byte) (T, error)) {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	if back, err := decode(b); err != nil || back != v {
		t.Errorf("%s came back as %+v, %v", b, back, err)
	}
}

// refusesForms wants decode to refuse what no release wrote, and a later one's.
func refusesForms[T comparable](t *testing.T, v T, decode func([]byte) (T, error)) {
	t.Helper()
	var none T
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	later := bytes.Replace(b, []byte(`"Schema":1`), []byte(`"Schema":2`), 1)
	for name, c := range map[string]struct {
		in   []byte
		code string
	}{
		"later":     {later, "UNSUPPORTED"},
		"no schema": {bytes.Replace(b, []byte(`"Schema":1`), []byte(`"Schema":0`), 1), "INVALID_INPUT"},
		"not JSON":  {b[1:], "INVALID_INPUT"},
		"a list":    {[]byte(`{"Schema":1,"Created":[]}`), "INVALID_INPUT"},
		"empty":     {[]byte(`{"Schema":1}`), "INVALID_INPUT"},
		"long":      {bytes.Repeat([]byte(" "), maxRecord+1), "INVALID_INPUT"},
	} {
		got, err := decode(c.in)
		wants(t, name, err, c.code, "")
		if got != none {
			t.Errorf("%s: gives %+v", name, got)
		}
	}
}

// renderings returns everything that fmt and slog make of the values.
func renderings(values ...any) string {
	var out bytes.Buffer
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%o"} {
		for _, v := range values {
			fmt.Fprintf(&out, verb+"\n", v)
		}
	}
	for _, h := range []slog.Handler{slog.NewTextHandler(&out, nil), slog.NewJSONHandler(&out, nil)} {
		for _, v := range values {
			slog.New(h).Info("x", "v", v)
		}
	}
	return out.String()
}
