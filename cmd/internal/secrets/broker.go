package secrets

import (
	"context"
	"errors"
)

// A Broker takes the credentials that a caller hands in inline, ahead of any
// write, and gives a reference to keep instead (PROV-9). The zero Broker is none.
type Broker struct {
	store *Store
}

// NewBroker returns a broker that keeps what it takes in a store.
func NewBroker(s *Store) Broker { return Broker{s} }

// Keep keeps a pair under a name, durable when it returns. Asked again with the
// same pair it changes nothing; with another one it is refused, code CONFLICT,
// so draw a name for each machine and ask again by the same one. The error is
// [*NoBroker] or that of [Store.Put].
func (b Broker) Keep(ctx context.Context, name, username string, password Password) (Kept, error) {
	if b.store == nil {
		return Kept{}, &NoBroker{}
	}
	return b.store.keepNew(ctx, name, username, password)
}

// Forget undoes a Keep whose commit failed afterwards: what that very call made
// is deleted, what was there before or was changed since stays. One that was
// forgotten is no error. Callers of one name must not overlap: else one may
// forget what the other has committed to. The error is [*NoBroker], [*Refused],
// [*BadFile] or ctx's.
func (b Broker) Forget(ctx context.Context, k Kept) error {
	if b.store == nil {
		return &NoBroker{}
	}
	if !k.Changed {
		return nil
	}
	return b.store.change(ctx, func(in book) (bool, error) {
		e, known := in[k.Ref.Name]
		if !known || e.now.Version != k.Version || e.pending() {
			return false, nil
		}
		delete(in, k.Ref.Name)
		return true, nil
	})
}

// Discard deletes what was kept, once nothing refers to it. What is there no more is no
// error. The error is [*NoBroker] or that of [Store.Delete].
func (b Broker) Discard(ctx context.Context, ref Ref) error {
	if b.store == nil {
		return &NoBroker{}
	}
	err := b.store.Delete(ctx, ref.Name)
	if e, ok := errors.AsType[*Refused](err); ok && e.Code() == "NOT_FOUND" {
		return nil
	}
	return err
}

// A NoBroker reports inline credentials where nobody takes them.
type NoBroker struct{}

// Error says what would do.
func (e *NoBroker) Error() string {
	return "secrets: no secret broker is configured: name a file by secrets.store in the configuration, or give a secret:// reference instead of a username and password"
}

// Code is the error's wire name (API-3).
func (e *NoBroker) Code() string { return "INVALID_CONFIG" }
