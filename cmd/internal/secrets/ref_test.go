package secrets_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/ingotmetal/ingot/cmd/internal/secrets"
)

func TestParseRef(t *testing.T) {
	for text, want := range map[string]secrets.Ref{
		"secret://file/rack-7/node_1.json": {Kind: "file", Name: "rack-7/node_1.json"},
		"secret://env/INGOT_SECRET_A":      {Kind: "env", Name: "INGOT_SECRET_A"},
		"secret://store/02:00:00:00:00:01": {Kind: "store", Name: "02:00:00:00:00:01"},
		"secret://vault-2/a":               {Kind: "vault-2", Name: "a"},
		"secret://file/..a/.b":             {Kind: "file", Name: "..a/.b"},
	} {
		got, err := secrets.ParseRef(text)
		if err != nil || got != want || got.String() != text {
			t.Errorf("%s: %+v, %v", text, got, err)
		}
	}
	if s := (secrets.Ref{}).String(); s != "" {
		t.Errorf("the zero Ref is %q", s)
	}
}

func TestParseRefRefuses(t *testing.T) {
	for text, why := range map[string]string{
		"":                                "begin with secret://",
		"hunter2-the-password":            "begin with secret://",
		"SECRET://file/hunter2":           "begin with secret://",
		"secret://":                       "form",
		"secret:///hunter2":               "form",
		"secret://file":                   "form",
		"secret://file/":                  "form",
		"secret://file//hunter2":          "form",
		"secret://file/hunter2/":          "form",
		"secret://file/../hunter2":        ". or ..",
		"secret://file/hunter2/./b":       ". or ..",
		"secret://file/a%2fhunter2":       "form",
		"secret://file/hunter2?x=1":       "form",
		"secret://file/hunter2#x":         "form",
		"secret://root:hunter2@file/a":    "form",
		"secret://file:80/hunter2":        "form",
		"secret://File/hunter2":           "form",
		"secret://1file/hunter2":          "form",
		"secret://file/hunter2\n":         "form",
		"secret://file/hunter2\x00":       "form",
		"secret://file/hunter2 b":         "form",
		"secret://file/hünter2":           "form",
		`secret://file/a\hunter2`:         "form",
		"secret://file/" + long(129):      "form",
		"secret://" + long(33) + "/a":     "form",
		"secret://file/" + long(100, 6):   "at most 512",
		" secret://file/hunter2":          "begin with secret://",
		"secret://file/hunter2:pass@word": "form",
	} {
		r, err := secrets.ParseRef(text)
		wants(t, text, err, "INVALID_INPUT", why)
		wants(t, text, err, "INVALID_INPUT", "legal: secret://KIND/NAME")
		if r != (secrets.Ref{}) || strings.Contains(fmt.Sprintf("%v %#v", err, err), "hunter2") {
			t.Errorf("%q: gives %+v, or tells: %v", text, r, err)
		}
	}
}

// long is n letters, or some parts of as many.
func long(n int, parts ...int) string {
	part := strings.Repeat("a", n)
	if len(parts) == 0 {
		return part
	}
	return strings.Join(strings.Split(strings.Repeat(part+" ", parts[0]-1)+part, " "), "/")
}

func FuzzParseRef(f *testing.F) {
	f.Add("secret://file/a/b")
	f.Add("secret://store/..")
	f.Add("secret://u:p@env/A")
	f.Fuzz(func(t *testing.T, text string) {
		r, err := secrets.ParseRef(text)
		if err != nil {
			if _, ok := errors.AsType[*secrets.BadRef](err); !ok || r != (secrets.Ref{}) || len(err.Error()) > 400 {
				t.Fatalf("%q: %+v, %v", text, r, err)
			}
			return
		}
		if r.String() != text || len(text) > 512 || strings.Contains("/"+r.Name+"/", "/../") || strings.ContainsAny(r.Name, "@%?#\\ \x00\n") {
			t.Fatalf("%q: %+v", text, r)
		}
	})
}
