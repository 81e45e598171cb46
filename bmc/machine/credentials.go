package machine

import (
	"context"
	"errors"
	"sync"

	"github.com/ingotmetal/ingot/bmc"
)

// errLatched marks refusals for which nothing was sent.
var errLatched = errors.New("machine: the credentials were refused before")

// A keyring hands a driver the credentials, remembers which passwords it gave
// away, and gives none that the BMC has refused.
type keyring struct {
	source bmc.CredentialSource
	redact *redactor

	mu      sync.Mutex
	version string     // given last
	given   bool       // one was
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
	k.version, k.given, k.refusal = c.Version, true, nil
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
	return true
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
