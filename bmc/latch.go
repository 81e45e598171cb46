package bmc

import (
	"context"
	"sync"
)

// A Latch keeps a wrong password from being tried twice: BMCs lock an account
// after three. Drivers resolve their credentials through it, each time they need
// them. The zero Latch is open. It is safe for concurrent use.
type Latch struct {
	mu      sync.Mutex
	closed  bool
	version string
	why     *Error
}

// Resolve asks s, and refuses with the error that closed the latch while the
// version is still the one that was refused. Without a source the credentials
// are empty.
func (l *Latch) Resolve(ctx context.Context, s CredentialSource) (Credentials, error) {
	if s == nil {
		return Credentials{}, nil
	}
	c, err := s.Credentials(ctx)
	if err != nil {
		return Credentials{}, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed && c.Version == l.version {
		e := *l.why
		e.Sent = SentNo
		return Credentials{}, &e
	}
	l.closed = false
	return c, nil
}

// Refuse closes the latch: the BMC answered c with why, of kind [Auth] or
// [PasswordChange]. It opens when the source gives another version.
func (l *Latch) Refuse(c Credentials, why *Error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed, l.version, l.why = true, c.Version, why
}
