package disklayout

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// object calls visit for each member of the JSON object raw. It is strict where
// encoding/json is not: that takes names in any case, and the last of two equal
// ones, where another program takes the first.
func object(raw json.RawMessage, path string, visit func(name, path string, raw json.RawMessage) error) error {
	dec := json.NewDecoder(bytes.NewReader(raw))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return malformed(path, "is no JSON object")
	}
	names := map[string]bool{}
	for dec.More() {
		t, err := dec.Token()
		if err != nil {
			return malformed(path, "is no JSON object")
		}
		name, _ := t.(string)
		if names[name] {
			return malformed(below(path, name), "is there twice")
		}
		names[name] = true
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return malformed(below(path, name), "is no JSON")
		}
		if err := visit(name, below(path, name), value); err != nil {
			return err
		}
	}
	return ended(dec, path)
}

// ended takes the closing delimiter, and wants nothing after it.
func ended(dec *json.Decoder, path string) error {
	if _, err := dec.Token(); err != nil {
		return malformed(path, "does not end")
	}
	if _, err := dec.Token(); err != io.EOF {
		return malformed(path, "has something after its end")
	}
	return nil
}

// below is the path of a member. Of a name that is no word, the path says
// nothing: it would carry what a machine chose into a log.
func below(path, name string) string {
	if len(name) > 32 || name == "" || strings.ContainsFunc(name, func(r rune) bool { return r != '_' && (r >= 0x80 || !letter(byte(r)) && !digit(byte(r))) }) {
		name = "*"
	}
	return strings.TrimPrefix(path+"."+name, ".")
}

// list reads an array of what one reads. An empty array is not nil.
func list[T any](raw json.RawMessage, path string, most int, one func(path string, raw json.RawMessage) (T, error)) ([]T, error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	if t, err := dec.Token(); err != nil || t != json.Delim('[') {
		return nil, malformed(path, "is no array")
	}
	out := []T{}
	for dec.More() {
		if len(out) == most {
			return nil, malformed(path, fmt.Sprintf("has over %d entries", most))
		}
		var value json.RawMessage
		at := fmt.Sprintf("%s[%d]", path, len(out))
		if err := dec.Decode(&value); err != nil {
			return nil, malformed(at, "is no JSON")
		}
		v, err := one(at, value)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, ended(dec, path)
}

// text reads a string without padding.
func text(raw json.RawMessage, path string, into *string) error {
	var s string
	if len(raw) == 0 || raw[0] != '"' || json.Unmarshal(raw, &s) != nil {
		return malformed(path, "is no string")
	}
	s = trim(s)
	if !printable(s) {
		return malformed(path, "is over 128 bytes or has control characters")
	}
	*into = s
	return nil
}

// number reads a whole number, written as digits alone.
func number(raw json.RawMessage, path string, into *uint64) error {
	n, err := strconv.ParseUint(string(raw), 10, 63)
	if err != nil {
		return malformed(path, "is no whole number under 2^63")
	}
	*into = n
	return nil
}

// small reads a whole number under 2^32.
func small(raw json.RawMessage, path string, into *uint32) error {
	n, err := strconv.ParseUint(string(raw), 10, 32)
	if err != nil {
		return malformed(path, "is no whole number under 2^32")
	}
	*into = uint32(n)
	return nil
}

func boolean(raw json.RawMessage, path string, into *bool) error {
	switch string(raw) {
	case "true":
		*into = true
	case "false":
		*into = false
	default:
		return malformed(path, "is neither true nor false")
	}
	return nil
}

// malformed is the refusal of a value at a path such as disks[3].size.
func malformed(path, why string) error {
	return refuse(Malformed, nil, or(path, "sysinfo")+" "+why)
}
