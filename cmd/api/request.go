package api

import (
	"bytes"
	"context"
	"encoding"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"reflect"
	"strconv"
	"strings"
)

// request makes the request of an operation from its input.
func (c *Client) request(ctx context.Context, a Any, in any) (*http.Request, error) {
	d, v := a.Info(), reflect.ValueOf(in)
	if v.Kind() != reflect.Pointer || v.IsNil() || v.Elem().Type() != a.In() {
		return nil, &Malformed{Want: "a pointer to the input of " + d.Name}
	}
	target, header, err := address(d, v.Elem())
	if err != nil {
		return nil, err
	}
	body, err := payload(v.Elem())
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, d.Method, strings.TrimSuffix(c.Base, "/")+target, body)
	if err != nil {
		return nil, &Malformed{Want: "a base URL like https://ingot.example"}
	}
	req.Header = header
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	c.sign(req, d)
	return req, nil
}

// sign adds who asks and for what.
func (c *Client) sign(req *http.Request, d Def) {
	req.Header.Set("Accept", "application/json, application/problem+json")
	if d.Stream != JSON {
		req.Header.Set("Accept", string(d.Stream)+", application/problem+json")
	}
	if c.UserAgent != "" {
		req.Header.Set("User-Agent", c.UserAgent)
	}
	if d.Auth != Anonymous && c.Credential.show != nil {
		req.Header.Set("Authorization", "Bearer "+c.Credential.show())
	}
}

// address is the path with its query, and the headers.
func address(d Def, v reflect.Value) (string, http.Header, error) {
	path, query, header := d.Path, url.Values{}, http.Header{}
	for f := range inputs(v.Type()) {
		if f.In == InBody {
			continue
		}
		text := format(v.FieldByIndex(f.Index))
		switch {
		case f.In == InPath && (text == "" || text == "." || text == ".."):
			return "", nil, &Malformed{Want: f.Name + " of " + d.Name}
		case f.In == InPath:
			path = strings.ReplaceAll(path, "{"+f.Name+"}", url.PathEscape(text))
		case text == "":
		case f.In == InQuery:
			query.Set(f.Name, text)
		default:
			header.Set(f.Name, text)
		}
	}
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	return path, header, nil
}

// format writes a value for a URL or header; zero values are left out.
func format(v reflect.Value) string {
	if v.IsZero() {
		return ""
	}
	if m, ok := v.Interface().(encoding.TextMarshaler); ok {
		text, err := m.MarshalText()
		if err != nil {
			return ""
		}
		return string(text)
	}
	switch v.Kind() {
	case reflect.Bool:
		return strconv.FormatBool(v.Bool())
	case reflect.Int, reflect.Int64:
		return strconv.FormatInt(v.Int(), 10)
	case reflect.Uint, reflect.Uint64:
		return strconv.FormatUint(v.Uint(), 10)
	}
	return v.String()
}

// payload is the JSON of the field Body; nil where there is none.
func payload(v reflect.Value) (io.Reader, error) {
	b := v.FieldByName("Body")
	if !b.IsValid() {
		return nil, nil
	}
	raw, err := json.Marshal(b.Interface())
	if err != nil {
		return nil, &Malformed{Want: "a body that JSON can carry"}
	}
	return bytes.NewReader(raw), nil
}
