package keys

import (
	"crypto/subtle"
	"errors"
	"fmt"
	"time"
)

// A Key is what the control plane keeps of an API key: facts, no secret. A
// method never changes the Key it is called on.
type Key struct {
	ID         string // Secret.ID; what operators see (REG-6)
	Hash       Hash
	Scope      Scope
	Node       string    // for Agent, the node it is bound to; else ""
	Generation uint64    // for Agent, the node's key generation that it was minted in
	Created    time.Time // never zero
	Consumed   time.Time // when it was acknowledged or first used; then its plaintext is gone (REG-6)
	Revoked    time.Time // when it died; zero while it lives
}

// NewKey returns the row of a key that secret opens, for node where scope is
// Agent. The error is [*Invalid].
func NewKey(secret Secret, scope Scope, node string, generation uint64, now time.Time) (Key, error) {
	k := Key{
		ID: secret.ID(), Hash: secret.Hash(), Scope: scope,
		Node: node, Generation: generation, Created: now,
	}
	if secret.Kind() != APIKey {
		return Key{}, &Invalid{What: "secret", Why: fmt.Sprintf("is of kind %q, want %q", secret.Kind(), APIKey)}
	}
	if err := k.Validate(); err != nil {
		return Key{}, err
	}
	return k, nil
}

// Validate reports every fact that cannot be, joined.
func (k Key) Validate() error {
	var errs []error
	bad := func(what, why string) { errs = append(errs, &Invalid{What: what, Why: why}) }
	if k.ID == "" || k.Hash.IsZero() {
		bad("key", "has no ID or no hash")
	}
	if !k.Scope.Valid() {
		bad("scope", fmt.Sprintf("%q is none of %q", k.Scope, Scopes()))
	}
	if (k.Scope == Agent) != (k.Node != "") {
		bad("node", "belongs to a key of scope agent and to no other (REG-15)")
	}
	if k.Scope != Agent && k.Generation != 0 {
		bad("generation", "belongs to a key of scope agent and to no other")
	}
	if k.Created.IsZero() {
		bad("created", "is not set")
	}
	return errors.Join(errs...)
}

// Check compares presented with k, in constant time, before it looks at anything
// else: only who has the secret learns that the key is dead. A key below the
// generation `least` is dead though nothing revoked it; 0 asks for none. The
// error is [*Unauthenticated].
func (k Key) Check(presented Secret, least uint64) error {
	switch {
	case !k.Hash.Opens(presented, APIKey):
		return &Unauthenticated{What: "key", Why: "is wrong"}
	case !k.Revoked.IsZero():
		return &Unauthenticated{What: "key", Why: "was revoked", ID: k.ID}
	case k.Generation < least:
		return &Unauthenticated{What: "key", Why: "is of an earlier generation", ID: k.ID}
	}
	return nil
}

// Opens reports, in constant time, whether s is the secret of kind behind h. The
// zero Hash opens to nothing.
func (h Hash) Opens(s Secret, kind Kind) bool {
	got := s.Hash()
	return subtle.ConstantTimeCompare(h[:], got[:]) == 1 && !s.IsZero() && s.Kind() == kind
}

// Caller returns who asks by k. Check it first.
func (k Key) Caller() Caller { return Caller{Scope: k.Scope, Node: k.Node} }

// Consume returns k consumed at now; the first time stays.
func (k Key) Consume(now time.Time) Key {
	if k.Consumed.IsZero() {
		k.Consumed = now
	}
	return k
}

// Revoke returns k revoked at now; the first time stays. Nothing revives a key.
func (k Key) Revoke(now time.Time) Key {
	if k.Revoked.IsZero() {
		k.Revoked = now
	}
	return k
}

// PollTTL is how long an agent may poll with one token (REG-6).
const PollTTL = time.Hour

// A Poll is what a row keeps of its agent's poll token (REG-2, REG-6). The zero
// Poll opens to no token. To end one early (REG-4, REG-11) write the zero Poll.
type Poll struct {
	Hash    Hash
	Expires time.Time // the first instant at which the token is dead
}

// NewPoll returns the row of a token given out at now. The error is [*Invalid].
func NewPoll(token Secret, now time.Time) (Poll, error) {
	if token.Kind() != PollToken {
		return Poll{}, &Invalid{What: "token", Why: fmt.Sprintf("is of kind %q, want %q", token.Kind(), PollToken)}
	}
	return Poll{token.Hash(), now.Add(PollTTL)}, nil
}

// Check decides whether presented may poll at now. The error is
// [*Unauthenticated] (EDGE-17).
func (p Poll) Check(presented Secret, now time.Time) error {
	switch {
	case !p.Hash.Opens(presented, PollToken):
		return &Unauthenticated{What: "poll token", Why: "is wrong or void; register again"}
	case !now.Before(p.Expires):
		return &Unauthenticated{What: "poll token", Why: "has ended; register again"}
	}
	return nil
}

// An Unauthenticated reports credentials that prove nobody. It never carries
// what was presented.
type Unauthenticated struct {
	What string // "key", "poll token", "session" or "secret"
	Why  string
	ID   string // the key's ID, where its secret was right
}

// Error says what does not count and why.
func (e *Unauthenticated) Error() string {
	if e.ID != "" {
		return "keys: " + e.What + " " + e.ID + " " + e.Why
	}
	return "keys: " + e.What + " " + e.Why
}

// Code is the error's wire name (API-3).
func (e *Unauthenticated) Code() string { return "UNAUTHENTICATED" }

// An Invalid reports facts from which no key can be made.
type Invalid struct {
	What, Why string
}

// Error says what is wrong and what would do.
func (e *Invalid) Error() string { return "keys: " + e.What + ": " + e.Why }

// Code is the error's wire name (API-3).
func (e *Invalid) Code() string { return "INVALID_INPUT" }
