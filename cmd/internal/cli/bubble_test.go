package cli_test

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ingotmetal/ingot/cmd/internal/cli"
)

// pipes is a listener whose connections are pipes, so that it can live in a bubble.
type pipes struct {
	conns chan net.Conn
	done  chan struct{}
}

func newPipes() *pipes { return &pipes{make(chan net.Conn), make(chan struct{})} }

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}
func (p *pipes) Close() error   { close(p.done); return nil }
func (p *pipes) Addr() net.Addr { return &net.UnixAddr{Name: "pipes", Net: "unix"} }

func (p *pipes) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	near, far := net.Pipe()
	select {
	case p.conns <- far:
		return near, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// bubble runs a command in a bubble against a handler, and returns what became of it
// and how long it took there.
func bubble(t *testing.T, h http.HandlerFunc, line string) (got ran, took time.Duration) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		p := newPipes()
		srv := &http.Server{Handler: h}
		served := make(chan struct{})
		go func() { _ = srv.Serve(p); close(served) }()
		var out, errs bytes.Buffer
		start := time.Now()
		got.code = cli.Run(t.Context(), cli.World{
			In: strings.NewReader(""), Out: &out, Err: &errs, Now: time.Now, Entropy: &counter{n: 3}, Dial: p.dial,
			Env: func(name string) string { return map[string]string{"INGOT_SERVER": "unix:/pipes"}[name] },
		}, strings.Fields(line))
		took = time.Since(start)
		got.out, got.err = out.String(), errs.String()
		_ = srv.Close()
		<-served
	})
	return got, took
}

// A change that meets no answer is made again by the same key, a bounded number of
// times; a refusal is final.
func TestRetries(t *testing.T) {
	for name, c := range map[string]struct {
		line     string
		statuses []int // of the answers, the last one for ever
		calls    int
		code     int
		least    time.Duration
	}{
		"done at once":             {"boot enroll " + mac, []int{200}, 1, 0, 0},
		"done at the third":        {"boot enroll " + mac, []int{503, 503, 200}, 3, 0, 500 * time.Millisecond},
		"never":                    {"boot enroll " + mac, []int{503}, 4, 7, time.Second},
		"a read":                   {"boot show " + mac, []int{503, 200}, 2, 0, 200 * time.Millisecond},
		"a refusal":                {"boot enroll " + mac, []int{409}, 1, 5, 0},
		"too often":                {"boot enroll " + mac, []int{429}, 1, 7, 0},
		"without a key":            {"setup complete " + uuid + " --epoch 1", []int{503}, 1, 7, 0},
		"the connection is cut":    {"boot enroll " + mac, []int{0, 0, 200}, 3, 0, 500 * time.Millisecond},
		"cut for ever":             {"boot enroll " + mac, []int{0}, 4, 7, time.Second},
		"the time is over earlier": {"boot enroll " + mac + " --timeout 500ms", []int{503}, 2, 7, 200 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			var keys []string
			got, took := bubble(t, func(w http.ResponseWriter, r *http.Request) {
				status := c.statuses[min(len(keys), len(c.statuses)-1)]
				keys = append(keys, r.Header.Get("Idempotency-Key"))
				switch status {
				case 0:
					panic(http.ErrAbortHandler)
				case 200:
					reply(w, `{"revision":1,"facts":["boot.enrolling"]}`)
				default:
					refuse(w, status, map[int]string{503: "UNAVAILABLE", 409: "CONFLICT", 429: "RATE_LIMITED"}[status])
				}
			}, c.line)
			if got.code != c.code || len(keys) != c.calls || took < c.least {
				t.Errorf("code %d, %d calls in %s: %s", got.code, len(keys), took, got.err)
			}
			if one := slices.Compact(slices.Clone(keys)); len(one) != 1 || strings.HasPrefix(c.line, "boot enroll") != (one[0] != "") {
				t.Errorf("keys %q", keys)
			}
			if name == "cut for ever" && !strings.Contains(got.err, "--idempotency-key "+keys[0]) {
				t.Errorf("how to go on is not told: %s", got.err)
			}
		})
	}
}

// A server that says when to come back is listened to, up to a bound.
func TestRetryAfter(t *testing.T) {
	for after, want := range map[string]int{"3": 2, "3600": 1} {
		calls := 0
		got, took := bubble(t, func(w http.ResponseWriter, _ *http.Request) {
			calls++
			if calls == 1 {
				w.Header().Set("Retry-After", after)
				refuse(w, 503, "UNAVAILABLE")
				return
			}
			reply(w, `{}`)
		}, "boot show "+mac)
		if calls != want || want == 2 && (took < 3*time.Second || got.code != 0) || want == 1 && (got.code != 7 || !strings.Contains(got.err, "3600s")) {
			t.Errorf("Retry-After %s: %d calls in %s, code %d: %s", after, calls, took, got.code, got.err)
		}
	}
}

// Waiting for a state looks again and again, prints what happens, and ends.
func TestUntil(t *testing.T) {
	states := []string{"discovered", "discovered", "enrolling", "enrolled"}
	looks := 0
	show := func(w http.ResponseWriter, _ *http.Request) {
		state := states[min(looks, len(states)-1)]
		looks++
		reply(w, fmt.Sprintf(`{"mac":%q,"state":%q,"mode":"normal","version":%d}`, mac, state, len(state)))
	}
	got, took := bubble(t, show, "boot show "+mac+" --until state=enrolled --until state=decommissioned --every 10s")
	if got.code != 0 || took != 30*time.Second || looks != 4 {
		t.Errorf("code %d, %d looks in %s: %s", got.code, looks, took, got.err)
	}
	for _, want := range []string{"state:    discovered\n", " " + mac + " state: discovered -> enrolling, version: 10 -> 9\n", " state: enrolling -> enrolled"} {
		if !strings.Contains(got.out, want) {
			t.Errorf("%q is not in\n%s", want, got.out)
		}
	}
	looks = 0
	states = states[:3]
	got, took = bubble(t, show, "boot show "+mac+" --until state=enrolled --every 10s --timeout 1m")
	if got.code != 8 || took != time.Minute || !strings.Contains(got.err, "last seen: state=enrolling") {
		t.Errorf("code %d after %s: %s", got.code, took, got.err)
	}
	looks = 0
	got, _ = bubble(t, show, "boot show "+mac+" --until state=enrolling --every 10s -q .object.state")
	if want := "discovered\nenrolling\n"; got.out != want {
		t.Errorf("got %q, want %q", got.out, want)
	}
}

// Watching a list tells what came, changed and went.
func TestWatchList(t *testing.T) {
	lists := []string{
		`{"boots":[{"mac":"a","state":"discovered"},{"mac":"b","state":"enrolled"}]}`,
		`{"boots":[{"mac":"a","state":"enrolling"},{"mac":"c","state":"discovered"}]}`,
	}
	n := 0
	got, took := bubble(t, func(w http.ResponseWriter, _ *http.Request) {
		reply(w, lists[min(n, 1)])
		n++
	}, "boot list --watch --timeout 5s")
	for _, want := range []string{"MAC  STATE", " a state: discovered -> enrolling\n", " c new\n", " b gone\n"} {
		if strings.Count(got.out, want) != 1 {
			t.Errorf("%q is not once in\n%s", want, got.out)
		}
	}
	if got.code != 8 || took != 5*time.Second {
		t.Errorf("code %d after %s: %s", got.code, took, got.err)
	}
}

// A stream of events goes on from the last one where it was cut.
func TestFollow(t *testing.T) {
	var cursors []string
	got, _ := bubble(t, func(w http.ResponseWriter, r *http.Request) {
		cursors = append(cursors, r.URL.Query().Get("cursor"))
		w.Header().Set("Content-Type", "text/event-stream")
		if n := len(cursors); n < 4 {
			_, _ = fmt.Fprintf(w, ": alive\n\nid: %d:0\nevent: x\ndata: {\"cursor\":\"%d:0\",\"time\":\"2026-05-01T00:00:00Z\",\"actor\":\"ada\",\"type\":\"node.cordoned\",\"subject\":\"n\\u001b[2J\"}\n\n", n, n)
			return
		}
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	}, "events --timeout 1m")
	if want := []string{"", "1:0", "2:0", "3:0"}; !slices.Equal(cursors, want) || got.code != 8 {
		t.Errorf("cursors %q, code %d: %s", cursors, got.code, got.err)
	}
	if want := strings.Repeat(`2026-05-01T00:00:00Z  node.cordoned  n\x1b[2J  by ada`+"\n", 3); got.out != want {
		t.Errorf("got %q", got.out)
	}
}
