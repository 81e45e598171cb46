package secrets

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// A Resolver finds what a reference names. Each call looks anew, so that a
// changed secret is found without a restart. It is safe for concurrent use, ends
// when ctx does, and puts no secret into an error.
type Resolver interface {
	Resolve(ctx context.Context, ref Ref) (Credentials, error)
}

// Resolvers resolves each kind of reference by its own Resolver. Do not change
// it while it is used.
type Resolvers map[string]Resolver

// Resolve asks the kind's resolver, and takes whole answers alone. The error is
// [*Unresolved] or the resolver's.
func (rs Resolvers) Resolve(ctx context.Context, ref Ref) (Credentials, error) {
	r := rs[ref.Kind]
	if r == nil {
		known := slices.Sorted(maps.Keys(rs))
		return Credentials{}, &Unresolved{Ref: ref, Why: fmt.Sprintf("nothing here resolves this kind of reference; known: %s (secrets of the configuration)", strings.Join(known, ", "))}
	}
	if err := ctx.Err(); err != nil {
		return Credentials{}, err
	}
	c, err := r.Resolve(ctx, ref)
	if err != nil {
		return Credentials{}, err
	}
	if c.Username == "" || c.Password.IsZero() || c.Version == "" {
		return Credentials{}, &Unresolved{Ref: ref, Why: "its resolver gave no username, no password or no version"}
	}
	return c, nil
}

// Source returns what resolves ref each time that it is asked: the late
// resolving that a session with a BMC wants.
func (rs Resolvers) Source(ref Ref) Source { return Source{ref, rs} }

// A Source is one reference and what resolves it.
type Source struct {
	ref  Ref
	from Resolver
}

// Ref is the reference.
func (s Source) Ref() Ref { return s.ref }

// Credentials resolves the reference now. Keep the result no longer than a
// sign-in needs it. The errors are those of [Resolvers.Resolve].
func (s Source) Credentials(ctx context.Context) (Credentials, error) {
	if s.from == nil {
		return Credentials{}, &Unresolved{Ref: s.ref, Why: "there is nothing to resolve it by"}
	}
	return s.from.Resolve(ctx, s.ref)
}

// DrawKey returns a key that is known to this process alone, for the versions of
// secrets that have none of their own. entropy must be a cryptographic source.
func DrawKey(entropy io.Reader) (Key, error) {
	var drawn [Size]byte
	if _, err := io.ReadFull(entropy, drawn[:]); err != nil {
		return Key{}, fmt.Errorf("secrets: no entropy for a key: %w", err)
	}
	return Key{reveal: func() [Size]byte { return drawn }}, nil
}

// versioned returns c with a version that k makes of it. The reference goes in
// too, so that nobody sees whether two machines have the same password.
func (c Credentials) versioned(k Key, ref Ref) Credentials {
	var text []byte
	for _, part := range []string{ref.String(), c.Username, c.Password.Show()} {
		text = binary.BigEndian.AppendUint32(text, uint32(len(part)))
		text = append(text, part...)
	}
	mac := k.MAC(text)
	c.Version = hex.EncodeToString(mac[:16])
	return c
}

// An Unresolved reports a reference that gives no credentials now. It never
// carries any.
type Unresolved struct {
	Ref  Ref
	Why  string
	Err  error // the system's, or nil
	code string
}

// Error says which, what is wrong and what would do.
func (e *Unresolved) Error() string {
	s := fmt.Sprintf("secrets: %s: %s", e.Ref, e.Why)
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

// Unwrap is the system's error.
func (e *Unresolved) Unwrap() error { return e.Err }

// Code is the error's wire name (API-3): NOT_FOUND where what it names is not
// there, else INVALID_CONFIG.
func (e *Unresolved) Code() string {
	if e.code == "" {
		return "INVALID_CONFIG"
	}
	return e.code
}
