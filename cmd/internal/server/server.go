// Package server carries out the operations of package api on a site: it proves
// who calls, decides what he may do, and hands each call to the one door
// (package control). It listens nowhere: it is an http.Handler.
package server

import (
	"context"
	"io"
	"log/slog"
	"net/netip"
	"sync"
	"time"

	"github.com/ingotmetal/ingot/cmd/internal/control"
	"github.com/ingotmetal/ingot/cmd/internal/metal"
	"github.com/ingotmetal/ingot/cmd/internal/operators"
	"github.com/ingotmetal/ingot/cmd/internal/secrets"
	"github.com/ingotmetal/ingot/identity/claim"
)

// Config is what a server is made of.
type Config struct {
	Door    *control.Door
	Master  secrets.Master
	Entropy io.Reader
	Log     *slog.Logger
	// Owner is the tenant that the site belongs to; to any other its nodes and
	// records are absent.
	Owner  string
	Site   string       // its name, for people
	Codes  claim.Limits // of wrong claim codes; zero takes the defaults (REG-5)
	Hasher *operators.Hasher
	// Agent reaches BMCs; nil: nobody does (MACH-6). Broker takes credentials that
	// callers hand in; the zero Broker takes none (PROV-9).
	Agent  metal.Agent
	Broker secrets.Broker
	// Backup writes a copy of the store; nil where the store has none.
	Backup func(context.Context, io.Writer) error
	// OnHost reports whether a request came from the control plane's own host, by
	// its local socket; nil: none does.
	OnHost func(context.Context) bool
	// Denied hears of each call that authorization refused, by its action; may be
	// nil.
	Denied func(action string)
	// Source is the address that a request came from, for limits.
	Source func(context.Context) netip.Addr
	// SignIns limits failed sign-ins; zero takes the defaults.
	SignIns operators.Limits
	// Lasting is how long sessions last; zero takes the defaults.
	Lasting operators.Lasting
}

// A Server carries out operations. It is safe for concurrent use.
type Server struct {
	Config
	draw    control.Draw
	sealer  *secrets.Sealer
	codes   claim.SiteKey
	digest  secrets.Key // of what callers ask, for idempotency keys
	denials *operators.Limiter

	enrolling sync.Mutex // one enroll at a time
	underway  underway
}

// denialRate is how many refused mutations of one caller are journaled (MACH-9).
func denialRate() operators.Rate { return operators.Rate{Burst: 10, Per: time.Minute} }

// New makes a server. The error is that of a master secret that is none.
func New(c Config) (*Server, error) {
	codes, err := c.Master.SiteKey()
	if err != nil {
		return nil, err
	}
	denials, err := operators.NewLimiter("refused calls", denialRate(), 1024)
	if err != nil {
		return nil, err
	}
	return &Server{Config: c, draw: control.Draw{Entropy: c.Entropy}, sealer: secrets.NewSealer(c.Master, c.Entropy),
		codes: codes, digest: c.Master.Key("idempotency"), denials: denials}, nil
}
