package machine

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/ingotmetal/ingot/bmc"
)

// errLatched marks refusals for which nothing was sent.
var errLatched = errors.New("machine: the credentials were refused before")

// A keyring hands a driver the credentials, remembers which passwords it gave
// away, and gives none that the BMC has refused.
type keyring struct {
	source bmc.CredentialSource
	redact *redactor
	shared *refusals // of all machines behind the BMC

	mu      sync.Mutex
	version string     // given last
	given   bool       // one was
	print   imprint    // of what was given last
	refusal *bmc.Error // of that version; nil: none
}

// Credentials resolves them anew each time.
func (k *keyring) Credentials(ctx context.Context) (bmc.Credentials, error) {
	c, err := k.source.Credentials(ctx)
	if err != nil {
		return bmc.Credentials{}, k.unresolved(err)
	}
	k.redact.learn(c.Username, c.Password)
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.refusal != nil && c.Version == k.version {
		return bmc.Credentials{}, latched(k.refusal)
	}
	k.version, k.given, k.print, k.refusal = c.Version, true, imprintOf(c), nil
	if k.refusal = k.shared.of(k.print); k.refusal != nil {
		return bmc.Credentials{}, latched(k.refusal)
	}
	return c, nil
}

func (k *keyring) unresolved(err error) error {
	if _, ok := errors.AsType[*bmc.Error](err); ok {
		return err
	}
	return &bmc.Error{Kind: bmc.InvalidOption, Op: "resolve the credentials", Sent: bmc.SentNo, Why: "their source does not give them", Do: "look at the secret's provider", Err: err}
}

func latched(why *bmc.Error) error {
	return &bmc.Error{Kind: why.Kind, Op: why.Op, Sent: bmc.SentNo, Why: why.Why, Do: "give it other credentials; nothing is sent until their version changes", Err: errLatched}
}

// refused latches, and reports whether it did: not where the source has other
// credentials by now, which are worth one login.
func (k *keyring) refused(ctx context.Context, why *bmc.Error) bool {
	now, known := k.versionNow(ctx)
	k.mu.Lock()
	defer k.mu.Unlock()
	if known && k.given && now != k.version {
		return false
	}
	if known {
		k.version = now
	}
	k.refusal = why
	if k.given {
		k.shared.note(k.print, why)
	}
	return true
}

// An imprint tells credentials apart without holding them.
type imprint [sha256.Size]byte

func imprintOf(c bmc.Credentials) imprint {
	return sha256.Sum256(fmt.Appendf(nil, "%d %d %s %s %s", len(c.Username), len(c.Version), c.Username, c.Version, c.Password.Show()))
}

// What one BMC has refused is remembered for the machines behind it: so much, and so
// long. Over that it begins anew. A machine's own refusal stands until its credentials
// change; one that is made later may try again, since the BMC's may have changed.
const (
	maxRefusals = 64
	sharedFor   = 10 * time.Minute
)

// refusals are what a BMC has refused: an account is one for all machines behind it,
// and it counts their failures together. It is safe for concurrent use.
type refusals struct {
	mu  sync.Mutex
	all map[imprint]refusal
}

type refusal struct {
	why *bmc.Error
	at  time.Time
}

func (r *refusals) of(p imprint) *bmc.Error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if known, ok := r.all[p]; ok && time.Since(known.at) < sharedFor {
		return known.why
	}
	return nil
}

func (r *refusals) note(p imprint, why *bmc.Error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.all == nil || len(r.all) >= maxRefusals {
		r.all = map[imprint]refusal{}
	}
	r.all[p] = refusal{why, time.Now()}
}

// versionNow is the version that the source has, where it says one.
func (k *keyring) versionNow(ctx context.Context) (string, bool) {
	if k.source == nil {
		return "", false
	}
	c, err := k.source.Credentials(ctx)
	return c.Version, err == nil
}

// check is the refusal while it stands; fresh says that one stood, and other
// credentials are there now. It asks the source and never the BMC.
func (k *keyring) check(ctx context.Context) (fresh bool, err error) {
	k.mu.Lock()
	refusal, version := k.refusal, k.version
	k.mu.Unlock()
	if refusal == nil {
		return false, nil
	}
	if k.source == nil {
		return false, latched(refusal)
	}
	c, err := k.source.Credentials(ctx)
	switch {
	case err != nil:
		return false, k.unresolved(err)
	case c.Version == version:
		return false, latched(refusal)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.refusal == refusal {
		k.refusal = nil
	}
	return true, nil
}
