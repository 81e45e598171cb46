package bmcsim

import (
	"hash/fnv"
	"maps"
	"net/http"
	"strconv"
	"strings"
)

// tagged is a resource with its ETag.
func (b *BMC) tagged(q *request, body map[string]any, raw []byte) (answer, string) {
	tag := b.tag(body, raw, strings.Contains(q.Header.Get("Accept-Encoding"), "gzip"))
	a := answer{status: http.StatusOK, body: body, raw: raw}
	if _, told := body["@odata.etag"]; told && (raw == nil || b.o.ETags.Mode != "") {
		body = maps.Clone(body)
		delete(body, "@odata.etag")
		if tag != "" {
			body["@odata.etag"] = tag
		}
		a.body, a.raw = body, nil
	}
	if tag != "" || b.o.ETags.Mode == ETagEmpty {
		a = a.with("ETag", tag)
	}
	return a, tag
}

// tag is the ETag of a body. One that is as the tree has it keeps the tag of the tree.
func (b *BMC) tag(body map[string]any, raw []byte, gzip bool) string {
	mode := b.o.ETags.Mode
	if own := text(body, "@odata.etag"); mode == "" && raw != nil && own != "" {
		return own
	}
	if mode == ETagNone || mode == ETagEmpty {
		return ""
	}
	if _, told := body["@odata.etag"]; told {
		body, raw = maps.Clone(body), nil
		delete(body, "@odata.etag")
	}
	h := fnv.New64a()
	_, _ = h.Write(answer{body: body, raw: raw}.bytes())
	sum := strconv.FormatUint(h.Sum64(), 16)
	switch {
	case mode == ETagWeak:
		return `W/"` + sum + `"`
	case mode == ETagTwice:
		return `""` + sum + `""`
	case mode == ETagGzip && gzip:
		return `"` + sum + `-gzip"`
	}
	return `"` + sum + `"`
}

// matches judges If-Match against a resource.
func (b *BMC) matches(q *request, body map[string]any, raw []byte) (answer, bool) {
	given := q.Header.Get("If-Match")
	switch {
	case given == "" && b.o.ETags.Required:
		return refuse(http.StatusPreconditionRequired, "PreconditionRequired", "A precondition header or annotation is required to change this resource."), false
	case given == "" || given == "*":
		return answer{}, true
	}
	want := b.tag(body, raw, false)
	switch b.o.ETags.Mode {
	case ETagWeak: // which If-Match never matches (RFC 9110, 13.1.1)
		want = strings.TrimPrefix(want, "W/")
	case ETagTwice:
		want, given = strings.Trim(want, `"`), strings.Replace(strings.Replace(given, `""`, "\x00", 2), `"`, "", 2)
	}
	if given != want {
		return refuse(http.StatusPreconditionFailed, "PreconditionFailed", "The ETag supplied did not match the ETag required to change this resource."), false
	}
	return answer{}, true
}
