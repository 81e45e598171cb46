package httpop_test

import (
	"bytes"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/ingotmetal/ingot/cmd/api"
)

const canary = "canary7x"

func TestAWellFormedRequestArrives(t *testing.T) {
	var got *pourIn
	h := mounted(t, open(), []api.Any{pour}, pouring(&got))
	body := `{"drink":"tea","sips":3,"word":"` + canary + `","at":"2026-01-02T03:04:05Z","for":"90s","guests":[{"name":"a","age":18446744073709551615}],
		"notes":{"A":"x","a":"y"},"named":{"k":{"name":"n"}},"any":{"deep":[1]},"more":{"hot":true}}`
	w := ask(h, "POST", "/v1/cups/red?version=7&reason=why%20not&dry_run=true&wait=1m", body, "Idempotency-Key", "k", "Content-Type", "", "Content-Type", `application/json; charset=UTF-8`)
	if w.Code != 200 || w.Header().Get("Content-Type") != "application/json" || w.Header().Get("Cache-Control") != "no-store" {
		t.Fatalf("%d %v %s", w.Code, w.Header(), w.Body)
	}
	b := got.Body
	if got.Cup != "red" || got.Version != 7 || got.Reason != "why not" || !got.DryRun || got.Wait.Duration != time.Minute || got.IdempotencyKey != "k" ||
		b.Word.Show() != canary || b.For.Duration != 90*time.Second || b.Guests[0].Age != 1<<64-1 || len(b.Notes) != 2 || b.Named["k"].Name != "n" || !b.More.Hot || string(b.Any) != `{"deep":[1]}` {
		t.Errorf("%+v", got)
	}
	if got := w.Body.String(); got != `{"name":"red","guests":[],"inner":{"tags":[]}}`+"\n" {
		t.Errorf("%s: a list that is promised is never null", got)
	}
}

// Each is refused before the handler, with the place and what is wanted, and
// without the value.
func TestIllFormedRequests(t *testing.T) {
	ok := `{"drink":"tea"}`
	deep := func(n int) string {
		return `{"drink":"tea","any":` + strings.Repeat("[", n-1) + strings.Repeat("]", n-1) + `}`
	}
	for _, c := range []struct{ name, query, body, field, want string }{
		{"unknown query parameter", "?versoin=3", ok, "query", "dry_run, reason, version, wait"},
		{"query parameter twice", "?version=3&version=4", ok, "query.version", "once"},
		{"empty query parameter", "?version=", ok, "query.version", "a value"},
		{"bad escape", "?reason=%zz", ok, "query", "percent-encoded"},
		{"semicolons", "?version=1;dry_run=true", ok, "query", "percent-encoded"},
		{"query in Latin-1", "?reason=%e9", ok, "query.reason", "UTF-8"},
		{"version of another type", "?version=" + canary, ok, "query.version", "integer"},
		{"version zero", "?version=0", ok, "query.version", "number >= 1"},
		{"control character", "?reason=%0a" + canary, ok, "query.reason", "match pattern"},
		{"bad duration", "?wait=" + canary, ok, "query.wait", "a duration"},
		{"no body", "", "", "body", "JSON value"},
		{"no JSON", "", canary, "body", "valid JSON"},
		{"cut JSON", "", `{"drink":"tea"`, "body", "valid JSON"},
		{"two values", "", ok + ok, "body", "nothing after"},
		{"bytes after", "", ok + canary, "body", "nothing after"},
		{"a null", "", "null", "body", "object"},
		{"a list", "", `["` + canary + `"]`, "body", "object"},
		{"unknown field", "", `{"drink":"tea","` + canary + `":1}`, "body", "any, at, drink"},
		{"unknown field below", "", `{"drink":"tea","guests":[{"name":"a"},{"` + canary + `":1}]}`, "body.guests[1]", "age, name"},
		{"unknown field in a map's value", "", `{"drink":"tea","named":{"` + canary + `":{"x":1}}}`, "body.named.*", "age, name"},
		{"field in another case", "", `{"Drink":"tea"}`, "body", "known fields"},
		{"field twice", "", `{"drink":"tea","drink":"coffee"}`, "body", "each key once"},
		{"field twice by an escape", "", `{"drink":"tea","dr\u0069nk":"coffee"}`, "body", "each key once"},
		{"key of a map twice", "", `{"drink":"tea","notes":{"a":"1","a":"2"}}`, "body.notes", "each key once"},
		{"key twice where anything goes", "", `{"drink":"tea","any":[{"a":1,"a":2}]}`, "body.any[0]", "each key once"},
		{"missing field", "", `{"sips":1}`, "body", "drink to be present"},
		{"not of the list", "", `{"drink":"` + canary + `"}`, "body.drink", "one of"},
		{"another type", "", `{"drink":7}`, "body.drink", "string"},
		{"too many sips", "", `{"drink":"tea","sips":10}`, "body.sips", "number <= 9"},
		{"a fraction", "", `{"drink":"tea","sips":1.5}`, "body.sips", "integer"},
		{"a number past all types", "", `{"drink":"tea","guests":[{"name":"a","age":1e30}]}`, "body", "documented types"},
		{"long secret", "", `{"drink":"tea","word":"` + canary + canary + `"}`, "body.word", "length <= 8"},
		{"bad time", "", `{"drink":"tea","at":"` + canary + `"}`, "body.at", "date-time"},
		{"bad duration below", "", `{"drink":"tea","for":"` + canary + `"}`, "body", "documented types"},
		{"value in a map", "", `{"drink":"tea","notes":{"` + canary + `":7}}`, "body.notes.*", "string"},
		{"empty name in a list", "", `{"drink":"tea","guests":[{"name":""}]}`, "body.guests[0].name", "length >= 1"},
		{"invalid UTF-8", "", "{\"drink\":\"\xff\"}", "body", "UTF-8"},
		{"a byte order mark", "", "\xef\xbb\xbf" + ok, "body", "valid JSON"},
		{"too deep", "", deep(26), "body", "25 deep"},
		{"too long", "", `{"drink":"tea","any":"` + strings.Repeat("x", 4096) + `"}`, "body", "4096 bytes"},
	} {
		var got *pourIn
		h := mounted(t, open(), []api.Any{pour}, pouring(&got))
		w := ask(h, "POST", "/v1/cups/red"+c.query, c.body)
		p := problem(t, w)
		if w.Code != 400 || p.Name != "INVALID_INPUT" || got != nil {
			t.Errorf("%s: %d %s, handled: %t", c.name, w.Code, p.Name, got != nil)
		}
		if len(p.Fields) != 1 || p.Fields[0].Field != c.field || !strings.Contains(p.Fields[0].Want, c.want) {
			t.Errorf("%s: %+v, want %s: %s", c.name, p.Fields, c.field, c.want)
		}
		if strings.Contains(w.Body.String(), canary) {
			t.Errorf("%s: told back: %s", c.name, w.Body)
		}
	}
	var got *pourIn
	if w := ask(mounted(t, open(), []api.Any{pour}, pouring(&got)), "POST", "/v1/cups/red", deep(25)); w.Code != 200 {
		t.Errorf("25 deep: %d %s", w.Code, w.Body)
	}
}

func TestIllFormedHeaders(t *testing.T) {
	var got *pourIn
	h := mounted(t, open(), []api.Any{pour, sip}, pouring(&got), sipping(nil))
	for _, c := range []struct {
		name   string
		header []string
		field  string
	}{
		{"no type", []string{"Content-Type", ""}, "header.Content-Type"},
		{"a form", []string{"Content-Type", "", "Content-Type", "application/x-www-form-urlencoded"}, "header.Content-Type"},
		{"no media type", []string{"Content-Type", "", "Content-Type", "json;;" + canary}, "header.Content-Type"},
		{"Latin-1", []string{"Content-Type", "", "Content-Type", "application/json; charset=latin1"}, "header.Content-Type"},
		{"two types", []string{"Content-Type", "application/json"}, "header.Content-Type"},
		{"compressed", []string{"Content-Encoding", "gzip"}, "header.Content-Encoding"},
		{"two keys", []string{"Idempotency-Key", "a", "Idempotency-Key", "b"}, "header.Idempotency-Key"},
		{"long key", []string{"Idempotency-Key", strings.Repeat("k", 129)}, "header.Idempotency-Key"},
		{"key with a space", []string{"Idempotency-Key", canary + " x"}, "header.Idempotency-Key"},
	} {
		w := ask(h, "POST", "/v1/cups/red", `{"drink":"tea"}`, c.header...)
		if p := problem(t, w); w.Code != 400 || got != nil || len(p.Fields) != 1 || p.Fields[0].Field != c.field || strings.Contains(w.Body.String(), canary) {
			t.Errorf("%s: %d %s", c.name, w.Code, w.Body)
		}
	}
	for _, kind := range []string{"Application/JSON", "application/json ", "application/json;charset=UTF-8", "application/json; x=y"} {
		if w := ask(h, "POST", "/v1/cups/red", `{"drink":"tea"}`, "Content-Type", "", "Content-Type", kind, "Accept", "text/html"); w.Code != 200 {
			t.Errorf("%q: %d %s", kind, w.Code, w.Body)
		}
	}
	if w := ask(h, "GET", "/v1/sip", `{}`); w.Code != 400 {
		t.Errorf("a body where none belongs: %d", w.Code)
	}
	if w := ask(h, "POST", "/v1/cups/"+canary+canary, `{"drink":"tea"}`); problem(t, w).Fields[0].Field != "path.cup" || strings.Contains(w.Body.String(), canary) {
		t.Errorf("path: %s", w.Body)
	}
}

// A body that nests without end costs no more than its own bytes, and none of
// the stack.
func TestDeepBodiesCostLittle(t *testing.T) {
	h := whole(t, open())
	body := bytes.Repeat([]byte("["), api.MaxSysinfoBody)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	w := ask(h, "POST", "/v1/register", string(body))
	runtime.ReadMemStats(&after)
	if w.Code != 400 {
		t.Errorf("%d", w.Code)
	}
	if grown := after.TotalAlloc - before.TotalAlloc; grown > 8<<20 {
		t.Errorf("%d bytes were allocated for %d", grown, len(body))
	}
}

// Sysinfo is large, and its numbers and keys are the machine's.
func TestLargeSysinfoArrives(t *testing.T) {
	h := whole(t, open())
	sysinfo := `{"UUID":"x","uuid":18446744073709551615.5e9,"pad":"` + strings.Repeat("x", 300<<10) + `"}`
	w := ask(h, "POST", "/v1/register", `{"server_id":"6f1f5e9a-3c0e-4a52-9c3a-2f0f5a1c9b11","sysinfo":`+sysinfo+`}`)
	if w.Code != 200 {
		t.Errorf("%d %.300s", w.Code, w.Body)
	}
	if w := ask(h, "POST", "/v1/register", `{"server_id":"6f1f5e9a-3c0e-4a52-9c3a-2f0f5a1c9b11","sysinfo":"`+strings.Repeat("x", 513<<10)+`"}`); w.Code != 400 {
		t.Errorf("over the bound: %d", w.Code)
	}
}
