package secrets

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// maxSpelled bounds the text of credentials, in bytes.
const maxSpelled = 4 << 10

// parseCredentials reads two lines, username and password, or an object
// {"username": ..., "password": ...} and nothing else, which begins with a
// brace. The error says what is wrong and carries nothing of the text.
func parseCredentials(raw []byte) (Credentials, error) {
	switch {
	case len(raw) > maxSpelled:
		return Credentials{}, fmt.Errorf("it has more than %d bytes", maxSpelled)
	case !utf8.Valid(raw):
		return Credentials{}, errors.New("it is no UTF-8")
	case bytes.HasPrefix(bytes.TrimLeft(raw, " \t\r\n"), []byte("{")):
		return parseObject(raw)
	}
	lines := strings.Split(strings.TrimSuffix(string(raw), "\n"), "\n")
	if len(lines) != 2 {
		return Credentials{}, errors.New(`want two lines, username and password, or {"username": ..., "password": ...}`)
	}
	return newCredentials(lines[0], lines[1])
}

// parseObject reads the object by its tokens, so that a name given twice is
// noticed.
func parseObject(raw []byte) (Credentials, error) {
	bad := errors.New(`want an object with two strings, "username" and "password", each once`)
	dec := json.NewDecoder(bytes.NewReader(raw))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return Credentials{}, bad
	}
	got := map[string]string{}
	for dec.More() {
		name, ok1 := text(dec)
		value, ok2 := text(dec)
		_, twice := got[name]
		if !ok1 || !ok2 || twice || name != "username" && name != "password" {
			return Credentials{}, bad
		}
		got[name] = value
	}
	if t, err := dec.Token(); err != nil || t != json.Delim('}') || len(got) != 2 {
		return Credentials{}, bad
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return Credentials{}, bad
	}
	return newCredentials(got["username"], got["password"])
}

// text is the next token where it is a string.
func text(dec *json.Decoder) (string, bool) {
	t, err := dec.Token()
	s, ok := t.(string)
	return s, ok && err == nil
}
