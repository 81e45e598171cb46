package bmcsim

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// instead is the answer that stands before the request.
func (e Effect) instead(r *http.Request) (answer, bool) {
	if e.Redirect != "" {
		status := e.Status
		if status == 0 {
			status = http.StatusTemporaryRedirect
		}
		return answer{status: status}.with("Location", strings.ReplaceAll(e.Redirect, "{path}", r.URL.Path)), true
	}
	if e.Status == 0 {
		return answer{}, false
	}
	if e.Answer != "" {
		return answer{status: e.Status, raw: []byte(e.Answer)}, true
	}
	id, message := e.MessageID, e.Message
	if id == "" {
		id = "GeneralError"
	}
	if message == "" {
		message = "A general error has occurred."
	}
	return refuse(e.Status, id, message), true
}

// spoil changes an answer.
func (e Effect) spoil(r *http.Request, a answer) answer {
	if e.Replies != 0 {
		a = refuse(e.Replies, "GeneralError", "A general error has occurred.")
	}
	switch {
	case e.RetryAfter > 0 && e.RetryDate:
		a = a.with("Retry-After", time.Now().Add(e.RetryAfter).UTC().Format(http.TimeFormat))
	case e.RetryAfter > 0:
		a = a.with("Retry-After", seconds(e.RetryAfter))
	}
	if body, ok := e.reshape(r, a); ok {
		a.body, a.raw = body, nil
	}
	switch e.Body {
	case SpoilGarbage:
		a.raw = []byte("<html><body>502 Bad Gateway</body></html>\x00\xff{")
	case SpoilTwice:
		raw := a.bytes()
		a.raw = slices.Concat(raw, raw)
	case SpoilTypes:
		if body, err := object(a.bytes()); err == nil {
			a.body, a.raw = mistyped(body), nil
		}
	}
	return a
}

// reshape changes what is in a body.
func (e Effect) reshape(r *http.Request, a answer) (map[string]any, bool) {
	if e.Links == "" && e.NextLink == "" && !e.Shuffle && e.Set == nil {
		return nil, false
	}
	body, err := object(a.bytes())
	if err != nil {
		return nil, false
	}
	if e.Links != "" {
		relink(body, e.Links)
	}
	if members, ok := body["Members"].([]any); ok {
		if e.Shuffle {
			slices.Reverse(members)
		}
		if e.NextLink != "" {
			body["Members@odata.nextLink"] = strings.ReplaceAll(e.NextLink, "{path}", r.URL.Path)
		}
	}
	merge(body, deep(e.Set).(map[string]any))
	return body, true
}

// relink replaces the targets of all references.
func relink(v any, to string) {
	switch v := v.(type) {
	case map[string]any:
		for name, e := range v {
			if old, ok := e.(string); ok && name == "@odata.id" {
				v[name] = strings.ReplaceAll(to, "{path}", old)
				continue
			}
			relink(e, to)
		}
	case []any:
		for _, e := range v {
			relink(e, to)
		}
	}
}

// mistyped has other types than it should.
func mistyped(body map[string]any) map[string]any {
	out := map[string]any{}
	for name, v := range body {
		switch v.(type) {
		case string:
			out[name] = 17
		case []any:
			out[name] = "list"
		case map[string]any:
			out[name] = []any{true}
		default:
			out[name] = map[string]any{"is": v}
		}
	}
	return out
}

// filler is what an endless body is made of.
var filler = []byte(strings.Repeat(" ", 16<<10))

// stream sends a body that does not come as it should.
func (b *BMC) stream(w http.ResponseWriter, r *http.Request, status int, raw []byte, e Effect) {
	c := http.NewResponseController(w)
	send := func(p []byte) {
		if _, err := w.Write(p); err != nil || c.Flush() != nil {
			panic(http.ErrAbortHandler)
		}
	}
	if e.Body != SpoilEndless {
		w.Header().Set("Content-Length", strconv.Itoa(len(raw)))
	}
	w.WriteHeader(status)
	switch e.Body {
	case SpoilTruncated:
		send(raw[:len(raw)/2])
		panic(http.ErrAbortHandler)
	case SpoilEndless:
		send(raw[:max(0, len(raw)-1)])
		for r.Context().Err() == nil && b.ctx.Err() == nil {
			send(filler)
		}
		panic(http.ErrAbortHandler)
	}
	every := e.Every
	if every == 0 {
		every = time.Second
	}
	for i := range raw {
		if b.sleep(r.Context(), every) != nil {
			panic(http.ErrAbortHandler)
		}
		send(raw[i : i+1])
	}
}
