package redfish

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"

	"github.com/ingotmetal/ingot/bmc/wire"
)

// decodePower is the PowerState of an answer; empty where there is none, or one
// that is no string. It is asked of every machine all the time, and the answers
// are large: so the document is checked whole, and one value of it is read.
func decodePower(a *wire.Response) (string, error) {
	if !json.Valid(a.Body) {
		return "", a.JSON(new(any)) // which says how it is broken
	}
	value := topValue(a.Body, "PowerState")
	if len(value) < 2 || value[0] != '"' {
		return "", nil
	}
	return text(value), nil
}

// text is what a JSON string says.
func text(quoted []byte) string {
	if !bytes.ContainsFunc(quoted, func(r rune) bool { return r == '\\' || r >= utf8.RuneSelf }) {
		return string(quoted[1 : len(quoted)-1])
	}
	var s string
	_ = json.Unmarshal(quoted, &s) // it is one
	return s
}

// topValue is the last value of a name in a valid JSON object; nil where there is
// none.
func topValue(raw []byte, name string) (value []byte) {
	raw = bytes.TrimLeft(raw, " \t\r\n")
	if len(raw) == 0 || raw[0] != '{' {
		return nil
	}
	depth, found := 0, -1 // found is where the value begins
	for i := 0; i < len(raw); i++ {
		switch c := raw[i]; c {
		case '"':
			end := stringEnd(raw, i)
			if depth == 1 && found < 0 && isName(raw, i, end, name) {
				found = bytes.IndexByte(raw[end:], ':') + end + 1
				i = found - 1
				continue
			}
			i = end - 1
		case '{', '[':
			depth++
		case '}', ']', ',':
			if depth == 1 && found >= 0 {
				value, found = bytes.TrimSpace(raw[found:i]), -1
			}
			if c != ',' {
				depth--
			}
		}
	}
	return value
}

// stringEnd is behind the string that begins at i.
func stringEnd(raw []byte, i int) int {
	for i++; ; i++ {
		n := bytes.IndexAny(raw[i:], `"\`)
		i += n
		if raw[i] == '"' {
			return i + 1
		}
		i++ // what is escaped
	}
}

// isName reports whether the string between i and end is a name, and this one.
func isName(raw []byte, i, end int, name string) bool {
	rest := bytes.TrimLeft(raw[end:], " \t\r\n")
	if len(rest) == 0 || rest[0] != ':' {
		return false
	}
	plain := raw[i+1 : end-1]
	return string(plain) == name || bytes.IndexByte(plain, '\\') >= 0 && text(raw[i:end]) == name
}
