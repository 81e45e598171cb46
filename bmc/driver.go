package bmc

import (
	"context"
	"encoding/json"
	"time"
)

// A Driver speaks one family of BMCs. It is safe for concurrent use and keeps
// no state between sessions.
type Driver interface {
	// Info says what the driver is. It is the same each time.
	Info() Info
	// ValidateOptions checks options before they are stored. It is pure: it
	// reaches no network and no file. The error is an [*Error] of kind
	// [InvalidOption]. [CheckOptions] does most of it.
	ValidateOptions(options json.RawMessage) error
	// Open prepares a session with the machine that e selects. Credentials are
	// resolved as late as the protocol lets it, and sent to e's host and port and
	// nowhere else. Of a BMC with several machines and no selector it must not
	// take the first: that is [InvalidOption], naming them.
	Open(ctx context.Context, e Endpoint, a Access) (Session, error)
}

// Info describes a driver.
type Info struct {
	Name      string // as configurations name it
	Protocols []string
	Declares  []Feature // what its sessions may support; a machine may have less
	Limits    Limits
}

// Limits are what the BMCs of a driver bear.
type Limits struct {
	Concurrent int           // requests at once to one BMC; 0 means 1
	Interval   time.Duration // from the start of one request to the start of the next; 0: none
}

// A Limiter is a driver whose limits follow from a machine's options, as
// [Driver.ValidateOptions] takes them. [LimitsOf] asks it.
type Limiter interface {
	LimitsOf(options json.RawMessage) (Limits, error)
}

// LimitsOf are the limits of a machine with these options: the driver's own, where
// it is no [Limiter].
func LimitsOf(d Driver, options json.RawMessage) (Limits, error) {
	if l, ok := d.(Limiter); ok {
		return l.LimitsOf(options)
	}
	return d.Info().Limits, nil
}

// Access is what a driver is lent for one session.
type Access struct {
	Credentials CredentialSource // nil: the BMC asks for none
	Gate        Gate             // nil: no gate; else every request passes it
}

// A CredentialSource resolves the credentials of one BMC. It may be slow, and
// it may answer differently after a rotation.
type CredentialSource interface {
	Credentials(ctx context.Context) (Credentials, error)
}

// Credentials open a BMC. Version changes when they do, and says nothing of
// what they are.
type Credentials struct {
	Username string
	Password Secret
	Version  string
}

// A Gate is the budget of one BMC, shared by all who talk to it. Enter waits
// until a request may start; leave ends it and is called once.
type Gate interface {
	Enter(ctx context.Context) (leave func(), err error)
}

// A Session talks to one machine. It is safe for concurrent use.
type Session interface {
	// Probe says which machine this is and what it can do. It changes nothing.
	Probe(ctx context.Context) (Probed, error)
	// Close logs out, with a deadline of its own where ctx has ended, and frees
	// what the session holds. After one that succeeded another does nothing.
	Close(ctx context.Context) error
}

// Probed is what a session found.
type Probed struct {
	System   string              // the selected machine, as the protocol names it
	Systems  []string            // all that the BMC has, sorted
	Vendor   string              // as reported, like the next three
	Model    string              //
	Serial   string              //
	Firmware string              // of the BMC
	UUID     UUIDClaim           //
	Power    PowerObservation    //
	Peer     string              // the TLS peer's SPKI pin, "sha256/" and base64; empty without TLS
	Supports map[Feature]Support // an absent feature is not supported
	Quirks   []string            // names of those that apply, sorted
}

// As finds an optional interface of a session, also of one that another wraps
// and returns from Unwrap.
func As[T any](s Session) (T, bool) {
	for s != nil {
		if t, ok := s.(T); ok {
			return t, true
		}
		w, ok := s.(interface{ Unwrap() Session })
		if !ok {
			break
		}
		s = w.Unwrap()
	}
	var none T
	return none, false
}
