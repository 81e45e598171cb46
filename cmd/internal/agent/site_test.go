package agent_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ingotmetal/ingot/cmd/api"
	"github.com/ingotmetal/ingot/cmd/internal/pin"
	"github.com/ingotmetal/ingot/cmd/internal/secrets"
	"github.com/ingotmetal/ingot/cmd/internal/serve"
	"github.com/ingotmetal/ingot/cmd/internal/sessions"
	"github.com/ingotmetal/ingot/cmd/internal/simnet"
	"github.com/ingotmetal/ingot/disklayout"
	"github.com/ingotmetal/ingot/identity/bundle"
	"github.com/ingotmetal/ingot/identity/keys"
	"github.com/ingotmetal/ingot/liveness/session"
)

// A site is a booter and a control plane as one machine sees them: the row of the
// registration and what the two say.
type site struct {
	t    *testing.T
	net  *simnet.Net
	pin  pin.Pin
	stop context.CancelFunc
	end  chan error

	mu       sync.Mutex
	state    string // of the row
	key      string // of the agent that announced last, hexadecimal
	disks    []disklayout.Disk
	line     *sessions.Conn // of the agent that holds key
	epoch    uint64
	drained  bool
	until    time.Time // deadline of setting_up
	bound    string    // live bound key
	plan     api.SetupPlan
	sealed   string
	said     []string // what happened, for a test to read
	failures []string
	secrets  []string // none of them may be seen

	image    []byte
	boot     []byte                                                     // the boot program; nil: plans name none
	serving  func(w http.ResponseWriter, r *http.Request, image []byte) // default: whole
	approves int                                                        // how many approvals are left
	done     func(epoch uint64) bool                                    // whether a sentinel is answered; nil: yes
	sentinel func(epoch uint64)                                         // when one comes
	step     func()                                                     // when anything happens
	order    func(*sessions.Order)                                      // spoils orders
}

const imageSize = 300_000

// begin starts a site on the net, on the hosts booter and ingotd.
func begin(t *testing.T, n *simnet.Net) *site {
	t.Helper()
	s := &site{t: t, net: n, state: "absent", end: make(chan error, 2), approves: 1, image: make([]byte, imageSize)}
	_, _ = rand.NewChaCha8([32]byte{9}).Read(s.image)
	src, err := pin.SelfSigned(pin.Maker{Dir: filepath.Join(t.TempDir(), "s"), Now: time.Now, Entropy: rand.NewChaCha8([32]byte{})}, nil)
	if err != nil {
		t.Fatal(err)
	}
	s.pin = src.Pin()
	ctx, cancel := context.WithCancel(context.Background())
	s.stop = cancel
	booter, ingotd := http.NewServeMux(), http.NewServeMux()
	booter.Handle(sessions.Path, &sessions.Handler{Now: time.Now, Serve: s.booter})
	booter.HandleFunc("/image/", s.serveImage)
	booter.HandleFunc("/boot/", func(w http.ResponseWriter, r *http.Request) {
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(s.boot))
	})
	ingotd.HandleFunc("/v1/registrations/{id}/refresh", s.refresh)
	ingotd.Handle(sessions.Path, s.authorized(&sessions.Handler{Now: time.Now, Serve: s.control}))
	for host, h := range map[string]http.Handler{"booter": booter, "ingotd": ingotd} {
		l, err := n.Listen("tcp", host+":443")
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			s.end <- (&serve.Server{Handler: h}).Serve(ctx, serve.Listener{Listener: l, TLS: pin.Server(src.Certificate, time.Now)})
		}()
	}
	return s
}

func (s *site) close() {
	s.stop()
	for range 2 {
		if err := <-s.end; err != nil {
			s.t.Error(err)
		}
	}
}

func (s *site) note(format string, args ...any) {
	s.mu.Lock()
	s.said = append(s.said, fmt.Sprintf(format, args...))
	s.mu.Unlock()
	if s.step != nil {
		s.step()
	}
}

// happened are the kinds of what happened, in order and each once in a row.
func (s *site) happened() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []string
	for _, w := range s.said {
		if w = strings.Fields(w)[0]; len(out) == 0 || out[len(out)-1] != w {
			out = append(out, w)
		}
	}
	return strings.Join(out, " ")
}

// booter is one session with a booter.
func (s *site) booter(_ context.Context, c *sessions.Conn) {
	nonce, who := []byte("0123456789abcdef0123456789abcdef"), session.Hello{}
	for e := range c.Events() {
		switch e := e.(type) {
		case session.Hello:
			who = e
			pub, err := bundle.ParsePublicKey(e.Key)
			if err != nil {
				s.t.Error(err)
				return
			}
			sealed, err := sessions.SealNonce(pub, e.Server, nonce)
			if err != nil {
				s.t.Error(err)
			}
			c.Machine().Challenge(sealed, nonce)
		case session.Proven:
			s.note("proven %v", who.MACs)
			c.Machine().Welcome(5*time.Second, c.Now())
		case session.Announce:
			c.Machine().Announced(s.announce(c, who, e.Sysinfo))
			s.hand(c)
		case session.Progress:
			s.note("progress %d %s %d/%d", e.Epoch, e.Step, e.Done, e.Total)
		case session.Sentinel:
			s.complete(c, e.Epoch)
		case session.Failed:
			s.fail(c, e)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.line == c {
		s.line = nil
	}
}

func (s *site) announce(c *sessions.Conn, who session.Hello, sysinfo json.RawMessage) string {
	disks, err := disklayout.ParseDisks(sysinfo)
	if err != nil {
		s.t.Error(err)
	}
	s.note("announce")
	s.mu.Lock()
	defer s.mu.Unlock()
	s.line = c
	if s.state == "setting_up" && !s.drained && s.key != who.Key {
		s.state = "awaiting_setup" // SET-17
	}
	if s.state == "absent" || s.state == "awaiting_setup" {
		s.state, s.key, s.disks = "awaiting_setup", who.Key, disks
	}
	return s.state
}

// operate approves what waits, ends what is overdue, and hands out bundles.
func (s *site) operate(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(7 * time.Second):
		}
		s.mu.Lock()
		if s.state == "setting_up" && time.Now().After(s.until) {
			s.state, s.bound = "awaiting_setup", ""
		}
		if s.state == "awaiting_setup" && s.approves > 0 && s.line != nil && s.disks != nil {
			s.approve()
		}
		line := s.line
		s.mu.Unlock()
		if line != nil {
			line.Do(func(*session.Server) { s.hand(line) })
		}
	}
}

// approve makes a bundle; the lock is held.
func (s *site) approve() {
	req := disklayout.Request{Layout: disklayout.GPT, Disks: []disklayout.Selector{{Serial: "A1"}}, ESP: disklayout.MinESP, Root: 4 * mib, Data: disklayout.Rest,
		Image: fmt.Sprintf("sha256:%x", sha256.Sum256(s.image))}
	if s.boot != nil {
		req.Boot = fmt.Sprintf("sha256:%x", sha256.Sum256(s.boot))
	}
	p, err := disklayout.Realize(req, s.disks, disklayout.Stamp{Server: own})
	if err != nil {
		s.t.Errorf("approve: %v", err)
		return
	}
	pub, _ := bundle.ParsePublicKey(s.key)
	hash := pub.Hash()
	s.epoch++
	s.approves--
	s.state, s.drained, s.until = "setting_up", false, time.Now().Add(45*time.Minute)
	s.plan = api.SetupPlan{Digest: p.Digest.String(), Layout: &p, AgentKey: hex.EncodeToString(hash[:])}
	b := bundle.Bundle{Server: uuid, Epoch: s.epoch}
	b.Key, _ = keys.NewSecret(keys.APIKey, [keys.SecretSize]byte{byte(s.epoch), 7})
	minted, _ := keys.MintTickets([keys.TicketsPerSetup][keys.SecretSize]byte{{byte(s.epoch), 1}, {byte(s.epoch), 2}, {byte(s.epoch), 3}})
	for i, m := range minted {
		b.Tickets[i] = m.Secret
		s.secrets = append(s.secrets, m.Secret.Show())
	}
	if s.sealed, err = secrets.SealBundle(pub, b); err != nil {
		s.t.Error(err)
	}
	s.bound = b.Key.Show()
	s.secrets = append(s.secrets, s.bound, s.sealed)
}

// hand hands the bundle to the session of the agent that announced the key.
func (s *site) hand(c *sessions.Conn) {
	s.mu.Lock()
	o := sessions.Order{Plan: s.plan, ImageURL: "https://booter:443/image/" + imageToken, Server: "ingotd:443", ServerPin: s.pin.String()}
	if s.boot != nil {
		o.BootURL = "https://booter:443/boot/" + imageToken
	}
	due := s.state == "setting_up" && s.line == c
	s.drained = s.drained || due
	if s.order != nil {
		s.order(&o)
	}
	epoch, sealed := s.epoch, s.sealed
	s.mu.Unlock()
	if !due {
		return
	}
	raw, err := json.Marshal(o)
	if err != nil {
		s.t.Error(err)
	}
	if c.Machine().Setup(epoch, sealed, raw) {
		s.note("setup %d", epoch)
	}
}

// imageToken is the part of an image's address that is a machine's own.
const imageToken = "t0ken-of-this-machine"

func (s *site) complete(c *sessions.Conn, epoch uint64) {
	s.note("sentinel %d", epoch)
	if s.sentinel != nil {
		s.sentinel(epoch)
	}
	s.mu.Lock()
	if s.state == "setting_up" && s.epoch == epoch {
		s.state = "approved"
	}
	state := s.state
	s.mu.Unlock()
	if s.done == nil || s.done(epoch) {
		c.Machine().Done(epoch, state)
		s.note("done %d %s", epoch, state)
	}
}

func (s *site) fail(c *sessions.Conn, e session.Failed) {
	s.mu.Lock()
	s.failures = append(s.failures, e.Why)
	if s.state == "setting_up" && s.epoch == e.Epoch {
		s.state, s.bound = "awaiting_setup", ""
	}
	state := s.state
	s.mu.Unlock()
	s.note("failed %d", e.Epoch)
	c.Machine().Done(e.Epoch, state)
}

func (s *site) serveImage(w http.ResponseWriter, r *http.Request) {
	if s.serving != nil {
		s.serving(w, r, s.image)
		return
	}
	http.ServeContent(w, r, "", time.Time{}, strings.NewReader(string(s.image)))
}

// slowly serves the image at 100,000 bytes a second.
func slowly(w http.ResponseWriter, r *http.Request, image []byte) {
	http.ServeContent(slow{w}, r, "", time.Time{}, strings.NewReader(string(image)))
}

type slow struct{ http.ResponseWriter }

func (s slow) Write(b []byte) (int, error) {
	time.Sleep(time.Duration(len(b)) * 10 * time.Microsecond)
	return s.ResponseWriter.Write(b)
}

// Below is the control plane.

func (s *site) may(r *http.Request) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.bound != "" && r.Header.Get("Authorization") == "Bearer "+s.bound
}

func (s *site) authorized(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !s.may(r) {
			http.Error(w, "who are you", http.StatusUnauthorized)
			return
		}
		h.ServeHTTP(w, r)
	})
}

func (s *site) refresh(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	s.note("refresh")
	if !s.may(r) {
		http.Error(w, "who are you", http.StatusUnauthorized)
		return
	}
	s.mu.Lock()
	if s.state == "setting_up" && s.drained {
		s.state = "approved" // SET-13
	}
	state := s.state
	s.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(api.Refreshed{State: state, Version: 1})
}

// control is a session with the control plane, which ends when the key is dead.
func (s *site) control(_ context.Context, c *sessions.Conn) {
	for e := range c.Events() {
		switch e.(type) {
		case session.Hello:
			c.Machine().Welcome(5*time.Second, c.Now())
			s.note("bound")
		case session.Beat:
			s.mu.Lock()
			dead := s.bound == ""
			s.mu.Unlock()
			if dead {
				c.Machine().Bye("UNAUTHENTICATED", "the key is revoked")
			}
		}
	}
}

// A heap is what was logged and told.
type heap struct {
	mu sync.Mutex
	b  strings.Builder
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

func logger(h *heap) *slog.Logger {
	return slog.New(slog.NewJSONHandler(h, &slog.HandlerOptions{Level: slog.LevelDebug}))
}
