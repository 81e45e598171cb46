package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

const canary = "ingot_key_canary"

// answer serves one answer to everything and keeps the last request.
func answer(t *testing.T, status int, header map[string]string, body string) (*Client, *http.Request, *[]byte) {
	var last http.Request
	var sent []byte
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		last = *r.Clone(context.WithoutCancel(r.Context()))
		sent, _ = io.ReadAll(r.Body)
		w.Header().Set("Content-Type", "application/json")
		for k, v := range header {
			w.Header().Set(k, v)
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}))
	t.Cleanup(srv.Close)
	c := &Client{Base: srv.URL + "/", HTTP: srv.Client(), UserAgent: "test/1", Credential: Bearer(func() string { return canary })}
	return c, &last, &sent
}

func TestCallSendsTheInput(t *testing.T) {
	c, req, sent := answer(t, 200, nil, `{"revision":7,"facts":["boot.mode"],"boot":{"mac":"02:00:00:00:00:01","unknown":1}}`)
	in := &SetMode{BootChange: BootChange{BootRef{"02:00:00:00:00:01"}, Change{Version: 3, Reason: "disk & fan", DryRun: true, IdempotencyKey: "k1"}}}
	in.Body.Mode = "rescue"
	out, err := BootMode.Call(t.Context(), c, in)
	if err != nil || out.Revision != 7 || out.Boot.MAC != "02:00:00:00:00:01" {
		t.Fatalf("%+v, %v", out, err)
	}
	if got := req.Method + " " + req.URL.EscapedPath() + "?" + req.URL.RawQuery; got != "POST /v1/boot/02:00:00:00:00:01/mode?dry_run=true&reason=disk+%26+fan&version=3" {
		t.Error(got)
	}
	for name, want := range map[string]string{
		"Idempotency-Key": "k1", "Authorization": "Bearer " + canary, "User-Agent": "test/1", "Content-Type": "application/json",
	} {
		if got := req.Header.Get(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	if string(*sent) != `{"mode":"rescue"}` {
		t.Errorf("%s", *sent)
	}
}

func TestCallEscapesPathsAndLeavesZeroesOut(t *testing.T) {
	c, req, sent := answer(t, 200, nil, `{}`)
	if _, err := OperatorShow.Call(t.Context(), c, &OperatorRef{"a/../b?c"}); err != nil {
		t.Fatal(err)
	}
	if req.URL.EscapedPath() != "/v1/operators/a%2F..%2Fb%3Fc" || req.URL.RawQuery != "" || len(*sent) != 0 || req.Header.Get("Content-Type") != "" {
		t.Errorf("%s %q %q %v", req.URL, req.URL.RawQuery, *sent, req.Header)
	}
	if _, err := BooterChanges.Call(t.Context(), c, &BootChanges{LongPoll: LongPoll{Duration{30 * time.Second}}, Incarnation: "i"}); err != nil || req.URL.RawQuery != "incarnation=i&wait=30s" {
		t.Errorf("%v, %s", err, req.URL.RawQuery)
	}
}

func TestAnonymousCallsShowNoCredential(t *testing.T) {
	c, req, _ := answer(t, 200, nil, `{}`)
	if _, err := SessionOpen.Call(t.Context(), c, &OpenSession{}); err != nil || req.Header.Get("Authorization") != "" {
		t.Errorf("%v, %v", err, req.Header)
	}
}

func TestBadInputsLeaveNoRequest(t *testing.T) {
	c, req, _ := answer(t, 200, nil, `{}`)
	for _, name := range []string{"", ".", ".."} {
		if _, err := OperatorShow.Call(t.Context(), c, &OperatorRef{name}); code(err) != "INVALID_INPUT" {
			t.Errorf("%q: %v", name, err)
		}
	}
	for _, in := range []any{nil, OperatorRef{"a"}, &KeyRef{"a"}, (*OperatorRef)(nil)} {
		if _, err := c.Do(t.Context(), OperatorShow, in); code(err) != "INVALID_INPUT" {
			t.Errorf("%#v: %v", in, err)
		}
	}
	if _, err := OperatorShow.Call(t.Context(), &Client{Base: ":"}, &OperatorRef{"a"}); code(err) != "INVALID_INPUT" {
		t.Error(err)
	}
	if req.Method != "" {
		t.Error("something was sent")
	}
}

func code(err error) string {
	c, ok := errors.AsType[interface {
		error
		Code() string
	}](err)
	if !ok {
		return ""
	}
	return c.Code()
}

func TestProblems(t *testing.T) {
	const whole = `{"type":"urn:ingot:error:conflict","title":"conflict","status":409,"detail":"held","code":"CONFLICT","next":"wait","holder":{"holder":"setup","state":"setting_up","epoch":4},"count":2,"legal":["a"]}`
	for _, c := range []struct {
		name   string
		status int
		header map[string]string
		body   string
		want   string
	}{
		{"ours", 409, map[string]string{"Content-Type": "application/problem+json"}, whole, "CONFLICT"},
		{"a proxy's page", 502, map[string]string{"Content-Type": "text/html"}, "<html>", "UNAVAILABLE"},
		{"a proxy's denial", 403, map[string]string{"Content-Type": "text/html"}, "<html>", "ACCESS_DENIED"},
		{"no code", 404, map[string]string{"Content-Type": "application/problem+json"}, "{}", "NOT_FOUND"},
		{"cut", 400, map[string]string{"Content-Type": "application/problem+json"}, whole[:20], "INVALID_INPUT"},
		{"limited", 429, map[string]string{"Retry-After": "7"}, "", "RATE_LIMITED"},
		{"a redirect", 307, map[string]string{"Location": "http://127.0.0.1:1/elsewhere"}, "", "UNAVAILABLE"},
		{"a page instead of JSON", 200, map[string]string{"Content-Type": "text/html"}, "<html>", "UNAVAILABLE"},
		{"no JSON", 200, nil, "{", "UNAVAILABLE"},
	} {
		client, _, _ := answer(t, c.status, c.header, c.body)
		out, err := NodeShow.Call(t.Context(), client, &NodeRef{"node_1"})
		if code(err) != c.want || out.ID != "" {
			t.Errorf("%s: %v, want %s", c.name, err, c.want)
		}
		if p, ok := errors.AsType[*Problem](err); ok && (p.Status != c.status || p.Error() == "") {
			t.Errorf("%s: %+v", c.name, p)
		}
		p, _ := errors.AsType[*Problem](err)
		switch c.name {
		case "ours":
			if p.Holder.Holder != "setup" || p.Count != 2 || p.Next != "wait" || p.Error() != "CONFLICT: held: wait" {
				t.Errorf("%+v", p)
			}
		case "limited":
			if p.Wait() != 7*time.Second {
				t.Errorf("%+v", p)
			}
		}
	}
}

// A credential goes where the client was told to and nowhere else.
func TestRedirectsAreNotFollowed(t *testing.T) {
	var met bool
	thief := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { met = true }))
	defer thief.Close()
	for _, status := range []int{301, 302, 303, 307, 308} {
		c, _, _ := answer(t, status, map[string]string{"Location": thief.URL + "/v1/nodes"}, "")
		if _, err := NodeListing.Call(t.Context(), c, &NodeList{}); err == nil || met {
			t.Errorf("%d: %v, followed: %t", status, err, met)
		}
	}
}

// endless answers every request with spaces for ever.
type endless struct{}

func (endless) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(endless{})}, nil
}

func (endless) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = ' '
	}
	return len(b), nil
}

func TestAnswersAreBounded(t *testing.T) {
	c := &Client{Base: "http://ingot.test", HTTP: &http.Client{Transport: endless{}}}
	if _, err := NodeListing.Call(t.Context(), c, &NodeList{}); code(err) != "UNAVAILABLE" || !strings.Contains(err.Error(), "more than") {
		t.Error(err)
	}
}

func TestCallEndsWithItsContext(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	defer srv.Close()
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(10*time.Millisecond, cancel)
	_, err := NodeListing.Call(ctx, &Client{Base: srv.URL}, &NodeList{})
	if !errors.Is(err, context.Canceled) || code(err) != "UNAVAILABLE" {
		t.Error(err)
	}
}

// A secret is in what is sent and in nothing that is printed.
func TestSecretsDoNotPrint(t *testing.T) {
	in := &AddOperator{}
	in.Body.Password = canary
	client := &Client{Credential: Bearer(func() string { return canary })}
	var log bytes.Buffer
	logger := slog.New(slog.NewTextHandler(&log, nil))
	logger.Info("x", "secret", Secret(canary), "credential", client.Credential)
	texts := []string{log.String(), Secret(canary).LogValue().String()}
	for _, v := range []any{in, *in, in.Body, client, *client, client.Credential, Secret(canary), []Secret{canary}} {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x"} {
			texts = append(texts, fmt.Sprintf(verb, v))
		}
	}
	for _, s := range texts {
		if strings.Contains(s, canary) || strings.Contains(s, fmt.Sprintf("%x", canary)) {
			t.Errorf("printed: %s", s)
		}
	}
	raw, err := json.Marshal(in.Body)
	if err != nil || !strings.Contains(string(raw), canary) {
		t.Errorf("not sent: %s, %v", raw, err)
	}
}

func TestDuration(t *testing.T) {
	for text, want := range map[string]time.Duration{"90s": 90 * time.Second, "1h30m": 90 * time.Minute, "0s": 0} {
		var d Duration
		if err := d.UnmarshalText([]byte(text)); err != nil || d.Duration != want {
			t.Errorf("%s: %v, %v", text, d, err)
		}
	}
	for _, text := range []string{"", "5", "-1s", canary, strings.Repeat("1", 65) + "s"} {
		d := Duration{time.Second}
		err := d.UnmarshalText([]byte(text))
		if code(err) != "INVALID_INPUT" || d.Duration != time.Second || strings.Contains(err.Error(), canary) {
			t.Errorf("%q: %v, %v", text, d, err)
		}
	}
}
