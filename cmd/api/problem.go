package api

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A Problem is an error that the server answered (RFC 9457): a fact with a code
// of API-3, and what to do next. Programs read the code and the extensions;
// Title, Detail and Next are for people and may change.
type Problem struct {
	Type   string `json:"type" doc:"urn:ingot:error: and the code in lower case"`
	Title  string `json:"title"`
	Status int    `json:"status"`
	Detail string `json:"detail,omitempty"`

	Name        string   `json:"code" doc:"of API-3, such as CONFLICT"`
	Reason      string   `json:"reason,omitempty" doc:"constant that programs read, such as MAC_CLAIMED"`
	Next        string   `json:"next,omitempty" doc:"what to do, or what would be legal"`
	State       string   `json:"state,omitempty" doc:"that the refusal found"`
	Legal       []string `json:"legal,omitempty" doc:"events that the state accepts"`
	Holder      *Attempt `json:"holder,omitempty" doc:"who holds the machine"`
	Count       int      `json:"count,omitempty" doc:"how many stand in the way"`
	Requirement string   `json:"requirement,omitempty" doc:"name of the requirement that says so"`
	RetryAfter  int      `json:"retry_after,omitempty" doc:"seconds until a try is heard again"`
	Fields      []Wrong  `json:"fields,omitempty" doc:"inputs that are wrong"`
}

// Wrong is one input that is wrong. It never has the value, which may be secret.
type Wrong struct {
	Field string `json:"field" doc:"where: query.limit, body.layout.width"`
	Want  string `json:"want"`
}

// Code is the problem's wire name (API-3).
func (p *Problem) Code() string { return p.Name }

// Error says what went wrong and what to do.
func (p *Problem) Error() string {
	var b strings.Builder
	b.WriteString(p.Name)
	for _, s := range []string{p.Detail, p.Next} {
		if s != "" {
			b.WriteString(": " + s)
		}
	}
	for _, f := range p.Fields {
		fmt.Fprintf(&b, "; %s: %s", f.Field, f.Want)
	}
	return b.String()
}

// statuses are API-3's numbers.
var statuses = map[string]int{
	"INVALID_INPUT": http.StatusBadRequest, "UNAUTHENTICATED": http.StatusUnauthorized,
	"ACCESS_DENIED": http.StatusForbidden, "NOT_FOUND": http.StatusNotFound,
	"INVALID_STATE": http.StatusConflict, "CONFLICT": http.StatusConflict,
	"RATE_LIMITED": http.StatusTooManyRequests, "UNSUPPORTED": http.StatusNotImplemented,
	"INVALID_CONFIG": http.StatusNotImplemented, "UNAVAILABLE": http.StatusServiceUnavailable,
}

// Codes are the codes of API-3, sorted.
func Codes() []string { return slices.Sorted(maps.Keys(statuses)) }

// Status is the HTTP status of a code of API-3; 500 for any other.
func Status(code string) int {
	if s, ok := statuses[code]; ok {
		return s
	}
	return http.StatusInternalServerError
}

// NewProblem is a problem of a code, with its type, title and status.
func NewProblem(code, detail string) *Problem {
	words := strings.ToLower(strings.ReplaceAll(code, "_", " "))
	return &Problem{
		Type:  "urn:ingot:error:" + strings.ReplaceAll(words, " ", "-"),
		Title: words, Status: Status(code), Name: code, Detail: detail,
	}
}

// parseProblem reads a response that is no success. A server in front of ours
// may answer something else; then the status says which code it is.
func parseProblem(res *http.Response, body []byte) *Problem {
	p := new(Problem)
	mime, _, _ := strings.Cut(res.Header.Get("Content-Type"), ";")
	if strings.TrimSpace(mime) != "application/problem+json" || json.Unmarshal(body, p) != nil || p.Name == "" {
		p = NewProblem(codeOf(res.StatusCode), "the answer is "+res.Status+" and no problem of ours: something between here and the server gave it")
	}
	p.Status = res.StatusCode
	if s, err := strconv.Atoi(res.Header.Get("Retry-After")); err == nil && p.RetryAfter == 0 && s > 0 {
		p.RetryAfter = s
	}
	return p
}

// codeOf is the code that a bare status stands for.
func codeOf(status int) string {
	switch {
	case status == http.StatusConflict:
		return "CONFLICT"
	case status == http.StatusNotImplemented:
		return "UNSUPPORTED"
	case status == http.StatusMethodNotAllowed, status == http.StatusRequestEntityTooLarge, status == http.StatusUnsupportedMediaType:
		return "INVALID_INPUT"
	}
	for code, s := range statuses {
		if s == status {
			return code
		}
	}
	return "UNAVAILABLE"
}

// Wait is how long to wait before a next try, 0 where the server did not say.
func (p *Problem) Wait() time.Duration { return time.Duration(p.RetryAfter) * time.Second }
