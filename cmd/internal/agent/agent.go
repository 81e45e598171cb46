package agent

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"time"

	"github.com/ingotmetal/ingot/cmd/api"
	"github.com/ingotmetal/ingot/cmd/internal/pin"
	"github.com/ingotmetal/ingot/cmd/internal/sessions"
	"github.com/ingotmetal/ingot/disklayout"
)

// An Agent runs on one machine. Its fields are required where they have no default,
// and not changed once it runs.
type Agent struct {
	Machine Machine
	Config  Config
	Keep    Keep
	State   Folder // of a hand-installed machine: claim code and poll token
	Dial    sessions.Dialer
	Now     func() time.Time // with a monotonic part, as time.Now has
	Entropy io.Reader        // cryptographic, safe for concurrent use
	Log     *slog.Logger
	Tell    func(Told) // default: nobody; for a console. Several goroutines call it; it must not wait
	// SetRoot makes a hash the machine's root password; an empty one says that none is
	// set, and takes back what it set before. Default: the password is left alone.
	SetRoot func(ctx context.Context, hash api.Secret) error
	Survey  time.Duration // how often the inventory is looked at; default 30s
	Version string
}

// Told is what a person at the machine should see.
type Told struct {
	What  string     `json:"what"` // state, progress, claim_code, approved or failed
	State string     `json:"state,omitempty"`
	Code  api.Secret `json:"code,omitempty"`
	Until time.Time  `json:"until,omitzero"`
	Epoch uint64     `json:"epoch,omitempty"`
	Step  string     `json:"step,omitempty"`
	Done  uint64     `json:"done,omitempty"` // bytes
	Total uint64     `json:"total,omitempty"`
	Why   string     `json:"why,omitempty"`
}

// running is an agent that knows its machine.
type running struct {
	*Agent
	name string // the machine's UUID
	uuid disklayout.UUID
	key  sessions.Key
}

// Run is the agent's life, until ctx ends or the machine restarts, which is nil. Other
// errors are *Unidentified, *Invalid and, where there is no booter to announce to,
// *Revoked and *Unkept; what passes is tried again for as long as it takes.
func (a *Agent) Run(ctx context.Context) error {
	r, err := a.start()
	if err != nil {
		return err
	}
	kept, err := load(a.Keep, r.name)
	if err == nil && kept != nil {
		err = r.bound(ctx, *kept)
		if _, dead := errors.AsType[*Revoked](err); !dead { // nil among them
			return err
		}
	}
	switch {
	case a.Config.Booter == "" && err != nil:
		return err
	case a.Config.Booter == "":
		return &Invalid{"ingot.booter", "is missing, and no key is kept: name a booter, or register this machine by hand"}
	case err != nil:
		a.Log.Error("this machine announces itself as one without a key", "error", err, "next", "approve its setup, if that is what is wanted")
	}
	return r.enrol(ctx)
}

// start asks the machine who it is and draws the key of this life (SET-17).
func (a *Agent) start() (*running, error) {
	name, uuid, err := who(a.Machine)
	if err != nil {
		return nil, err
	}
	key, err := sessions.NewKey(a.Entropy)
	if err != nil {
		return nil, err
	}
	hash := key.Public().Hash()
	a.Log.Info("the agent starts", "machine", name, "agent_key", short(hash[:]), "version", a.Version)
	return &running{a, name, uuid, key}, nil
}

func (a *Agent) tell(t Told) {
	if a.Tell != nil {
		a.Tell(t)
	}
}

// client calls the control plane's operations.
func (a *Agent) client(server string, p pin.Pin) (*api.Client, func()) {
	tr := &http.Transport{DialContext: a.Dial, TLSClientConfig: pin.Client(pin.Trust{Pins: []pin.Pin{p}, Name: server}, a.Now),
		DisableKeepAlives: true, ForceAttemptHTTP2: false}
	tr.TLSClientConfig.NextProtos = []string{"http/1.1"}
	return &api.Client{Base: "https://" + server, HTTP: &http.Client{Transport: tr}, UserAgent: "noded/" + a.Version}, tr.CloseIdleConnections
}
