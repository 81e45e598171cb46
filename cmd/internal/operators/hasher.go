package operators

import (
	"cmp"
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"sync"

	"golang.org/x/crypto/argon2"
)

// A Hashing says what passwords cost and how many are hashed at a time. A zero
// field takes its default.
type Hashing struct {
	Cost   Cost
	AtOnce int // hashes at once, each with Cost.Memory; default 2, at most 64
	Queue  int // passwords that may wait beside them; default 16, at most 1024
}

func (h Hashing) filled() Hashing {
	return Hashing{h.Cost.filled(), cmp.Or(h.AtOnce, 2), cmp.Or(h.Queue, 16)}
}

// Validate reports every field that is out of range, joined.
func (h Hashing) Validate() error {
	errs := []error{h.Cost.Validate()}
	if h.AtOnce < 0 || h.AtOnce > 64 {
		errs = append(errs, &Invalid{"Hashing.AtOnce", fmt.Sprintf("is %d, want 0 to 64", h.AtOnce)})
	}
	if h.Queue < 0 || h.Queue > 1024 {
		errs = append(errs, &Invalid{"Hashing.Queue", fmt.Sprintf("is %d, want 0 to 1024", h.Queue)})
	}
	return errors.Join(errs...)
}

// A Hasher hashes and checks passwords, few at a time. It is safe for concurrent
// use.
type Hasher struct {
	redacted
	opts    Hashing
	places  chan struct{} // one for each that is hashed or waits
	slots   chan struct{} // one for each that is hashed
	mu      sync.Mutex    // entropy is read by one at a time
	entropy io.Reader
	derive  func(password, salt []byte, time, memory uint32, threads uint8, size uint32) []byte
}

// NewHasher returns a hasher that draws salts from entropy, a cryptographic
// source. The error is that of Validate.
func NewHasher(opts Hashing, entropy io.Reader) (*Hasher, error) {
	if err := opts.Validate(); err != nil {
		return nil, err
	}
	opts = opts.filled()
	return &Hasher{
		opts: opts, entropy: entropy, derive: argon2.IDKey,
		slots: make(chan struct{}, opts.AtOnce), places: make(chan struct{}, opts.AtOnce+opts.Queue),
	}, nil
}

// Hash returns the password of the account name at rest. The error is [*Invalid]
// where it is not Acceptable, [*Busy], ctx's or entropy's.
func (h *Hasher) Hash(ctx context.Context, name string, p Password) (PHC, error) {
	if err := p.Acceptable(name); err != nil {
		return "", err
	}
	out := hashed{cost: h.opts.Cost, salt: make([]byte, saltSize)}
	if err := h.draw(out.salt); err != nil {
		return "", err
	}
	raw, _ := p.raw()
	var err error
	if out.sum, err = h.run(ctx, raw, out, sumSize); err != nil {
		return "", err
	}
	return out.phc(), nil
}

func (h *Hasher) draw(salt []byte) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if _, err := io.ReadFull(h.entropy, salt); err != nil {
		return fmt.Errorf("operators: no entropy for a salt: %w", err)
	}
	return nil
}

// Check reports whether p is the password of kept, and whether it should be
// hashed anew since the cost has been changed. It hashes once whatever kept is:
// where it is no password, for a password that nobody has. The error is [*Busy]
// or ctx's.
func (h *Hasher) Check(ctx context.Context, kept PHC, p Password) (match, outdated bool, err error) {
	want, bad := kept.parse()
	if bad != nil {
		want = hashed{h.opts.Cost, make([]byte, saltSize), make([]byte, sumSize)}
	}
	raw, fits := p.raw()
	sum, err := h.run(ctx, raw, want, uint32(len(want.sum)))
	if err != nil {
		return false, false, err
	}
	match = subtle.ConstantTimeCompare(sum, want.sum) == 1 && fits && bad == nil
	return match, match && (want.cost != h.opts.Cost || len(want.sum) != sumSize || len(want.salt) != saltSize), nil
}

// run derives with of's cost and salt as soon as there is a slot.
func (h *Hasher) run(ctx context.Context, password []byte, of hashed, size uint32) ([]byte, error) {
	select {
	case h.places <- struct{}{}:
	default:
		return nil, &Busy{h.opts.Queue}
	}
	defer func() { <-h.places }()
	select {
	case h.slots <- struct{}{}:
	case <-ctx.Done():
		return nil, fmt.Errorf("operators: a password waited for its turn: %w", context.Cause(ctx))
	}
	defer func() { <-h.slots }()
	return h.derive(password, of.salt, of.cost.Time, of.cost.Memory, of.cost.Threads, size), nil
}
