package bmc_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/ingotmetal/ingot/bmc"
)

// opts is what a driver may take; Nested is there to be searched.
type opts struct {
	Manager string
	Retries int
	Nested  map[string]any
	List    []any
}

func TestCheckOptions(t *testing.T) {
	deep := strings.Repeat(`{"a":`, 8) + "1" + strings.Repeat("}", 8)
	tests := []struct {
		options string
		bad     string // part of the reason; empty: it is good
	}{
		{``, ""},
		{`{}`, ""},
		{` {"Manager":"1","Retries":3} `, ""},
		{`{"manager":"1"}`, ""},
		{`{"Nested":{"a":{"b":[{"c":null}]}}}`, ""},
		{`{"Nested":{"a":1,"A1":2}}`, ""},
		{`{"Manager":"` + strings.Repeat("x", bmc.MaxOptions-14) + `"}`, ""},
		{`{"Manager":"` + strings.Repeat("x", bmc.MaxOptions-13) + `"}`, "over 1 KiB"},
		{strings.Repeat(" ", bmc.MaxOptions+1), "over 1 KiB"},
		{` `, "no JSON object"},
		{`null`, "no JSON object"},
		{`[]`, "no JSON object"},
		{`"x"`, "no JSON object"},
		{`{"Manager":"1"`, "broken JSON"},
		{`{"Manager":"1",}`, "JSON"},
		{`{} {}`, "something follows"},
		{`{}x`, "something follows"},
		{`{"Color":"red"}`, "no such key"},
		{`{"Retries":"hunter2"}`, "the key Retries wants another type: int"},
		{`{"Retries":1.5}`, "the key Retries wants another type: int"},
		{`{"Manager":"1","Manager":"2"}`, "stands twice"},
		{`{"Manager":"1","manager":"2"}`, "stands twice"},
		{`{"Nested":{"s":1,"ſ":2}}`, "stands twice"},
		{`{"Nested":{"a":{"b":1,"b":2}}}`, "stands twice"},
		{`{"Nested":` + deep + `}`, "nested too deep"},
		{`{"List":[[[[[[[[[[[1]]]]]]]]]]]}`, "nested too deep"},
	}
	for _, tt := range tests {
		err := bmc.CheckOptions(json.RawMessage(tt.options), &opts{})
		e, ok := errors.AsType[*bmc.Error](err)
		switch {
		case tt.bad == "":
			if err != nil {
				t.Errorf("%.80s: %v", tt.options, err)
			}
		case !ok || e.Kind != bmc.InvalidOption || e.Sent != bmc.SentNo || !strings.Contains(e.Why, tt.bad) || strings.Contains(err.Error(), "hunter2"):
			t.Errorf("%.80s: %v, want %q", tt.options, err, tt.bad)
		}
	}
	into := opts{Manager: "kept"}
	if err := bmc.CheckOptions(nil, &into); err != nil || into.Manager != "kept" {
		t.Errorf("empty options: %+v, %v", into, err)
	}
}

// A key that looks like a credential is refused in any case, spelling and depth
// (PROV-9), and its value is not repeated.
func TestCredentialKeys(t *testing.T) {
	keys := []string{
		"password", "Password", "PASSWORD", "pass_word", "pass-word", "pass.word", "pass word", "pass/word", "paſſword",
		"passwd", "passphrase", "pwd", "pw", "adminPassword", "bmc_pwd", "secret", "clientSecret", "token", "X-Auth-Token",
		"credential", "credentials", "apiKey", "api_key", "accessKey", "private_key", "sshKey", "key", "Kg", "k_g", "psk",
		"user", "User", "username", "user_name", "login", "auth", "authorization", "basic-auth", "bearer", "cookie",
	}
	for _, key := range keys {
		for _, shape := range []string{`{"KEY":"hunter2"}`, `{"Nested":{"KEY":"hunter2"}}`, `{"List":[1,[{"a":{"KEY":"hunter2"}}]]}`, `{"Nested":{"a":1,"KEY":{"b":"hunter2"}}}`} {
			text := strings.ReplaceAll(shape, "KEY", key)
			for _, options := range []string{text, strings.Replace(text, "hunter2", `\u0068unter2`, 1), strings.ReplaceAll(shape, "KEY", escaped(key))} {
				err := bmc.CheckOptions(json.RawMessage(options), &opts{})
				e, ok := errors.AsType[*bmc.Error](err)
				if !ok || !strings.Contains(e.Why, "looks like a credential") || strings.Contains(err.Error(), "hunter2") {
					t.Errorf("%s: %v", options, err)
				}
			}
		}
	}
	for _, key := range []string{"manager", "keyboard", "cipherSuite", "author", "timeout", "vendor", "userland"} {
		if err := bmc.CheckOptions(json.RawMessage(`{"Nested":{"`+key+`":1}}`), &opts{}); err != nil {
			t.Errorf("%s: %v", key, err)
		}
	}
}

// escaped spells a key in JSON's escapes.
func escaped(key string) string {
	var b strings.Builder
	for _, r := range key {
		const hex = "0123456789abcdef"
		b.WriteString(`\u`)
		for shift := 12; shift >= 0; shift -= 4 {
			b.WriteByte(hex[r>>shift&15])
		}
	}
	return b.String()
}

// Whatever passes is one small object that decodes as a strict decoder would
// have it, and holds no key that looks like a credential.
func FuzzCheckOptions(f *testing.F) {
	for _, s := range []string{"", "{}", `{"Manager":"1"}`, `{"password":"x"}`, `{"Nested":{"Pa\u0073sword":1}}`, `{"a":1,"A":2}`, "null", "[", `{"List":[{"token":1}]}`, `{"Manager":"1",}`, "{}{}"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var into opts
		err := bmc.CheckOptions(b, &into)
		if err != nil {
			if e, ok := errors.AsType[*bmc.Error](err); !ok || e.Kind != bmc.InvalidOption || len(err.Error()) > 3*bmc.MaxWhy {
				t.Errorf("%q: %v", b, err)
			}
			return
		}
		if len(b) == 0 {
			return
		}
		var any map[string]any
		if len(b) > bmc.MaxOptions || json.Unmarshal(b, &any) != nil {
			t.Fatalf("passed: %q", b)
		}
		walkKeys(any, func(key string) {
			if k := strings.ToLower(key); strings.Contains(k, "password") || strings.Contains(k, "secret") || strings.Contains(k, "token") {
				t.Errorf("passed: %q", b)
			}
		})
	})
}

func walkKeys(v any, visit func(string)) {
	switch v := v.(type) {
	case map[string]any:
		for key, below := range v {
			visit(key)
			walkKeys(below, visit)
		}
	case []any:
		for _, below := range v {
			walkKeys(below, visit)
		}
	}
}
