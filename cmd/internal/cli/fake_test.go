package cli_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ingotmetal/ingot/cmd/internal/cli"
	"github.com/ingotmetal/ingot/cmd/internal/vmlab/panel"
)

// fake is a server that counts what reaches it and answers what it is told.
type fake struct {
	t      *testing.T
	home   string
	server *httptest.Server
	answer http.HandlerFunc
	prompt func(string) ([]byte, error) // nil: no terminal

	labFails error
	listen   func(ctx context.Context, network, address string) (net.Listener, error) // nil: it fails

	mu       sync.Mutex
	requests []*http.Request
}

func newFake(t *testing.T) *fake {
	f := &fake{t: t, home: t.TempDir()}
	f.answer = func(w http.ResponseWriter, _ *http.Request) { reply(w, `{}`) }
	f.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f.mu.Lock()
		f.requests = append(f.requests, r.Clone(context.Background()))
		f.mu.Unlock()
		f.answer(w, r)
	}))
	t.Cleanup(f.server.Close)
	return f
}

func reply(w http.ResponseWriter, body string) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = fmt.Fprint(w, body)
}

func refuse(w http.ResponseWriter, status int, code string) {
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(status)
	_, _ = fmt.Fprintf(w, `{"code":%q,"detail":"told by the fake"}`, code)
}

// count is how many requests came, and forgets them.
func (f *fake) count() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := len(f.requests)
	f.requests = nil
	return n
}

// ran is what became of a command.
type ran struct {
	code     int
	out, err string
}

// run runs a command against the fake.
func (f *fake) run(args ...string) ran {
	return f.runIn(map[string]string{"INGOT_SERVER": f.server.URL}, "", args...)
}

func (f *fake) runIn(env map[string]string, stdin string, args ...string) ran {
	f.t.Helper()
	var out, errs bytes.Buffer
	code := cli.Run(f.t.Context(), cli.World{
		Demo: func(context.Context, cli.Demo) error { return nil },
		Lab:  func(context.Context, cli.Lab) error { return f.labFails },
		Cuts: func(context.Context, cli.Cuts) error { return f.labFails },
		LabUp: func(_ context.Context, l cli.LabUp) (panel.Lab, error) {
			return panel.Lab{Dir: l.Dir, Server: "unix:" + l.Dir + "/ingotd.sock", KeyFile: l.Dir + "/full.key", Booter: "unix:" + l.Dir + "/booterd.sock", Ends: time.Now().Add(l.For), Machines: []panel.Machine{{Name: "m1", Way: l.Way, On: true}}}, nil
		},
		In: strings.NewReader(stdin), Out: &out, Err: &errs,
		OutTerminal: env["TTY"] != "", ErrTerminal: env["TTY"] != "",
		Env: func(name string) string {
			if name == "HOME" {
				return f.home
			}
			return env[name]
		},
		Dir: f.home, Prompt: f.prompt,
		Now: time.Now, Entropy: &counter{n: 3}, Dial: (&net.Dialer{}).DialContext,
		Listen: func(ctx context.Context, network, address string) (net.Listener, error) {
			if f.listen == nil {
				return nil, errors.New("no sockets here")
			}
			return f.listen(ctx, network, address)
		},
	}, args)
	return ran{code, out.String(), errs.String()}
}

// write makes a file in the fake's home.
func (f *fake) write(name, text string) string {
	f.t.Helper()
	path := filepath.Join(f.home, name)
	must(f.t, os.MkdirAll(filepath.Dir(path), 0o700))
	must(f.t, os.WriteFile(path, []byte(text), 0o600))
	return path
}
