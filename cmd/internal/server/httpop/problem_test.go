package httpop_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/ingotmetal/ingot/cmd/api"
	"github.com/ingotmetal/ingot/cmd/internal/server/httpop"
	"github.com/ingotmetal/ingot/disklayout"
	"github.com/ingotmetal/ingot/identity/claim"
	"github.com/ingotmetal/ingot/identity/keys"
	"github.com/ingotmetal/ingot/statemachine"
	"github.com/ingotmetal/ingot/statemachine/lifecycle"
	"github.com/ingotmetal/ingot/statemachine/registration"
)

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

// later says by a method when a try is heard again, and what to do.
type later struct{ coded }

func (later) RetryAt() time.Time { return noon.Add(1500 * time.Millisecond) }
func (later) Next() string       { return "rest" }

// refusedStep is a real refusal of a table.
func refusedStep(t *testing.T) *statemachine.Refused {
	_, err := registration.Step(registration.New(), registration.Event{Event: statemachine.Event[registration.Kind]{On: registration.Disable}}, noon)
	refused, ok := errors.AsType[*statemachine.Refused](err)
	if !ok {
		t.Fatal(err)
	}
	return refused
}

func TestProblemsHaveTheFactsOfErrors(t *testing.T) {
	slot := lifecycle.Slot{Holder: lifecycle.Setup, State: "setting_up", Epoch: 4, Deadline: noon}
	held := &api.Attempt{Holder: "setup", State: "setting_up", Epoch: 4, Deadline: noon}
	step := refusedStep(t)
	detailed := &lifecycle.Detailed{Refused: step, Holder: slot, Count: 3}
	denied := keys.Caller{Scope: keys.Full}.Authorize(keys.CnSetupApprove, "")
	for _, c := range []struct {
		name   string
		err    error
		status int
		want   api.Problem
	}{
		{"a table's", step, api.Status(step.Code()), api.Problem{Name: step.Code(), Detail: step.Error(), State: step.From, Legal: step.Legal, Requirement: step.Req}},
		{"a table's, detailed", detailed, api.Status(step.Code()), api.Problem{Name: step.Code(), Detail: detailed.Error(), State: step.From, Legal: step.Legal, Requirement: step.Req, Holder: held, Count: 3}},
		{"a denial", denied, 403, api.Problem{Name: "ACCESS_DENIED", Detail: denied.Error(), Next: "ask with one of: operator", Requirement: "SET-2"}},
		{"a denial of nobody's action", keys.Caller{}.Authorize("x", ""), 403, api.Problem{Name: "ACCESS_DENIED", Detail: keys.Caller{}.Authorize("x", "").Error()}},
		{"too many tries", &claim.RateLimited{Limit: 20, Until: noon.Add(90 * time.Second)}, 429, api.Problem{Name: "RATE_LIMITED", Detail: (&claim.RateLimited{Limit: 20, Until: noon.Add(90 * time.Second)}).Error(), RetryAfter: 90}},
		{"one that ends soon", later{coded{"RATE_LIMITED", "slow"}}, 429, api.Problem{Name: "RATE_LIMITED", Detail: "slow", RetryAfter: 2, Next: "rest"}},
		{"wrapped", fmt.Errorf("door %s: %w", canary, coded{"CONFLICT", "stale"}), 409, api.Problem{Name: "CONFLICT", Detail: "stale"}},
		{"joined", errors.Join(errors.New(canary), coded{"UNSUPPORTED", "not here"}), 501, api.Problem{Name: "UNSUPPORTED", Detail: "not here"}},
		{"no code of the API", coded{"OOPS", canary}, 500, api.Problem{Name: "UNAVAILABLE"}},
		{"no code", errors.New(canary), 500, api.Problem{Name: "UNAVAILABLE"}},
		{"too late", fmt.Errorf("%s: %w", canary, context.DeadlineExceeded), 503, api.Problem{Name: "UNAVAILABLE", Detail: "it took too long", Next: "try again; a change with the same Idempotency-Key"}},
	} {
		got := *httpop.Problem(c.err, noon)
		if got.Status != c.status || got.Type == "" || got.Title == "" {
			t.Errorf("%s: %+v", c.name, got)
		}
		got.Status, got.Type, got.Title = 0, "", ""
		if !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s:\ngot  %+v\nwant %+v", c.name, got, c.want)
		}
	}
	disks := &disklayout.Refused{Reason: disklayout.USB, Disk: "S1", Why: "it is on USB", Next: "choose another", Req: "RUN-4"}
	if p := httpop.Problem(coverDisks{disks}, noon); p.Detail != `disklayout: disk S1: usb: it is on USB (RUN-4)` || p.Next != "choose another" {
		t.Errorf("what to do is not said once: %+v", p)
	}
	whole := &lifecycle.Refused{Input: "factory-reset", Why: "held", Req: "REG-18", Reason: "MAC_CLAIMED", Holder: slot, Count: 2, Next: "wait"}
	p := httpop.Problem(coverRefused{whole}, noon)
	if p.Reason != "MAC_CLAIMED" || !reflect.DeepEqual(p.Holder, held) || p.Count != 2 || p.Next != "wait" || p.Requirement != "REG-18" {
		t.Errorf("%+v", p)
	}
}

// coverRefused gives a lifecycle.Refused, whose code is not ours to set, a code.
type coverRefused struct{ *lifecycle.Refused }

func (coverRefused) Code() string    { return "CONFLICT" }
func (c coverRefused) Unwrap() error { return c.Refused }

// coverDisks gives a disklayout.Refused a code likewise.
type coverDisks struct{ *disklayout.Refused }

func (coverDisks) Code() string    { return "CONFLICT" }
func (c coverDisks) Unwrap() error { return c.Refused }

func TestHandlersErrorsOnTheWire(t *testing.T) {
	for _, c := range []struct {
		name   string
		err    error
		status int
		header http.Header
		logged bool
	}{
		{"conflict", fmt.Errorf("%s: %w", canary, coded{"CONFLICT", "stale"}), 409, http.Header{}, false},
		{"limited", later{coded{"RATE_LIMITED", "slow"}}, 429, http.Header{"Retry-After": {"2"}}, false},
		{"void token", &keys.Unauthenticated{What: "poll token", Why: "has ended"}, 401, http.Header{"Www-Authenticate": {"Bearer"}}, false},
		{"away", coded{"UNAVAILABLE", "the store is away"}, 503, http.Header{}, true},
		{"unknown", errors.New("unknown"), 500, http.Header{}, true},
		{"ready made", api.NewProblem("NOT_FOUND", "no such cup"), 404, http.Header{}, false},
	} {
		var log bytes.Buffer
		opts := logged(&log)
		opts.Now = func() time.Time { return noon }
		w := ask(mounted(t, opts, []api.Any{sip}, sipping(c.err)), "GET", "/v1/sip", "")
		problem(t, w)
		if w.Code != c.status || strings.Contains(w.Body.String(), canary) || (log.Len() > 0) != c.logged {
			t.Errorf("%s: %d %s, log %q", c.name, w.Code, w.Body, log.String())
		}
		for _, name := range []string{"Retry-After", "Www-Authenticate"} {
			if got := w.Header().Get(name); got != c.header.Get(name) {
				t.Errorf("%s: %s %q", c.name, name, got)
			}
		}
	}
}

func TestStreams(t *testing.T) {
	run := func(h func(w http.ResponseWriter) error) (*http.Response, string, error) {
		srv := httptest.NewServer(mounted(t, open(), []api.Any{flow}, httpop.HandleRaw(flow, func(_ context.Context, _ *api.Empty, w http.ResponseWriter) error { return h(w) })))
		t.Cleanup(srv.Close)
		res, err := srv.Client().Get(srv.URL + "/v1/flow")
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		var b bytes.Buffer
		_, err = b.ReadFrom(res.Body)
		return res, b.String(), err
	}
	res, body, err := run(func(w http.ResponseWriter) error {
		_, err := w.Write([]byte("one"))
		w.(http.Flusher).Flush()
		return err
	})
	if err != nil || body != "one" || res.Header.Get("Content-Type") != "application/octet-stream" || res.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("%v %q %v", err, body, res.Header)
	}
	res, body, err = run(func(http.ResponseWriter) error { return coded{"CONFLICT", "busy"} })
	if err != nil || res.StatusCode != 409 || res.Header.Get("Content-Type") != "application/problem+json" || !strings.Contains(body, "busy") {
		t.Errorf("%v %d %q", err, res.StatusCode, body)
	}
	for name, fail := range map[string]func() error{
		"an error":   func() error { return coded{"CONFLICT", "busy"} },
		"a panic":    func() error { panic("x") },
		"an unknown": func() error { return errors.New("x") },
	} {
		_, body, err = run(func(w http.ResponseWriter) error {
			_, _ = w.Write([]byte("one"))
			w.(http.Flusher).Flush()
			return fail()
		})
		if err == nil || strings.Contains(body, "busy") {
			t.Errorf("%s after the first byte: the caller takes %q for the whole", name, body)
		}
	}
}
