package secrets

import (
	"context"
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"sync"
)

// maxNames bounds what a store holds, and maxStore its file in bytes.
const (
	maxNames = 50_000
	maxStore = 64 << 20
)

// storeName is a name in a store. It may be a MAC or a UUID.
var storeName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$`)

// A Store keeps credentials by name in one file, encrypted to the first age
// identity of another. Both are of mode 0600 and of the folder's owner. Each
// change replaces the file whole and durable, so that after a crash there is the
// old content or the new; a file beside it whose name begins with a dot and ends
// in .new may then be removed. Of many processes one changes it at a time, by a
// lock file beside it, which stays.
//
// Who reads the file has nothing; who reads the identities has everything. Keep
// them apart in backups.
//
// It prints as [redacted] and is safe for concurrent use.
type Store struct {
	redacted
	path, identity string

	mu      sync.Mutex // guards what is below
	entropy io.Reader
	last    opened
}

// NewStore returns the store of the two files, which need not be there: the
// first Put makes both. It draws versions from entropy, a cryptographic source,
// but the keys of the encryption from the process's own, since age takes none.
func NewStore(path, identity string, entropy io.Reader) *Store {
	return &Store{path: path, identity: identity, entropy: entropy}
}

// An entry is what a name stands for.
type entry struct {
	now  Credentials
	next Credentials // while a rotation is not confirmed; else without a version
}

func (e entry) pending() bool { return e.next.Version != "" }

// book is what a store holds, by name. One that was read is never changed.
type book map[string]entry

// Kept says what a store has for a name.
type Kept struct {
	Ref     Ref
	Version string
	Changed bool // by this call
}

func storeRef(name string) Ref { return Ref{KindStore, name} }

// Resolve returns what is in force for secret://store/NAME: during a rotation
// the old credentials. The error is [*Unresolved] or [*BadFile].
func (s *Store) Resolve(ctx context.Context, ref Ref) (Credentials, error) {
	now, _, err := s.Rotation(ctx, ref)
	return now, err
}

// Rotation returns the credentials in force and those that are to replace them,
// which have no Version where there are none. After a crash nobody knows which
// of the two the BMC has: try next first, then now, each once, and Confirm or
// RollBack. The error is [*Unresolved] or [*BadFile].
func (s *Store) Rotation(_ context.Context, ref Ref) (now, next Credentials, err error) {
	if ref.Kind != KindStore || !storeName.MatchString(ref.Name) {
		return now, next, &Unresolved{Ref: ref, Why: "want secret://store/NAME with 1-128 letters, digits and . _ : -, first a letter or digit"}
	}
	b, err := s.load()
	if err != nil {
		return now, next, err
	}
	e, ok := b[ref.Name]
	if !ok {
		return now, next, &Unresolved{Ref: ref, Why: "the store " + s.path + " has no such name", code: "NOT_FOUND"}
	}
	return e.now, e.next, nil
}

// A Listed is a name of a store, without what it stands for.
type Listed struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	Pending string `json:"pending,omitzero"` // version that waits for Confirm or RollBack
}

// List returns the names in their order. The error is [*BadFile].
func (s *Store) List(context.Context) ([]Listed, error) {
	b, err := s.load()
	out := make([]Listed, 0, len(b))
	for _, name := range slices.Sorted(maps.Keys(b)) {
		out = append(out, Listed{name, b[name].now.Version, b[name].next.Version})
	}
	return out, err
}

// Put sets a name, as a new version where username or password change. A name
// with a rotation that is not confirmed is refused, code CONFLICT. The error is
// [*Refused], [*Invalid], [*BadFile], ctx's or entropy's.
func (s *Store) Put(ctx context.Context, name, username string, password Password) (Kept, error) {
	return s.set(ctx, name, username, password, func(e *entry, c Credentials) error {
		e.now = c
		return nil
	})
}

// keepNew is Put that replaces nothing.
func (s *Store) keepNew(ctx context.Context, name, username string, password Password) (Kept, error) {
	return s.set(ctx, name, username, password, func(e *entry, c Credentials) error {
		if e.now.Version != "" {
			return &Refused{name, "is kept with other credentials: change them by a rotation, or take another name", "CONFLICT"}
		}
		e.now = c
		return nil
	})
}

// set puts credentials into a name's entry by place, with a version of their
// own. What is in force already is left alone.
func (s *Store) set(ctx context.Context, name, username string, password Password, place func(*entry, Credentials) error) (Kept, error) {
	c := Credentials{Username: username, Password: password}
	if err := checkKept(name, c); err != nil {
		return Kept{}, err
	}
	k := Kept{Ref: storeRef(name)}
	err := s.change(ctx, func(b book) (bool, error) {
		e, known := b[name]
		k.Version = e.now.Version
		switch {
		case known && e.now.same(c):
			return false, nil
		case e.pending():
			return false, &Refused{name, "has a rotation that is not confirmed: confirm it or roll it back", "CONFLICT"}
		case !known && len(b) >= maxNames:
			return false, &Refused{name, fmt.Sprintf("is one too many: a store has at most %d names", maxNames), "UNAVAILABLE"}
		}
		var err error
		if c.Version, err = s.draw(); err == nil {
			err = place(&e, c)
		}
		b[name], k.Version, k.Changed = e, c.Version, true
		return true, err
	})
	if err != nil {
		return Kept{}, err
	}
	return k, nil
}

func checkKept(name string, c Credentials) error {
	if !storeName.MatchString(name) {
		return &Invalid{"name", "wants 1-128 letters, digits and . _ : -, first a letter or digit"}
	}
	if c.Password.IsZero() {
		return &Invalid{"password", "is not there"}
	}
	return checkUsername(c.Username)
}

// draw returns a version: random, so that it tells nothing.
func (s *Store) draw() (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var b [16]byte
	if _, err := io.ReadFull(s.entropy, b[:]); err != nil {
		return "", fmt.Errorf("secrets: no entropy for a version: %w", err)
	}
	return hex.EncodeToString(b[:]), nil
}

// Delete forgets a name. The error is [*Refused], with the code NOT_FOUND where
// there is no such name and CONFLICT during a rotation, or [*BadFile] or ctx's.
func (s *Store) Delete(ctx context.Context, name string) error {
	return s.change(ctx, func(b book) (bool, error) {
		e, known := b[name]
		switch {
		case !known:
			return false, absent(name)
		case e.pending():
			return false, &Refused{name, "has a rotation that is not confirmed: confirm it or roll it back", "CONFLICT"}
		}
		delete(b, name)
		return true, nil
	})
}

func absent(name string) error { return &Refused{name, "is no name of the store", "NOT_FOUND"} }

// A Refused reports what a store does not do with a name. Nothing changed.
type Refused struct {
	Name, Why string
	code      string
}

// Error says which name, why, and what would do.
func (e *Refused) Error() string { return fmt.Sprintf("secrets: %.128q %s", e.Name, e.Why) }

// Code is the error's wire name (API-3).
func (e *Refused) Code() string { return e.code }
