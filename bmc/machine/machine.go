package machine

import (
	"cmp"
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/ingotmetal/ingot/bmc"
)

// Config makes a [Machine]. Driver and Endpoint are needed.
type Config struct {
	Driver      bmc.Driver
	Endpoint    bmc.Endpoint
	Credentials bmc.CredentialSource // nil: the BMC asks for none
	Gates       *Gates               // nil: one of its own, so that nobody else may talk to the BMC
	Idle        *Idle                // nil: the session stays open until Close
	Patience    bmc.Patience
	Retry       Retry
	Journal     Journal      // nil: what must not be done twice is written down nowhere
	Log         *slog.Logger // nil: none
	Metrics     Metrics      // nil: none
	Name        string       // of the machine, in the log; may be empty
}

// A Machine is one machine behind a BMC. It is safe for concurrent use; make one
// for each machine and share it.
type Machine struct {
	c     Config
	gate  *Gate
	keys  *keyring
	red   *redactor
	calls door          // all but Close are inside
	one   chan struct{} // holds one token: who has it opens the session
	quit  chan struct{} // closed by Close

	mu      sync.Mutex
	held    *seat
	running *running
	closed  bool
	gone    bool // no session is kept any more
}

// New checks the configuration. It reaches no network; the session is opened by
// the first call that needs it. The error is an [*bmc.Error] of kind
// [bmc.InvalidOption].
func New(c Config) (*Machine, error) {
	if c.Driver == nil {
		return nil, &bmc.Error{Kind: bmc.InvalidOption, Op: "new machine", Sent: bmc.SentNo, Why: "there is no driver"}
	}
	if err := c.Driver.ValidateOptions(c.Endpoint.Options); err != nil {
		return nil, err
	}
	if c.Gates == nil {
		c.Gates = &Gates{}
	}
	limits, err := bmc.LimitsOf(c.Driver, c.Endpoint.Options)
	if err != nil {
		return nil, err
	}
	gate, err := c.Gates.Of(c.Endpoint, limits)
	if err != nil {
		return nil, err
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	c.Log = c.Log.With("machine", c.Name, "bmc", gate.key)
	if c.Metrics == nil {
		c.Metrics = mute{}
	}
	m := &Machine{c: c, gate: gate, red: &redactor{}, one: make(chan struct{}, 1), quit: make(chan struct{})}
	m.keys = &keyring{source: c.Credentials, redact: m.red, shared: &gate.refused}
	m.one <- struct{}{}
	return m, nil
}

// Gate is the budget of the machine's BMC.
func (m *Machine) Gate() *Gate { return m.gate }

// Close ends a verb that runs, after its request under way, waits for the calls
// under way and logs out. What is called afterwards is a conflict. A second Close
// does nothing. If ctx ends first the session is closed all the same, under those
// that still use it.
func (m *Machine) Close(ctx context.Context) error {
	m.mu.Lock()
	if !m.closed {
		close(m.quit)
	}
	m.closed = true
	r := m.running
	m.mu.Unlock()
	if r != nil {
		r.halt("the machine is closed")
		select {
		case <-r.done:
		case <-ctx.Done():
		}
	}
	if leave, err := m.calls.enter(ctx, true); err == nil {
		defer leave()
	}
	m.mu.Lock()
	s := m.held
	m.held, m.gone = nil, true
	m.mu.Unlock()
	if m.c.Idle != nil {
		m.c.Idle.forget(m)
	}
	if s == nil {
		return nil
	}
	return m.red.err(s.close(ctx))
}

func (m *Machine) closedError() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.closed {
		return nil
	}
	return &bmc.Error{Kind: bmc.Conflict, Op: "use the machine", Sent: bmc.SentNo, Why: "it is closed here"}
}

// Retry bounds how often a call is tried. Only what was not carried out is tried
// again: [bmc.Busy], [bmc.Unreachable] that was not sent, and reads whose answer
// was lost. A zero field takes its default.
type Retry struct {
	Attempts int           // in all; default 3
	Pause    time.Duration // before the second; doubles; default 2s
	Longest  time.Duration // that a BMC may ask to wait; asked for more, the call ends; default 1m
	Read     time.Duration // for one read of power; default 30s: real BMCs took up to 23 s
}

func (r Retry) attempts() int          { return cmp.Or(r.Attempts, 3) }
func (r Retry) pause() time.Duration   { return cmp.Or(r.Pause, 2*time.Second) }
func (r Retry) longest() time.Duration { return cmp.Or(r.Longest, time.Minute) }
func (r Retry) read() time.Duration    { return cmp.Or(r.Read, 30*time.Second) }
