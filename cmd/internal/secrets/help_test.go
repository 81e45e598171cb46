package secrets_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/ingotmetal/ingot/cmd/internal/secrets"
)

// master is the secret whose bytes all are fill.
func master(t interface{ Fatal(...any) }, fill byte) secrets.Master {
	m, err := secrets.NewMaster([secrets.Size]byte(bytes.Repeat([]byte{fill}, secrets.Size)))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// steps is entropy that one can predict: it counts.
type steps struct{ next byte }

func (s *steps) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = s.next
		s.next++
	}
	return len(p), nil
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

// renderings returns everything that fmt, JSON and slog make of the values.
func renderings(t *testing.T, values ...any) string {
	var out bytes.Buffer
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%o"} {
		for _, v := range values {
			fmt.Fprintf(&out, verb+"\n", v)
		}
	}
	for _, h := range []slog.Handler{slog.NewTextHandler(&out, nil), slog.NewJSONHandler(&out, nil)} {
		slog.New(h).Info("secret", "all", values, "one", values[0])
	}
	j, err := json.Marshal(values)
	if err != nil {
		t.Fatal(err)
	}
	out.Write(j)
	return out.String()
}
