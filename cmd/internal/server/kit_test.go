package server_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ingotmetal/ingot/cmd/api"
	"github.com/ingotmetal/ingot/cmd/internal/control"
	"github.com/ingotmetal/ingot/cmd/internal/operators"
	"github.com/ingotmetal/ingot/cmd/internal/secrets"
	"github.com/ingotmetal/ingot/cmd/internal/server"
	"github.com/ingotmetal/ingot/cmd/internal/store"
	"github.com/ingotmetal/ingot/cmd/internal/store/storetest"
	"github.com/ingotmetal/ingot/statemachine/journal"
	"github.com/ingotmetal/ingot/statemachine/lifecycle"
)

// counter is entropy that never repeats and is the same in each run.
type counter struct {
	mu sync.Mutex
	n  uint64
}

func (c *counter) Read(b []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range b {
		c.n = c.n*6364136223846793005 + 1442695040888963407
		b[i] = byte(c.n >> 56)
	}
	return len(b), nil
}

// clock is the site's: the real one, moved on by tests.
type clock struct {
	mu    sync.Mutex
	ahead time.Duration
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Now().Add(c.ahead)
}

func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ahead += d
}

// heap is what was written, from any goroutine.
type heap struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (h *heap) Write(b []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.b.Write(b)
}

func (h *heap) String() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.b.String()
}

type hostKey struct{}

// site is a server with clients of every kind.
type site struct {
	t    *testing.T
	url  string
	door *control.Door
	host *api.Client
	ada  *api.Client // an operator, signed in
	clock
	logs, said heap // what was logged, and all answers
	entropy    *counter
	hasher     *operators.Hasher

	mu   sync.Mutex
	done map[string]int // successes by operation
}

const password = "correct horse battery"

func newSite(t *testing.T) *site { t.Helper(); return siteWith(t, func(*server.Config) {}) }

// siteWith is a site whose server is configured by edit.
func siteWith(t *testing.T, edit func(*server.Config)) *site {
	t.Helper()
	st := storetest.Hostile(storetest.Memory("lab"))
	t.Cleanup(func() { _ = st.Close() })
	s := &site{t: t, entropy: &counter{n: 1}, done: map[string]int{}}
	s.door = control.New(control.Config{Store: st, Now: s.now, World: func(r store.Reader, n *lifecycle.Node) lifecycle.World {
		w := control.Staged(r, n)
		w.Serviced = n.Claims.BMC != "" && n.Metal.Credentials != ""
		return w
	}})
	must(t, s.door.Found(t.Context(), control.Draw{Entropy: s.entropy}))
	s.listen(s.config(edit))
	s.add("ada")
	s.ada = s.signIn("ada", password)
	return s
}

func (s *site) config(edit func(*server.Config)) server.Config {
	t := s.t
	t.Helper()
	master, err := secrets.NewMaster([secrets.Size]byte{1})
	must(t, err)
	s.hasher, err = operators.NewHasher(operators.Hashing{Cost: operators.Cost{Time: 1, Memory: 64, Threads: 1}, AtOnce: 8, Queue: 1024}, s.entropy)
	must(t, err)
	c := server.Config{Door: s.door, Master: master, Entropy: s.entropy, Log: slog.New(slog.NewJSONHandler(&s.logs, nil)), Owner: "default", Site: "lab", Hasher: s.hasher,
		OnHost: func(ctx context.Context) bool { return ctx.Value(hostKey{}) != nil },
		Backup: func(_ context.Context, w io.Writer) error { _, err := io.WriteString(w, "a copy"); return err },
		Source: func(context.Context) netip.Addr { return netip.MustParseAddr("192.0.2.1") }}
	c.Agent = benchAgent{}
	c.Broker = secrets.NewBroker(secrets.NewStore(filepath.Join(t.TempDir(), "secrets.age"), filepath.Join(t.TempDir(), "id.age"), s.entropy))
	edit(&c)
	return c
}

// listen serves the API, from afar and on the host.
func (s *site) listen(c server.Config) {
	t := s.t
	t.Helper()
	srv, err := server.New(c)
	must(t, err)
	inner, err := srv.Handler("test")
	must(t, err)
	h := s.watched(inner)
	remote, local := httptest.NewServer(h), httptest.NewUnstartedServer(h)
	local.Config.BaseContext = func(net.Listener) context.Context { return context.WithValue(context.Background(), hostKey{}, true) }
	local.Start()
	t.Cleanup(remote.Close)
	t.Cleanup(local.Close)
	s.url, s.host = remote.URL, &api.Client{Base: local.URL}
}

// watched keeps every answer, and counts successes by operation.
func (s *site) watched(next http.Handler) http.Handler {
	all := routes()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		out := &watchedWriter{ResponseWriter: w, said: &s.said, impure: func(b string) { s.t.Error(b) }}
		out.began = func(status int) {
			s.mu.Lock()
			defer s.mu.Unlock()
			if status/100 == 2 {
				s.done[operationOf(all, r)]++
			}
		}
		next.ServeHTTP(out, r)
	})
}

type route struct {
	api.Def
	form *regexp.Regexp
}

func routes() (all []route) {
	for _, a := range api.All() {
		form := regexp.MustCompile(`\{[^}]*\}`).ReplaceAllString(a.Info().Path, "[^/]+")
		all = append(all, route{a.Info(), regexp.MustCompile("^" + form + "$")})
	}
	return all
}

// operationOf is the name of the operation that a request calls: a path without
// variables goes before one with.
func operationOf(all []route, r *http.Request) string {
	found := ""
	for _, rt := range all {
		switch {
		case rt.Method == r.Method && rt.Path == r.URL.Path:
			return rt.Name
		case rt.Method == r.Method && rt.form.MatchString(r.URL.Path):
			found = rt.Name
		}
	}
	return found
}

type watchedWriter struct {
	http.ResponseWriter
	said  *heap
	began func(status int) // called once

	impure func(string) // the store found a closure that draws
}

func (w *watchedWriter) start(status int) {
	if w.began != nil {
		w.began(status)
		w.began = nil
	}
}

func (w *watchedWriter) WriteHeader(status int) {
	w.start(status)
	w.ResponseWriter.WriteHeader(status)
}

func (w *watchedWriter) Write(b []byte) (int, error) {
	w.start(http.StatusOK)
	if bytes.Contains(b, []byte("storetest: a closure ran twice")) {
		w.impure(string(b))
	}
	_, _ = w.said.Write(b)
	return w.ResponseWriter.Write(b)
}

func (w *watchedWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// ask is a call that succeeds.
func ask[I, O any](s *site, op api.Op[I, O], c *api.Client, in *I) O {
	s.t.Helper()
	out, err := op.Call(s.t.Context(), c, in)
	if err != nil {
		s.t.Fatalf("%s: %v", op.Name, err)
	}
	return out
}

// refuses is a call that is refused with a code.
func refuses[I, O any](s *site, code string, op api.Op[I, O], c *api.Client, in *I) *api.Problem {
	s.t.Helper()
	_, err := op.Call(s.t.Context(), c, in)
	p, ok := errors.AsType[*api.Problem](err)
	if !ok || p.Code() != code {
		s.t.Fatalf("%s: %v, want %s", op.Name, err, code)
	}
	return p
}

// check is an expectation with what it is about.
func (s *site) check(ok bool, what string, got ...any) {
	s.t.Helper()
	if !ok {
		s.t.Errorf("%s: %+v", what, got)
	}
}

// add makes an operator, on the host.
func (s *site) add(name string) {
	s.t.Helper()
	in := api.AddOperator{}
	in.Body.Name, in.Body.Password = name, password
	ask(s, api.OperatorAdd, s.host, &in)
}

// as is a client with a secret.
func (s *site) as(secret api.Secret) *api.Client {
	return &api.Client{Base: s.url, Credential: api.Bearer(secret.Show)}
}

func (s *site) signIn(name string, word api.Secret) *api.Client {
	s.t.Helper()
	in := api.OpenSession{}
	in.Body.Operator, in.Body.Password = name, word
	return s.as(ask(s, api.SessionOpen, s.as(""), &in).Token)
}

// mint is a client with a new key of a scope.
func (s *site) mint(scope string) *api.Client {
	s.t.Helper()
	in := api.MintKey{}
	in.Body.Scope = scope
	return s.as(ask(s, api.KeyMint, s.ada, &in).Secret)
}

func codeOf(err error) string {
	if p, ok := errors.AsType[*api.Problem](err); ok {
		return p.Code()
	}
	return ""
}

// rows is the store's whole content.
func (s *site) rows() map[string]string {
	s.t.Helper()
	all := map[string]string{}
	err := s.door.Store().View(context.Background(), func(r store.Reader) error {
		for key, val := range r.Range(" ", "~") {
			all[key] = string(val)
		}
		return nil
	})
	must(s.t, err)
	return all
}

// differ lists the keys whose rows are not the same.
func differ(a, b map[string]string) []string {
	keys := map[string]bool{}
	for k, v := range a {
		if w, ok := b[k]; !ok || w != v {
			keys[k] = true
		}
	}
	for k := range b {
		if _, ok := a[k]; !ok {
			keys[k] = true
		}
	}
	return slices.Sorted(maps.Keys(keys))
}

// harm is differ, without what the log has of refusals (MACH-9).
func harm(a, b map[string]string) []string {
	return slices.DeleteFunc(differ(a, b), func(key string) bool {
		return slices.ContainsFunc([]string{"log/", "meta/", "ledger/event/key:", "ledger/event/operator:"}, func(p string) bool { return strings.HasPrefix(key, p) })
	})
}

// write puts a row as if somebody had.
func (s *site) write(key string, v any) {
	s.t.Helper()
	raw, err := json.Marshal(v)
	must(s.t, err)
	_, err = s.door.Record(s.t.Context(), control.Call{Actor: "test"}, func(tx store.Tx, _ time.Time) ([]journal.Fact, error) {
		tx.Put(key, raw)
		return []journal.Fact{{Type: "test.wrote", Subject: "site"}}, nil
	})
	must(s.t, err)
}

// putRow puts a row as JSON.
func putRow(tx store.Tx, key string, v any) error {
	raw, err := json.Marshal(v)
	tx.Put(key, raw)
	return err
}

// events are the types of all events after a revision.
func (s *site) events(after uint64) []string {
	s.t.Helper()
	var all []string
	err := s.door.Store().View(s.t.Context(), func(r store.Reader) error {
		for row, err := range store.Rows(r, store.Rev(after)) {
			if err != nil {
				return err
			}
			for _, f := range row.Facts {
				all = append(all, f.Type)
			}
		}
		return nil
	})
	must(s.t, err)
	return all
}

func (s *site) head() uint64 {
	s.t.Helper()
	var rev uint64
	must(s.t, s.door.Store().View(s.t.Context(), func(r store.Reader) error { rev = r.Head().Revision; return nil }))
	return rev
}

func goroutines() int { return runtime.NumGoroutine() }

// waitFor waits for what other goroutines bring about.
func waitFor(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !ok(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s: not within 20s", what)
		}
	}
}
