package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ingotmetal/ingot/cmd/api"
	"github.com/ingotmetal/ingot/cmd/internal/agent"
	"github.com/ingotmetal/ingot/cmd/internal/control"
	"github.com/ingotmetal/ingot/cmd/internal/operators"
	"github.com/ingotmetal/ingot/cmd/internal/pin"
	"github.com/ingotmetal/ingot/cmd/internal/secrets"
	"github.com/ingotmetal/ingot/cmd/internal/serve"
	"github.com/ingotmetal/ingot/cmd/internal/server"
	"github.com/ingotmetal/ingot/cmd/internal/sessions"
	"github.com/ingotmetal/ingot/cmd/internal/simnet"
	"github.com/ingotmetal/ingot/cmd/internal/store/storetest"
)

// A plane is a real control plane in a bubble, and a machine beside it.
type plane struct {
	t     *testing.T
	net   *simnet.Net
	pin   pin.Pin
	ada   *api.Client
	dir   string // the agent's state
	logs  heap
	told  []agent.Told
	asked []string // requests of the agent, in order
	seen  func(when string)
}

type hostKey struct{}

// drawn never repeats.
type drawn struct {
	mu sync.Mutex
	r  *rand.ChaCha8
}

func (d *drawn) Read(b []byte) (int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.r.Read(b)
}

// registering runs f in a bubble with a control plane.
func registering(t *testing.T, f func(t *testing.T, p *plane)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		n := simnet.New(1, simnet.Options{})
		defer n.Close()
		p := &plane{t: t, net: n, dir: filepath.Join(t.TempDir(), "state"), seen: func(string) {}}
		end := p.serve()
		f(t, p)
		end()
	})
}

func (p *plane) must(err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatal(err)
	}
}

// serve serves the API to the agent on ingotd:443 and to its host on ingotd:81.
func (p *plane) serve() (end func()) {
	p.t.Helper()
	entropy := &drawn{r: rand.NewChaCha8([32]byte{5})}
	st := storetest.Memory("lab")
	door := control.New(control.Config{Store: st, Now: time.Now})
	p.must(door.Found(p.t.Context(), control.Draw{Entropy: entropy}))
	master, err := secrets.NewMaster([secrets.Size]byte{1})
	p.must(err)
	hasher, err := operators.NewHasher(operators.Hashing{Cost: operators.Cost{Time: 1, Memory: 64, Threads: 1}, AtOnce: 8, Queue: 64}, entropy)
	p.must(err)
	srv, err := server.New(server.Config{Door: door, Master: master, Entropy: entropy, Log: slog.New(slog.DiscardHandler), Owner: "default", Site: "lab", Hasher: hasher,
		OnHost: func(ctx context.Context) bool { return ctx.Value(hostKey{}) != nil },
		Source: func(context.Context) netip.Addr { return netip.MustParseAddr("192.0.2.1") }})
	p.must(err)
	h, err := srv.Handler("test")
	p.must(err)
	src, err := pin.SelfSigned(pin.Maker{Dir: filepath.Join(p.t.TempDir(), "s"), Now: time.Now, Entropy: entropy}, nil)
	p.must(err)
	p.pin = src.Pin()
	local := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), hostKey{}, true)))
	})
	ctx, cancel := context.WithCancel(context.Background())
	ends := make(chan error, 2)
	mux := http.NewServeMux()
	mux.Handle("/", p.watched(h))
	mux.Handle(sessions.Path, srv.Live())
	p.listen(ctx, ends, ":443", mux, src)
	p.listen(ctx, ends, ":81", local, nil)
	p.signIn()
	return func() {
		cancel()
		p.must(errors.Join(<-ends, <-ends, st.Close()))
	}
}

func (p *plane) listen(ctx context.Context, ends chan error, port string, h http.Handler, src *pin.Source) {
	l, err := p.net.Listen("tcp", "ingotd"+port)
	p.must(err)
	door := serve.Listener{Listener: l}
	if src != nil {
		door.TLS = pin.Server(src.Certificate, time.Now)
	}
	go func() { ends <- (&serve.Server{Handler: h}).Serve(ctx, door) }()
}

// watched tells of each request before it is carried out and after.
func (p *plane) watched(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.asked = append(p.asked, r.URL.Path)
		p.seen("before " + r.URL.Path)
		h.ServeHTTP(w, r)
		p.seen("after " + r.URL.Path)
	})
}

func (p *plane) signIn() {
	hc := &http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
		return p.net.Host("operator").DialContext(ctx, network, "ingotd:81")
	}}}
	c := &api.Client{Base: "http://ingotd", HTTP: hc}
	add := api.AddOperator{}
	add.Body.Name, add.Body.Password = "ada", "correct horse battery"
	_, err := api.OperatorAdd.Call(p.t.Context(), c, &add)
	p.must(err)
	in := api.OpenSession{}
	in.Body.Operator, in.Body.Password = "ada", "correct horse battery"
	out, err := api.SessionOpen.Call(p.t.Context(), c, &in)
	p.must(err)
	p.ada = &api.Client{Base: c.Base, HTTP: hc, Credential: api.Bearer(out.Token.Show)}
}

// agent is a new process of the machine's agent.
func (p *plane) agent(life int) *agent.Agent {
	return &agent.Agent{Machine: &machine{disk: newDisk("A1"), life: 1, set: func(string) {}}, Config: agent.Config{Server: "ingotd:443", ServerPin: p.pin},
		Keep: agent.Folder{Dir: p.dir}, State: agent.Folder{Dir: p.dir}, Dial: p.net.Host("node").DialContext, Now: time.Now, Entropy: rand.NewChaCha8([32]byte{byte(life), 4}),
		Log: logger(&p.logs), Tell: func(t agent.Told) { p.told = append(p.told, t) }}
}

// approve is an operator who reads the claim code at the machine and types it in.
func (p *plane) approve() {
	raw, err := os.ReadFile(filepath.Join(p.dir, "claim-code"))
	if err != nil {
		return
	}
	in := api.Approve{}
	in.Body.Code = api.Secret(strings.TrimSpace(string(raw)))
	_, _ = api.RegistrationApprove.Call(p.t.Context(), p.ada, &in) // a void code is tried once
}

func (p *plane) row() string {
	out, err := api.RegistrationShow.Call(p.t.Context(), p.ada, &api.RegistrationRef{Server: uuid})
	if err != nil {
		return err.Error()
	}
	return out.State
}

// files are what is in the state folder.
func (p *plane) files() string {
	all, _ := os.ReadDir(p.dir)
	var out []string
	for _, e := range all {
		out = append(out, e.Name())
	}
	return strings.Join(out, " ")
}

// operated runs f while an operator approves what it sees, every so often.
func (p *plane) operated(f func()) {
	ctx, cancel := context.WithCancel(p.t.Context())
	var operator sync.WaitGroup
	operator.Go(func() {
		for {
			select {
			case <-ctx.Done():
				return
			case <-time.After(97 * time.Second):
				p.approve()
			}
		}
	})
	f()
	cancel()
	operator.Wait()
}

var codeForm = regexp.MustCompile(`^[0-9A-HJKMNP-TV-Z]{3}-[0-9A-HJKMNP-TV-Z]{3}$`)

// A hand-installed machine is let in by its claim code, and its key works until the
// machine is disabled, which ends its session.
func TestRegister(t *testing.T) {
	registering(t, func(t *testing.T, p *plane) {
		a := p.agent(1)
		p.operated(func() {
			if err := a.Register(t.Context()); err != nil {
				t.Fatal(err)
			}
		})
		var whats []string
		for _, told := range p.told {
			whats = append(whats, told.What)
		}
		if fmt.Sprint(whats) != "[claim_code state approved]" || !codeForm.MatchString(p.told[0].Code.Show()) || p.files() != "key" || p.row() != "approved" {
			t.Errorf("told %v, code %q, files %q, row %s", whats, p.told[0].Code.Show(), p.files(), p.row())
		}
		asked := len(p.asked)
		if err := p.agent(2).Register(t.Context()); err != nil || len(p.asked) != asked {
			t.Errorf("a second time: %v, asked %v", err, p.asked[asked:])
		}
		go p.disable(20 * time.Minute)
		from := time.Now()
		err := p.agent(3).Run(t.Context())
		if _, ok := errors.AsType[*agent.Revoked](err); !ok || time.Since(from) < 20*time.Minute || time.Since(from) > 21*time.Minute || strings.Count(p.logs.String(), "the session with the control plane is open") != 1 {
			t.Errorf("after %s: %v\n%s", time.Since(from), err, p.logs.String())
		}
		p.noSecrets()
	})
}

// disable shuts the machine out after a while (REG-11).
func (p *plane) disable(after time.Duration) {
	time.Sleep(after)
	in := api.RegistrationChange{RegistrationRef: api.RegistrationRef{Server: uuid}}
	if _, err := api.RegistrationDisable.Call(p.t.Context(), p.ada, &in); err != nil {
		p.t.Error(err)
	}
}

// noSecrets is the canary.
func (p *plane) noSecrets() {
	raw, err := os.ReadFile(filepath.Join(p.dir, "key"))
	p.must(err)
	var rec agent.Record
	p.must(json.Unmarshal(raw, &rec))
	shown := p.logs.String() + fmt.Sprintf("%v %+v %s", rec, rec, rec) + fmt.Sprintf("%v %+v", p.told, p.told)
	for _, secret := range []string{rec.Key.Show(), p.told[0].Code.Show()} {
		if secret == "" || strings.Contains(shown, secret) {
			p.t.Errorf("a secret is seen: %.12s", secret)
		}
	}
}

// Nobody comes: the code is void after an hour, and so it is said.
func TestRegisterExpires(t *testing.T) {
	registering(t, func(t *testing.T, p *plane) {
		from := time.Now()
		err := p.agent(1).Register(t.Context())
		if _, ok := errors.AsType[*agent.Expired](err); !ok || time.Since(from) > time.Hour+2*time.Minute || time.Since(from) < 55*time.Minute || p.files() != "" || p.row() != "pending" {
			t.Errorf("after %s: %v, files %q", time.Since(from), err, p.files())
		}
		if n := len(p.asked); n > 100 {
			t.Errorf("%d requests in an hour", n)
		}
	})
}

// A machine that is let in already, and has no key, is refused and told why.
func TestRegisterRefused(t *testing.T) {
	registering(t, func(t *testing.T, p *plane) {
		p.operated(func() { p.must(p.agent(1).Register(t.Context())) })
		p.must(os.Remove(filepath.Join(p.dir, "key")))
		err := p.agent(2).Register(t.Context())
		if problem, ok := errors.AsType[*api.Problem](err); !ok || problem.Code() != "CONFLICT" || p.files() != "" {
			t.Errorf("%v, files %q", err, p.files())
		}
		a := p.agent(3)
		a.Config.Server = ""
		if err := a.Register(t.Context()); err == nil {
			t.Error("registered nowhere")
		}
	})
}

// A registration may be killed before and after each request, with its answer lost, and
// goes on when it is begun again.
func TestRegisterIsKilled(t *testing.T) {
	for at := range 12 {
		registering(t, func(t *testing.T, p *plane) {
			off, steps := make(chan struct{}), 0
			p.seen = func(string) {
				if steps++; steps == at+1 {
					close(off)
					p.net.Kill("node")
				}
			}
			p.operated(func() {
				_ = p.life(1, off) // it may have ended before, or not have noticed
				time.Sleep(10 * time.Second)
				p.must(p.life(2, nil))
			})
			if p.files() != "key" || p.row() != "approved" {
				t.Errorf("killed at %d: files %q, row %s, asked %v\n%s", at, p.files(), p.row(), p.asked, p.logs.String())
			}
		})
	}
}

// life is one process that registers, until off is closed.
func (p *plane) life(n int, off <-chan struct{}) error {
	ctx, cancel := context.WithCancel(p.t.Context())
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- p.agent(n).Register(ctx) }()
	select {
	case err := <-ended:
		return err
	case <-off:
		cancel()
		<-ended
		return errDead
	}
}
