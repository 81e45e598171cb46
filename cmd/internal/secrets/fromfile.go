package secrets

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// Files resolves secret://file/PATH: a file at PATH below exactly one of some
// roots. It holds two lines, username and password, or an object
// {"username": ..., "password": ...}; at most 4 KiB. It must be a regular file,
// of root or our own user, that nobody else may read or write. Symbolic links
// lead nowhere out of the root (Kubernetes mounts secrets by links within).
type Files struct {
	roots []string
	key   Key
}

// NewFiles looks below roots, each a folder that only its owner may write to. It
// makes versions by key.
func NewFiles(roots []string, key Key) *Files { return &Files{roots, key} }

// Resolve reads the file. The error is [*Unresolved].
func (f *Files) Resolve(_ context.Context, ref Ref) (Credentials, error) {
	raw, err := f.find(ref)
	if err != nil {
		return Credentials{}, err
	}
	c, err := parseCredentials(raw)
	if err != nil {
		return Credentials{}, &Unresolved{Ref: ref, Why: "the file holds no credentials", Err: err}
	}
	return c.versioned(f.key, ref), nil
}

// find reads the one file of that name. Of two none is taken: who writes below
// one root must not replace what is below another.
func (f *Files) find(ref Ref) ([]byte, error) {
	var found []byte
	var closed error
	for _, root := range f.roots {
		raw, err := readBelow(root, ref)
		switch _, shut := errors.AsType[*shutRoot](err); {
		case shut:
			closed = err
		case err == nil && found != nil:
			return nil, &Unresolved{Ref: ref, Why: "two roots have such a file: remove one"}
		case err == nil:
			found = raw
		case !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR):
			return nil, err
		}
	}
	switch {
	case found != nil:
		return found, nil
	case closed != nil:
		return nil, &Unresolved{Ref: ref, Why: "a root of secret files cannot be used", Err: closed}
	}
	return nil, &Unresolved{Ref: ref, Why: "no root (secrets.roots of the configuration) has such a file", code: "NOT_FOUND"}
}

// A shutRoot reports a root below which nothing is read.
type shutRoot struct {
	root, why string
	err       error
}

func (e *shutRoot) Error() string {
	if e.err != nil {
		return e.root + " " + e.why + ": " + e.err.Error()
	}
	return e.root + " " + e.why
}

func (e *shutRoot) Unwrap() error { return e.err }

// readBelow reads a file below root. What is not there is fs.ErrNotExist or
// ENOTDIR, within an *Unresolved.
func readBelow(root string, ref Ref) ([]byte, error) {
	dir, err := os.OpenRoot(root)
	if err != nil {
		return nil, &shutRoot{root, "does not open", bare(err)}
	}
	defer dir.Close()
	home, err := dir.Stat(".")
	if err != nil {
		return nil, &shutRoot{root, "cannot be looked at", bare(err)}
	}
	if home.Mode().Perm()&0o022 != 0 {
		return nil, &shutRoot{root, "may be written to by others than its owner: take that right away (chmod go-w)", nil}
	}
	// Without O_NONBLOCK, opening a named pipe would wait for a writer.
	f, err := dir.OpenFile(filepath.FromSlash(ref.Name), os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, &Unresolved{Ref: ref, Why: "the file below " + root + " does not open", Err: bare(err)}
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, &Unresolved{Ref: ref, Why: "the file below " + root + " cannot be looked at", Err: bare(err)}
	}
	if why := unfitHere(info, home); why != "" {
		return nil, &Unresolved{Ref: ref, Why: "the file below " + root + " " + why}
	}
	raw, err := io.ReadAll(io.LimitReader(f, maxSpelled+1))
	if err != nil {
		return nil, &Unresolved{Ref: ref, Why: "the file below " + root + " does not read", Err: bare(err)}
	}
	return raw, nil
}

// unfitHere is unfit, but that to root the files of the folder's owner are fit
// too: an administrator looks at what belongs to the daemon's user.
func unfitHere(info, folder fs.FileInfo) string {
	of, ok1 := info.Sys().(*syscall.Stat_t)
	home, ok2 := folder.Sys().(*syscall.Stat_t)
	if ok1 && ok2 && os.Geteuid() == 0 && of.Uid == home.Uid {
		return unfitForm(info)
	}
	return unfit(info)
}
