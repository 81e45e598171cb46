package bmc

import (
	"bytes"
	"encoding/json"
	"io"
	"slices"
	"strings"
	"unicode"
)

// MaxOptions bounds a driver's options, in bytes (PROV-9).
const MaxOptions = 1 << 10

// CheckOptions decodes a driver's options into a pointer to a struct: a JSON object
// of at most [MaxOptions] bytes without unknown keys, without a key twice, and
// without one that looks like a credential at any depth (PROV-9), since options
// stand in rows in clear. Empty options leave into as it is. The error is an [*Error] of
// kind [InvalidOption] and never quotes a value.
func CheckOptions(options json.RawMessage, into any) error {
	bad := func(why, do string) error {
		return &Error{Kind: InvalidOption, Op: "options", Sent: SentNo, Why: why, Do: do}
	}
	if len(options) == 0 {
		return nil
	}
	if len(options) > MaxOptions {
		return bad("over 1 KiB", "leave out what the driver does not need")
	}
	if err := scan(options); err != nil {
		return bad(err.why, err.do)
	}
	d := json.NewDecoder(bytes.NewReader(options))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return bad(decodeWhy(err), "see the driver's options")
	}
	return nil
}

// decodeWhy keeps an error's key and type, and drops the value that it quotes.
func decodeWhy(err error) string {
	if e, ok := err.(*json.UnmarshalTypeError); ok {
		return "the key " + e.Field + " wants another type: " + e.Type.String()
	}
	if key, ok := strings.CutPrefix(err.Error(), "json: unknown field "); ok {
		return "no such key: " + key
	}
	return "a value is not what its key wants"
}

type finding struct{ why, do string }

// scan walks the tokens of a JSON object.
func scan(raw []byte) *finding {
	d := json.NewDecoder(bytes.NewReader(raw))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return &finding{"no JSON object", `want {"key": value}`}
	}
	if f := scanObject(d, 1); f != nil {
		return f
	}
	if _, err := d.Token(); err != io.EOF {
		return &finding{"something follows the JSON object", "want one object"}
	}
	return nil
}

// maxDepth bounds how deep options nest.
const maxDepth = 8

func scanObject(d *json.Decoder, depth int) *finding {
	if depth > maxDepth {
		return &finding{"nested too deep", "want at most 8 levels"}
	}
	seen := map[string]bool{}
	for d.More() {
		t, err := d.Token()
		key, ok := t.(string)
		switch {
		case err != nil || !ok:
			return &finding{"broken JSON", `want {"key": value}`}
		case seen[fold(key)]:
			return &finding{"the key " + key + " stands twice", "leave one"}
		case looksSecret(key):
			return &finding{"the key " + key + " looks like a credential", "name credentials by a secret:// reference"}
		}
		seen[fold(key)] = true
		if f := scanValue(d, depth); f != nil {
			return f
		}
	}
	return closing(d)
}

func scanValue(d *json.Decoder, depth int) *finding {
	t, err := d.Token()
	switch {
	case err != nil:
		return &finding{"broken JSON", `want {"key": value}`}
	case t == json.Delim('{'):
		return scanObject(d, depth+1)
	case t == json.Delim('['):
		if depth > maxDepth {
			return &finding{"nested too deep", "want at most 8 levels"}
		}
		for d.More() {
			if f := scanValue(d, depth+1); f != nil {
				return f
			}
		}
		return closing(d)
	}
	return nil
}

func closing(d *json.Decoder) *finding {
	if _, err := d.Token(); err != nil {
		return &finding{"broken JSON", `want {"key": value}`}
	}
	return nil
}

// looksSecret reports whether a key names what must not stand in clear.
func looksSecret(key string) bool {
	k := strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return r
		}
		return -1
	}, fold(key))
	for _, word := range []string{"pass", "pwd", "secret", "token", "credential", "private", "username", "login", "cookie", "authorization", "bearer"} {
		if strings.Contains(k, word) {
			return true
		}
	}
	return strings.HasSuffix(k, "key") || slices.Contains([]string{"user", "auth", "basicauth", "pw", "psk", "kg"}, k)
}

// fold makes keys one that a JSON decoder takes for the same.
func fold(key string) string { return strings.ToLower(strings.ToUpper(key)) }
