package operators

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"github.com/ingotmetal/ingot/identity/keys"
)

// SessionSchema is the schema number of sessions written now.
const SessionSchema = 1

// seenEvery is how old a session's last sign of life grows before it is written
// again: less would make a write of every read.
const seenEvery = time.Minute

// A Lasting says how long a session lasts. A zero field takes its default.
type Lasting struct {
	For  time.Duration // from sign-in to its end; default 8h, at most 24h
	Idle time.Duration // since its last use; default none, else 5m to 24h
}

const (
	defaultFor = 8 * time.Hour
	maxFor     = 24 * time.Hour
	minIdle    = 5 * seenEvery
)

// Validate reports every field that is out of range, joined.
func (l Lasting) Validate() error {
	var errs []error
	if l.For < 0 || l.For > maxFor {
		errs = append(errs, &Invalid{"Lasting.For", fmt.Sprintf("is %s, want 0 to %s", l.For, maxFor)})
	}
	if l.Idle != 0 && (l.Idle < minIdle || l.Idle > maxFor) {
		errs = append(errs, &Invalid{"Lasting.Idle", fmt.Sprintf("is %s, want 0 or %s to %s", l.Idle, minIdle, maxFor)})
	}
	return errors.Join(errs...)
}

// A Session is what is kept of an operator's session: facts, no secret. Its
// methods never change the one they are called on.
type Session struct {
	Schema     int
	ID         string // of its token, to show and to find it by
	Hash       keys.Hash
	Operator   string // the account's name
	Tenant     string
	MFA        bool      // a code was checked (ID-8)
	Generation uint64    // the account's, when it was opened
	Account    time.Time // when the account was made: another may come under its name
	Created    time.Time
	Ends       time.Time     // the first instant at which it is dead
	Idle       time.Duration `json:",omitzero"` // 0 for no end by idleness
	Seen       time.Time     // its last use, to the minute
	OpenedWith keys.Scope    `json:",omitzero"` // of the key it was opened with (SET-2)
	Revoked    time.Time     `json:",omitzero"`
}

// Open opens a session of token for who p proved. It belongs into the transaction
// that read a, and both values that it returns must be written there: the account
// has used up its code. with is the scope of the key that the session was opened
// with, "" if by signing in alone. The error is [ErrUnauthenticated] where the
// account has changed since or its code was used, or [*Invalid].
func Open(a Account, p Proof, token keys.Secret, l Lasting, with keys.Scope, now time.Time) (Account, Session, error) {
	switch err := l.Validate(); {
	case err != nil:
		return a, Session{}, err
	case token.Kind() != keys.SessionToken:
		return a, Session{}, &Invalid{"token", fmt.Sprintf("is of kind %q, want %q", token.Kind(), keys.SessionToken)}
	case with != "" && !with.Valid():
		return a, Session{}, &Invalid{"scope", fmt.Sprintf("%q is none of %q", with, keys.Scopes())}
	}
	next, err := a.admit(p)
	if err != nil {
		return a, Session{}, err
	}
	at := stamp(now)
	return next, Session{
		Schema: SessionSchema, ID: token.ID(), Hash: token.Hash(),
		Operator: a.Name, Tenant: a.Tenant, MFA: p.MFA(), Generation: a.Generation, Account: a.Created,
		Created: at, Ends: at.Add(cmp.Or(l.For, defaultFor)), Idle: l.Idle, Seen: at, OpenedWith: with,
	}, nil
}

// DecodeSession reads a session's JSON. The error is [*Newer] or [*Invalid].
func DecodeSession(b []byte) (Session, error) {
	return decode[Session]("session", SessionSchema, b)
}

// Validate reports every fact that cannot be, joined.
func (s Session) Validate() error {
	f := faults{record: "session"}
	f.want(s.Schema >= 1 && s.Schema <= SessionSchema, "has no schema number that is known")
	f.want(s.ID != "" && !s.Hash.IsZero(), "has no ID or no hash")
	f.want(nameForm.MatchString(s.Operator) && tenantForm.MatchString(s.Tenant) && s.Generation >= 1 && !s.Account.IsZero(), "is no account's")
	f.want(!s.Created.IsZero() && !s.Seen.IsZero() && s.Ends.After(s.Created) && s.Ends.Sub(s.Created) <= maxFor, "lacks a time or lasts too long")
	f.want(s.Idle >= 0 && s.Idle <= maxFor, "has an idle end that is out of range")
	f.want(s.OpenedWith == "" || s.OpenedWith.Valid(), "was opened with a scope that no key has")
	return f.err()
}

// Check decides whether presented opens s at now, a being the account that it
// names as it is now, the zero Account if it is gone. The token is compared
// first, in constant time: only who has it learns why a session is dead. The
// error is [*keys.Unauthenticated].
func (s Session) Check(presented keys.Secret, a Account, now time.Time) (keys.Session, error) {
	dead := func(why string) (keys.Session, error) {
		return keys.Session{}, &keys.Unauthenticated{What: "session", Why: why, ID: s.ID}
	}
	switch {
	case !s.Hash.Opens(presented, keys.SessionToken):
		return keys.Session{}, &keys.Unauthenticated{What: "session", Why: "is not there or its token is wrong; sign in"}
	case !s.Revoked.IsZero():
		return dead("was revoked; sign in again")
	case !now.Before(s.Ends):
		return dead("has ended; sign in again")
	case s.Idle != 0 && now.Sub(s.Seen) >= s.Idle:
		return dead("was idle for too long; sign in again")
	case a.Name != s.Operator || !a.Created.Equal(s.Account) || a.Generation != s.Generation || !a.Disabled.IsZero():
		return dead("has ended with a change of its account; sign in again")
	}
	return keys.Session{Operator: s.Operator, MFA: s.MFA, Ends: s.Ends, OpenedWith: s.OpenedWith}, nil
}

// Touch returns s seen at now, and whether it must be written: once a minute, and
// only where idleness ends it.
func (s Session) Touch(now time.Time) (Session, bool) {
	if s.Idle == 0 || now.Sub(s.Seen) < seenEvery {
		return s, false
	}
	s.Seen = stamp(now)
	return s, true
}

// Revoke returns s revoked at now; the first time stays. Nothing revives it.
func (s Session) Revoke(now time.Time) Session {
	if s.Revoked.IsZero() {
		s.Revoked = stamp(now)
	}
	return s
}

// Over reports whether s can be forgotten: whatever is presented, it opens to
// nobody any more.
func (s Session) Over(now time.Time) bool {
	return !s.Revoked.IsZero() || !now.Before(s.Ends) || s.Idle != 0 && now.Sub(s.Seen) >= s.Idle
}
