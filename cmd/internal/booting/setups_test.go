package booting

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"math/rand/v2"
	"net/netip"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ingotmetal/ingot/cmd/api"
	"github.com/ingotmetal/ingot/cmd/internal/pin"
	"github.com/ingotmetal/ingot/cmd/internal/serve"
	"github.com/ingotmetal/ingot/cmd/internal/sessions"
	"github.com/ingotmetal/ingot/cmd/internal/simnet"
	"github.com/ingotmetal/ingot/liveness/session"
)

const (
	uuid          = "6b1f2c3d-0001-4000-8000-000000000001"
	announcePath  = "/v1/setup/announce"
	approvalsPath = "/v1/setup/approvals"
	drainPath     = "/v1/setup/" + uuid + "/drain"
	completePath  = "/v1/setup/" + uuid + "/complete"
	failedPath    = "/v1/setup/" + uuid + "/failed"
	sealedBundle  = "canary-sealed-bundle"
)

// hall is a booter's sessions in a bubble, with a control plane that a test scripts.
type hall struct {
	t      *testing.T
	plane  *plane
	setups *Setups
	desk   *Desk
	net    *simnet.Net
	pin    pin.Pin
	open   func() int
	logs   *lines

	mu    sync.Mutex
	state string         // of the machine's row
	wait  []api.Approval // unconsumed
	rev   uint64
}

// lines is a log that a test reads.
type lines struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *lines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// inHall runs during with sessions at booter:443.
func inHall(t *testing.T, during func(t *testing.T, h *hall)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		n := simnet.New(1, simnet.Options{})
		defer n.Close()
		l, err := n.Listen("tcp", "booter:443")
		if err != nil {
			t.Fatal(err)
		}
		src, err := pin.SelfSigned(pin.Maker{Dir: filepath.Join(t.TempDir(), "s"), Now: time.Now, Entropy: rand.NewChaCha8([32]byte{})}, nil)
		if err != nil {
			t.Fatal(err)
		}
		h := &hall{t: t, plane: newPlane(), net: n, pin: src.Pin(), desk: newDesk(t, place(), time.Now, enrolling()), logs: &lines{}, state: "awaiting_setup", rev: 7}
		log := slog.New(slog.NewTextHandler(h.logs, nil))
		h.setups = &Setups{Client: h.plane.client(), Desk: h.desk, Log: log, Follower: &Follower{Desk: h.desk, File: filepath.Join(t.TempDir(), "site.json"), Log: quiet}}
		h.setups.Follower.keep(7, nil)
		h.script()
		ctx, cancel := context.WithCancel(context.Background())
		handler := &sessions.Handler{Now: time.Now, Serve: (&Host{Setups: h.setups, Entropy: rand.NewChaCha8([32]byte{9})}).Serve}
		h.open = handler.Open
		web := &serve.Server{Handler: handler}
		var all sync.WaitGroup
		all.Go(func() { _ = web.Serve(ctx, serve.Listener{Listener: l, TLS: pin.Server(src.Certificate, time.Now)}) })
		all.Go(func() { h.setups.Run(ctx) })
		during(t, h)
		cancel()
		all.Wait()
		if strings.Contains(h.logs.String(), sealedBundle) || strings.Contains(h.logs.String(), h.desk.key.Token(mac(known))) {
			t.Errorf("a secret is in the log: %s", h.logs)
		}
		if n := h.desk.sessions.Load(); n != 0 || handler.Open() != 0 {
			t.Errorf("%d sessions are still counted", n)
		}
	})
}

// script is what the control plane answers.
func (h *hall) script() {
	h.plane.on(announcePath, func([]byte) (any, error) { return api.Announced{State: h.row()}, nil })
	h.plane.on(approvalsPath, func(q []byte) (any, error) {
		time.Sleep(time.Second)
		h.mu.Lock()
		defer h.mu.Unlock()
		return api.Approvals{Revision: h.rev, Approvals: append([]api.Approval{}, h.wait...)}, nil
	})
	h.plane.on(drainPath, h.drain)
	ends := func(state string) func([]byte) (any, error) {
		return func([]byte) (any, error) {
			h.mu.Lock()
			defer h.mu.Unlock()
			h.state = state
			return api.SetupReported{State: state, Revision: 7}, nil
		}
	}
	h.plane.on(completePath, ends("approved"))
	h.plane.on(failedPath, ends("awaiting_setup"))
}

func (h *hall) row() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.state
}

// drain hands a bundle out once.
func (h *hall) drain(body []byte) (any, error) {
	var in struct {
		Epoch    uint64 `json:"epoch"`
		AgentKey string `json:"agent_key"`
		Held     bool   `json:"held"`
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return nil, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for i, a := range h.wait {
		if a.Epoch == in.Epoch && a.AgentKey == in.AgentKey && in.Held {
			h.wait = append(h.wait[:i:i], h.wait[i+1:]...)
			return api.Bundle{Epoch: a.Epoch, Sealed: true, Bundle: sealedBundle, Plan: a.Plan}, nil
		}
	}
	return nil, api.NewProblem("CONFLICT", "the bundle was consumed")
}

// approve is what an operator does.
func (h *hall) approve(epoch uint64, key sessions.Key) {
	hash := key.Public().Hash()
	a := api.Approval{Server: uuid, Epoch: epoch, AgentKey: hexOf(hash[:])}
	a.Plan.AgentKey = a.AgentKey
	h.mu.Lock()
	defer h.mu.Unlock()
	h.state, h.rev, h.wait = "setting_up", h.rev+1, []api.Approval{a}
}

func key(t *testing.T, seed byte) sessions.Key {
	t.Helper()
	k, err := sessions.NewKey(rand.NewChaCha8([32]byte{seed}))
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// agent is a machine's agent, which does what it is told.
type agent struct {
	link  *sessions.Agent
	ended chan struct{}

	mu     sync.Mutex
	states []string
	setups []session.Setup
	done   []session.Done
	err    error
}

// agent connects and announces.
func (h *hall) agent(k sessions.Key) *agent {
	h.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	h.t.Cleanup(cancel)
	target := sessions.Target{URL: "https://booter:443", Pins: []pin.Pin{h.pin}, Hello: session.Hello{Server: uuid, Key: k.Public().String(), MACs: []string{known}}}
	link, err := sessions.Dial(ctx, target, h.net.Host("node").DialContext, time.Now)
	if err != nil {
		h.t.Fatal(err)
	}
	a := &agent{link: link, ended: make(chan struct{})}
	go func() {
		defer close(a.ended)
		defer cancel()
		for e := range link.Events() {
			a.hear(e, k)
		}
		a.mu.Lock()
		a.err = link.Err()
		a.mu.Unlock()
	}()
	return a
}

func (a *agent) hear(e session.Said, k sessions.Key) {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch e := e.(type) {
	case session.Challenged:
		nonce, err := k.OpenNonce(uuid, e.Sealed)
		if err != nil {
			nonce = make([]byte, sessions.NonceSize)
		}
		a.link.Machine().Prove(nonce)
	case session.Welcomed:
		a.link.Machine().Announce(json.RawMessage(`{"uuid":"` + uuid + `"}`))
	case session.Announced:
		a.states = append(a.states, e.State)
	case session.Setup:
		a.setups = append(a.setups, e)
	case session.Done:
		a.done = append(a.done, e)
	}
}

// say has the agent say something.
func (a *agent) say(fn func(*session.Agent)) { a.link.Do(fn) }

func (a *agent) sentinel(epoch uint64) {
	a.say(func(e *session.Agent) { e.Sentinel(epoch) })
}

func (a *agent) had() (states int, setups int, done int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.states), len(a.setups), len(a.done)
}

// over is the name of the bye that ended a session.
func (a *agent) over(t *testing.T) string {
	t.Helper()
	select {
	case <-a.ended:
	case <-time.After(time.Minute):
		t.Fatal("the session goes on")
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if bye, ok := errors.AsType[*session.Ended](a.err); ok {
		return bye.Name
	}
	return ""
}

// settle lets time pass; the simulated network waits for the bubble's goroutines.
func settle(d time.Duration) { time.Sleep(d) }

// An agent announces, is handed its bundle once when it is approved, and is told when
// what followed from its sentinel is served.
func TestASetup(t *testing.T) {
	inHall(t, func(t *testing.T, h *hall) {
		k := key(t, 1)
		a := h.agent(k)
		settle(5 * time.Second)
		if states, setups, _ := a.had(); states != 1 || setups != 0 {
			t.Fatalf("%d %d", states, setups)
		}
		h.approve(4, k)
		settle(time.Minute)
		_, setups, _ := a.had()
		if setups != 1 || h.plane.count(drainPath) != 1 || a.setups[0].Bundle != sealedBundle || a.setups[0].Epoch != 4 {
			t.Fatalf("%d setups, %d drains", setups, h.plane.count(drainPath))
		}
		a.sentinel(4)
		a.sentinel(4)
		settle(time.Minute)
		if _, _, done := a.had(); done == 0 || a.done[0].State != "approved" {
			t.Errorf("%+v", a.done)
		}
		h.setups.mu.Lock()
		defer h.setups.mu.Unlock()
		if len(h.setups.handed) != 0 || len(h.setups.approved) != 0 || len(h.setups.draining) != 0 {
			t.Errorf("what has ended is remembered: %d %d", len(h.setups.handed), len(h.setups.approved))
		}
		if h.desk.sessions.Load() != 1 || h.open() != 1 {
			t.Error("one session is open")
		}
	})
}

// An agent that comes again with its key is handed the bundle that was drained for it;
// its first connection is told goodbye.
func TestTwoConnectionsOfOneMachine(t *testing.T) {
	inHall(t, func(t *testing.T, h *hall) {
		k := key(t, 1)
		first := h.agent(k)
		settle(time.Second)
		h.approve(4, k)
		settle(10 * time.Second)
		second := h.agent(k)
		settle(10 * time.Second)
		if name := first.over(t); name != "CONFLICT" {
			t.Errorf("the first ends with %q", name)
		}
		if _, setups, _ := second.had(); setups != 1 || h.plane.count(drainPath) != 1 {
			t.Errorf("%d setups, %d drains", setups, h.plane.count(drainPath))
		}
		if h.desk.sessions.Load() != 1 {
			t.Errorf("%d sessions", h.desk.sessions.Load())
		}
	})
}

// A bundle that is on its way when the agent comes again is handed to the connection
// that is there when it arrives.
func TestABundleFindsTheNewerConnection(t *testing.T) {
	inHall(t, func(t *testing.T, h *hall) {
		h.plane.on(drainPath, func(body []byte) (any, error) {
			time.Sleep(5 * time.Second) // the polls meanwhile list it still
			return h.drain(body)
		})
		k := key(t, 1)
		h.agent(k)
		settle(time.Second)
		h.approve(4, k)
		settle(3 * time.Second) // the drain is under way
		if h.plane.count(drainPath) != 1 {
			t.Fatalf("%d drains", h.plane.count(drainPath))
		}
		second := h.agent(k)
		settle(time.Minute)
		if _, setups, _ := second.had(); setups != 1 || h.plane.count(drainPath) != 1 {
			t.Errorf("%d setups, %d drains", setups, h.plane.count(drainPath))
		}
	})
}

// An agent with another key is handed nothing that was approved for the first, and a
// bundle of a setup before is not handed once another was approved.
func TestAnotherKey(t *testing.T) {
	inHall(t, func(t *testing.T, h *hall) {
		k, other := key(t, 1), key(t, 2)
		h.agent(k)
		settle(time.Second)
		h.approve(4, k)
		settle(10 * time.Second)
		second := h.agent(other)
		settle(10 * time.Second)
		if _, setups, _ := second.had(); setups != 0 {
			t.Errorf("another key is handed %d", setups)
		}
		h.approve(5, other)
		settle(10 * time.Second)
		if _, setups, _ := second.had(); setups != 1 || second.setups[0].Epoch != 5 {
			t.Errorf("%+v", second.setups)
		}
		third := h.agent(k)
		settle(10 * time.Second)
		if _, setups, _ := third.had(); setups != 0 {
			t.Errorf("the key of an older setup is handed %+v", third.setups)
		}
	})
}

// A key that the agent cannot open a challenge with opens no session.
func TestAKeyIsProven(t *testing.T) {
	inHall(t, func(t *testing.T, h *hall) {
		mine, other := key(t, 1), key(t, 2)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		link, err := sessions.Dial(ctx, sessions.Target{URL: "https://booter:443", Pins: []pin.Pin{h.pin}, Hello: session.Hello{Server: uuid, Key: other.Public().String()}}, h.net.Host("node").DialContext, time.Now)
		if err != nil {
			t.Fatal(err)
		}
		a := &agent{link: link}
		for e := range link.Events() {
			a.hear(e, mine)
		}
		if states, _, _ := a.had(); states != 0 || h.plane.count(announcePath) != 0 || h.desk.sessions.Load() != 0 {
			t.Errorf("%d states, %d announces", states, h.plane.count(announcePath))
		}
	})
}

// An outcome is reported until the control plane took it in, however long it is away;
// what it refuses for good ends the session with its own words.
func TestOutcomesAreRetried(t *testing.T) {
	inHall(t, func(t *testing.T, h *hall) {
		a := h.agent(key(t, 1))
		settle(time.Second)
		h.plane.on(completePath, func([]byte) (any, error) { return nil, errors.New("connection refused") })
		a.sentinel(4)
		for range 10 {
			settle(time.Minute)
			a.sentinel(4) // as an agent says again
		}
		if _, _, done := a.had(); done != 0 {
			t.Fatal("done, and nobody took it in")
		}
		if n := h.plane.count(completePath); n < 20 || n > 60 {
			t.Errorf("%d tries in ten minutes", n)
		}
		h.script()
		settle(lastTry)
		if _, _, done := a.had(); done == 0 {
			t.Error("it was not reported once the control plane was back")
		}
	})
	inHall(t, func(t *testing.T, h *hall) {
		a := h.agent(key(t, 1))
		settle(time.Second)
		h.plane.on(failedPath, func([]byte) (any, error) { return nil, api.NewProblem("CONFLICT", "another epoch") })
		a.say(func(e *session.Agent) { e.Failed(4, "no space left") })
		if name := a.over(t); name != "CONFLICT" {
			t.Errorf("%q", name)
		}
		if n := h.plane.count(failedPath); n != 1 {
			t.Errorf("%d tries of what is refused for good", n)
		}
	})
}

// What the control plane says to an announce reaches the agent.
func TestAnnounceIsRefused(t *testing.T) {
	inHall(t, func(t *testing.T, h *hall) {
		h.plane.on(announcePath, func([]byte) (any, error) { return nil, api.NewProblem("CONFLICT", "not now") })
		if name := h.agent(key(t, 1)).over(t); name != "CONFLICT" {
			t.Errorf("%q", name)
		}
		h.plane.leave(true)
		if name := h.agent(key(t, 1)).over(t); name != "UNAVAILABLE" {
			t.Errorf("%q", name)
		}
		if _, err := (&Machine{setups: h.setups, server: uuid}).Announce(t.Context(), json.RawMessage(`{"uuid":"x"}`)); err == nil {
			t.Error("an inventory of another machine was sent on")
		}
	})
}

// A drain that fails for a while is tried again; one that is refused is not.
func TestDrainsThatFail(t *testing.T) {
	inHall(t, func(t *testing.T, h *hall) {
		k := key(t, 1)
		a := h.agent(k)
		settle(time.Second)
		h.plane.on(drainPath, func([]byte) (any, error) { return nil, api.NewProblem("UNAVAILABLE", "busy") })
		h.approve(4, k)
		settle(time.Minute)
		if n := h.plane.count(drainPath); n < 2 {
			t.Errorf("%d tries", n)
		}
		h.plane.on(drainPath, h.drain)
		settle(time.Minute)
		if _, setups, _ := a.had(); setups != 1 {
			t.Errorf("%d setups", setups)
		}
	})
}

// Bundles of machines that never came back do not stay for ever.
func TestHandedBundlesAreForgotten(t *testing.T) {
	c := &clock{at: noon}
	d := newDesk(t, place(), c.now)
	p := newPlane()
	s := &Setups{Client: p.client(), Desk: d, Log: quiet}
	for n := range 50 {
		server := strings.Replace(uuid, "0001-4", "00"+hexOf([]byte{byte(n)})+"-4", 1)
		p.on("/v1/setup/"+server+"/drain", func([]byte) (any, error) { return api.Bundle{Epoch: 1}, nil })
		s.replace(&Machine{setups: s, server: server, told: true, hash: "h"})
		s.approved = map[string]api.Approval{server: {Server: server, Epoch: 1, AgentKey: "h"}}
		m, a, due := s.due(server)
		if !due {
			t.Fatal("not due")
		}
		s.drain(t.Context(), m, a)
		m.Leave()
		c.add(10 * time.Minute)
	}
	if len(s.handed) > 8 || len(s.lines) != 0 || len(s.draining) != 0 {
		t.Errorf("%d bundles, %d lines, %d drains", len(s.handed), len(s.lines), len(s.draining))
	}
}

// The MACs of a connection are those with which it was seen, and no others (SET-18).
func TestSeenWith(t *testing.T) {
	d := newDesk(t, place(), still, fleet()...)
	for from, want := range map[string]string{"10.78.0.9": known, "::ffff:10.78.0.9": known, "10.78.0.10": "", "10.78.0.99": ""} {
		got := d.seenWith(netip.MustParseAddr(from), []string{"junk", known, held})
		if strings.Join(got, " ") != want || got == nil {
			t.Errorf("%s: %q, want %q", from, got, want)
		}
	}
}

// An approval that was there before any agent is not lost.
func TestAnApprovalBeforeTheAgent(t *testing.T) {
	inHall(t, func(t *testing.T, h *hall) {
		k := key(t, 1)
		h.approve(4, k)
		settle(10 * time.Second)
		a := h.agent(k)
		settle(time.Second / 2) // before the next poll
		if _, setups, _ := a.had(); setups != 1 {
			t.Errorf("%d setups", setups)
		}
	})
}

// A bundle that is on its way is not asked for again, though it is listed still.
func TestABundleIsDrainedOnce(t *testing.T) {
	inHall(t, func(t *testing.T, h *hall) {
		h.plane.on(drainPath, func(body []byte) (any, error) {
			time.Sleep(5 * time.Second)
			return h.drain(body)
		})
		k := key(t, 1)
		h.approve(4, k)
		settle(10 * time.Second)
		a := h.agent(k) // its announce begins the drain
		settle(time.Minute)
		if _, setups, _ := a.had(); setups != 1 || h.plane.count(drainPath) != 1 {
			t.Errorf("%d setups, %d drains", setups, h.plane.count(drainPath))
		}
	})
}
