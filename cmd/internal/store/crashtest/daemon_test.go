package crashtest

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/ingotmetal/ingot/cmd/api"
	"github.com/ingotmetal/ingot/cmd/daemon"
	"github.com/ingotmetal/ingot/cmd/internal/admin"
	"github.com/ingotmetal/ingot/cmd/internal/store"
	"github.com/ingotmetal/ingot/cmd/internal/store/bolt"
)

// serve is the child's main as a control plane: that of ingotd.
func serve() error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	cmd := admin.Command(admin.World{
		Outside: daemon.Outside{Now: time.Now, Entropy: rand.Reader, Listen: net.Listen, Dial: net.Dial},
		In:      os.Stdin, Out: os.Stdout, Err: os.Stderr,
	})
	cmd.SetArgs([]string{"serve", "--config", os.Getenv("INGOT_CRASH_CONFIG")})
	return cmd.ExecuteContext(ctx)
}

// A plane is a control plane that is killed and started anew.
type plane struct {
	dir    string
	socket string
	client *api.Client
	cmd    *exec.Cmd
	log    *os.File
}

func newPlane(t *testing.T) *plane {
	t.Helper()
	dir, err := os.MkdirTemp("", "icr") // a socket's path is short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	p := &plane{dir: dir, socket: filepath.Join(dir, "sock")}
	conf := fmt.Sprintf("site: %s\nstate: %s/state\nlisten: {tcp: [], unix: %s}\nlog: {level: error}\n", site, dir, p.socket)
	if err := os.WriteFile(filepath.Join(dir, "ingotd.yaml"), []byte(conf), 0o600); err != nil {
		t.Fatal(err)
	}
	if p.log, err = os.Create(filepath.Join(dir, "log")); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.log.Close() })
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", p.socket)
	}
	p.client = &api.Client{Base: "http://ingotd", HTTP: &http.Client{Timeout: 20 * time.Second, Transport: &http.Transport{DialContext: dial, DisableKeepAlives: true}}}
	return p
}

func (p *plane) start(t *testing.T) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p.cmd = exec.Command(self)
	p.cmd.Env = append(os.Environ(), roleVar+"=serve", "INGOT_CRASH_CONFIG="+filepath.Join(p.dir, "ingotd.yaml"))
	p.cmd.Stdout, p.cmd.Stderr = p.log, p.log
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
}

// kill kills it as kill -9 does. That it had ended by itself is an error.
func (p *plane) kill(t *testing.T) {
	t.Helper()
	_ = p.cmd.Process.Kill()
	err := p.cmd.Wait()
	if s, ok := p.cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || s.Signal() != syscall.SIGKILL {
		t.Fatalf("the control plane ended by itself: %v\n%s", err, p.said())
	}
}

// said is what it logged.
func (p *plane) said() []byte {
	raw, _ := os.ReadFile(p.log.Name())
	return raw
}

// signIn makes an operator, on the host, and signs him in.
func (p *plane) signIn(t *testing.T) {
	t.Helper()
	add, open := api.AddOperator{}, api.OpenSession{}
	add.IdempotencyKey, add.Body.Name, add.Body.Password = "add", "ada", "correct horse battery"
	open.Body.Operator, open.Body.Password = add.Body.Name, add.Body.Password
	var err error
	for deadline := time.Now().Add(longest / 8); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		if _, err = api.OperatorAdd.Call(t.Context(), p.client, &add); err != nil {
			continue // it is being started
		}
		out, err := api.SessionOpen.Call(t.Context(), p.client, &open)
		if err != nil {
			t.Fatal(err)
		}
		p.client.Credential = api.Bearer(out.Token.Show)
		return
	}
	t.Fatalf("the control plane answers nobody: %v\n%s", err, p.said())
}

// A minter asks for keys, one after the other, each until it knows what became of it.
type minter struct {
	*plane
	name  string
	acks  chan<- struct{}
	keys  map[string]string // by what was asked, the key's ID
	revs  map[string]uint64
	again int // calls that were asked again
	twice int // answers that an earlier call had earned
}

func (m *minter) run(ctx context.Context) error {
	for n := 0; ctx.Err() == nil; n++ {
		if err := m.mint(ctx, fmt.Sprintf("%s-%d", m.name, n)); err != nil {
			return err
		}
	}
	return nil
}

// mint asks for one key until it is there, by the same Idempotency-Key. Once it has
// asked it does not end before it knows, whatever becomes of ctx.
func (m *minter) mint(ctx context.Context, what string) error {
	in := api.MintKey{}
	in.IdempotencyKey, in.Body.Scope, in.Body.Comment = what, "read_only", what
	for deadline := time.Now().Add(longest); time.Now().Before(deadline); m.again++ {
		out, err := api.KeyMint.Call(context.WithoutCancel(ctx), m.client, &in)
		p, refused := errors.AsType[*api.Problem](err)
		switch {
		case err == nil:
			m.keys[what], m.revs[what] = out.Key.ID, out.Revision
			if out.Replayed {
				m.twice++
			}
			select {
			case m.acks <- struct{}{}:
			case <-ctx.Done():
			}
			return nil
		case refused && p.Code() != "UNAVAILABLE" && p.Code() != "RATE_LIMITED":
			return fmt.Errorf("%s: %w", what, err)
		}
		time.Sleep(5 * time.Millisecond) // it is being started
	}
	return fmt.Errorf("%s: nobody answers", what)
}

// TestKillsOfTheControlPlane kills ingotd at any instant, again and again, while
// clients ask for keys and, where they were not answered, ask again by the same
// Idempotency-Key. Each key is there once, and each revision that they were told of.
func TestKillsOfTheControlPlane(t *testing.T) {
	began := time.Now()
	p := newPlane(t)
	p.start(t)
	p.signIn(t)
	p.kill(t)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	acks := make(chan struct{})
	minters := make([]*minter, 3)
	errs := make([]error, len(minters))
	var all sync.WaitGroup
	for i := range minters {
		minters[i] = &minter{plane: p, name: fmt.Sprint("m", i), acks: acks, keys: map[string]string{}, revs: map[string]uint64{}}
		all.Go(func() {
			if errs[i] = minters[i].run(ctx); errs[i] != nil {
				t.Error(errs[i])
			}
		})
	}
	kills := either(30, 500)
	draw := mathrand.New(mathrand.NewPCG(seed(t), 3))
	for range kills {
		p.start(t)
		want, pause := draw.IntN(12), time.Duration(draw.IntN(20_000))*time.Microsecond
		for range want {
			select {
			case <-acks:
			case <-time.After(longest / 8):
				p.kill(t)
				t.Fatalf("the control plane answers nobody: %s", p.said())
			}
		}
		if want == 0 {
			pause *= 10 // somewhere in its start
		}
		time.Sleep(pause)
		p.kill(t)
	}
	p.start(t)
	stop()
	all.Wait()
	if err := errors.Join(errs...); err != nil {
		p.kill(t)
		t.Fatal(err)
	}
	n, again, twice := p.account(t, minters)
	t.Logf("%d kills, %d keys, each there once; %d calls were asked again, of which %d had been done before; %.0f s", kills, n, again, twice, time.Since(began).Seconds())
	if again < kills {
		t.Error("hardly any call was cut off")
	}
}

// listed are the IDs of all keys, by the API.
func (p *plane) listed(t *testing.T) map[string]bool {
	t.Helper()
	ids, deadline := map[string]bool{}, time.Now().Add(longest/8)
	for in := (&api.KeyList{}); ; {
		page, err := api.KeyListing.Call(t.Context(), p.client, in)
		if _, starting := errors.AsType[*api.Unreachable](err); starting && time.Now().Before(deadline) {
			time.Sleep(10 * time.Millisecond)
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, k := range page.Keys {
			ids[k.ID] = true
		}
		if in.Cursor = page.NextCursor; in.Cursor == "" {
			return ids
		}
	}
}

// rows are the facts of the log's rows, by revision, once the process is gone.
func (p *plane) rows(t *testing.T) map[uint64]string {
	t.Helper()
	path := filepath.Join(p.dir, "state", "site.db")
	if _, err := bolt.Verify(path); err != nil {
		t.Fatal(err)
	}
	s, err := bolt.Open(path, bolt.Options{Name: site, Mark: filepath.Join(p.dir, "state", "site.mark")})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	rows := map[uint64]string{}
	err = s.View(t.Context(), func(r store.Reader) error {
		for row, err := range store.Rows(r, 0) {
			if err != nil {
				return err
			}
			rows[row.Revision] = fmt.Sprint(row.Facts)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// account compares what the minters were told with the keys and with the log.
func (p *plane) account(t *testing.T, minters []*minter) (n, again, twice int) {
	t.Helper()
	ids := p.listed(t)
	p.kill(t)
	rows := p.rows(t)
	for _, m := range minters {
		n, again, twice = n+len(m.keys), again+m.again, twice+m.twice
		for what, id := range m.keys {
			if !ids[id] {
				t.Errorf("%s was told of as %s, which is not there", what, id)
			}
			delete(ids, id)
			if !strings.Contains(rows[m.revs[what]], id) {
				t.Errorf("%s was told of as revision %d, which is %q", id, m.revs[what], rows[m.revs[what]])
			}
		}
	}
	for id := range ids {
		t.Errorf("%s is there, and nobody was told of it", id)
	}
	return n, again, twice
}
