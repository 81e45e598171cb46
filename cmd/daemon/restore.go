package daemon

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"

	"github.com/ingotmetal/ingot/cmd/internal/control"
	"github.com/ingotmetal/ingot/cmd/internal/store/bolt"
	"github.com/ingotmetal/ingot/statemachine/journal"
)

// A Refused is what a daemon does not do. Nothing changed.
type Refused struct {
	code string
	Why  string
	Next string
}

// Code is the error's wire name (API-3).
func (e *Refused) Code() string { return e.code }

// Error says why, and what to do.
func (e *Refused) Error() string { return e.Why + "; " + e.Next }

// Restored is what a restore did.
type Restored struct {
	Head     journal.Head // of the copy
	Machines int          // whose generation was raised
	Voided   int          // claim codes, tokens, bundles, sessions and keys that are dead now
}

// Restore takes a copy of a store, which Backup made, as the site's own, as another
// incarnation: whatever was revoked after the copy was made must not come back to
// life, so every identity's generation is raised, and codes, tokens, undelivered
// bundles, sessions and API keys are void. keepKeys leaves API keys and machines'
// bound keys alive: only where nothing was revoked since.
//
// The site's files must not be there, or lie aside: Restore overwrites none. The
// master secret is not in a copy; without it, what is sealed in the store does not
// open.
func Restore(ctx context.Context, c Config, copied io.Reader, keepKeys bool, out Outside) (Restored, error) {
	if c.Store.Path == "" {
		return Restored{}, &Refused{"UNSUPPORTED", "only a store of kind bolt is restored from a copy", "restore the database with its own tools"}
	}
	for _, path := range []string{c.Store.Path, c.Store.Mark} {
		if _, err := os.Lstat(path); err == nil {
			return Restored{}, &Refused{"CONFLICT", path + " is there", "move it aside, and keep it until the restored site is proven"}
		}
	}
	if _, err := os.Stat(filepath.Join(c.State, masterFile)); err != nil {
		return Restored{}, &Refused{"INVALID_CONFIG", "the master secret " + filepath.Join(c.State, masterFile) + " is missing", "put it there from its own safe place: what is sealed in the copy opens with it alone"}
	}
	if err := land(c.Store.Path, copied); err != nil {
		return Restored{}, err
	}
	r, err := reincarnate(ctx, c, keepKeys, out)
	if err != nil {
		return Restored{}, errors.Join(err, os.Remove(c.Store.Path))
	}
	return r, nil
}

// land writes the copy, durable and proven, where the store is to be.
func land(path string, copied io.Reader) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, copied)
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		_, err = bolt.Verify(path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(path))
	}
	return nil
}

// reincarnate opens the copy as another life of the site.
func reincarnate(ctx context.Context, c Config, keepKeys bool, out Outside) (r Restored, err error) {
	st, err := bolt.Open(c.Store.Path, bolt.Options{Name: c.Site, Mark: c.Store.Mark, Now: out.Now, ResetMark: true})
	if err != nil {
		return Restored{}, err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	door := control.New(control.Config{Store: st, Now: out.Now})
	_, head, err := door.Read(ctx, control.Target{})
	if err != nil {
		return Restored{}, err
	}
	r.Head = head
	r.Machines, r.Voided, err = door.Reincarnate(ctx, control.Draw{Entropy: out.Entropy}, keepKeys)
	return r, err
}
