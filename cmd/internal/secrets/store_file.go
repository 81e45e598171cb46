package secrets

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"filippo.io/age"

	"github.com/ingotmetal/ingot/cmd/internal/whole"
)

// mark is how much of a file's beginning tells it from every other: each
// encryption begins with a point of its own.
const mark = 512

// opened is the last file that was read, so that 10,000 sign-ins do not decrypt
// it 10,000 times.
type opened struct {
	head []byte
	size int64
	book book
}

// load returns what the store holds, nothing where there is no file. A rotation
// of the key replaces two files one after the other, so a file that does not
// open is read again.
func (s *Store) load() (book, error) {
	var err error
	for range 3 {
		var b book
		if b, err = s.loadOnce(); err == nil {
			return b, nil
		}
		if _, again := errors.AsType[*Unreadable](err); !again {
			return nil, err
		}
	}
	return nil, err
}

func (s *Store) loadOnce() (book, error) {
	f, err := openFit(s.path)
	if isAbsent(err) {
		return book{}, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, &BadFile{Path: s.path, Why: "cannot be looked at", Err: bare(err)}
	}
	head, err := io.ReadAll(io.LimitReader(f, mark))
	if err != nil {
		return nil, &BadFile{Path: s.path, Why: "does not read", Err: bare(err)}
	}
	if b := s.remembered(head, info.Size()); b != nil {
		return b, nil
	}
	rest, err := io.ReadAll(io.LimitReader(f, maxStore-mark+1))
	if err != nil || len(rest) > maxStore-mark {
		return nil, &BadFile{Path: s.path, Why: "does not read, or is larger than a store", Err: bare(err)}
	}
	ids, err := s.identities()
	if isAbsent(err) {
		return nil, &BadFile{Path: s.identity, Why: "is not there, and " + s.path + " opens by it alone: restore it"}
	}
	if err != nil {
		return nil, err
	}
	b, err := decode(append(bytes.Clone(head), rest...), ids)
	if err != nil {
		return nil, &BadFile{Path: s.path, Why: "is not read with the identities of " + s.identity, Err: err}
	}
	s.remember(opened{head, int64(len(head) + len(rest)), b})
	return b, nil
}

func (s *Store) remembered(head []byte, size int64) book {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.last.size != size || !bytes.Equal(s.last.head, head) {
		return nil
	}
	return s.last.book
}

func (s *Store) remember(o opened) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last = o
}

// change edits the content under the lock and keeps it, if edit says that there
// is something to keep.
func (s *Store) change(ctx context.Context, edit func(book) (bool, error)) error {
	unlock, err := lockFile(ctx, s.path+".lock")
	if err != nil {
		return err
	}
	defer unlock()
	b, err := s.load()
	if err != nil {
		return err
	}
	b = maps.Clone(b)
	changed, err := edit(b)
	if err != nil {
		return err
	}
	if !changed { // what is there may be of a call that could not make it durable
		return s.durable()
	}
	ids, err := s.identities()
	if isAbsent(err) {
		if ids, err = s.found(); err != nil {
			return err
		}
	}
	if err != nil {
		return err
	}
	return s.save(b, ids)
}

// durable makes the names of both files so.
func (s *Store) durable() error {
	for _, path := range []string{s.identity, s.path} {
		if err := whole.SyncName(path); err != nil {
			return &BadFile{Path: path, Why: "may be lost in a crash; check the disk", Err: bare(err)}
		}
	}
	return nil
}

// found makes the first identity of a store that is not there yet.
func (s *Store) found() (Identities, error) {
	id, err := age.GenerateX25519Identity()
	if err != nil {
		return Identities{}, &BadFile{Path: s.identity, Why: "there is no entropy for an identity", Err: err}
	}
	if err := s.keep(s.identity, whole.New, []byte(id.String()+"\n")); err != nil {
		return Identities{}, err
	}
	return s.identities()
}

func (s *Store) save(b book, to Identities) error {
	raw, err := b.encode(to)
	if err != nil {
		return err
	}
	if len(raw) > maxStore {
		return &BadFile{Path: s.path, Why: "would be larger than a store may be"}
	}
	if _, err := decode(raw, to); err != nil { // it is about to be all that there is
		return &BadFile{Path: s.path, Why: "would not be read again, and stays as it is", Err: err}
	}
	return s.keep(s.path, whole.Replace, raw)
}

// keep makes a file of the folder's owner.
func (s *Store) keep(path string, place func(string, func(*os.File) error) error, content []byte) error {
	err := place(path, func(f *os.File) error {
		return errors.Join(give(f), whole.Bytes(content)(f))
	})
	if _, unsure := errors.AsType[*whole.Unsure](err); unsure {
		return &BadFile{Path: path, Why: "was changed, but that may be lost in a crash; check the disk and do it again", Err: bare(err)}
	}
	if err != nil {
		return &BadFile{Path: path, Why: "cannot be made", Err: bare(err)}
	}
	return nil
}

// RotateKey encrypts the store to a new identity and forgets the others. After a
// crash midway the store opens as before or by the new one: both are in the file
// of identities until the store is encrypted anew. What was encrypted to the old
// one, such as copies, still opens by it: whoever has both has the passwords.
// The error is [*BadFile] or ctx's.
func (s *Store) RotateKey(ctx context.Context) error {
	unlock, err := lockFile(ctx, s.path+".lock")
	if err != nil {
		return err
	}
	defer unlock()
	b, err := s.load()
	if err != nil {
		return err
	}
	old, err := s.identityText()
	if err != nil {
		return err
	}
	id, err := age.GenerateX25519Identity()
	if err != nil {
		return &BadFile{Path: s.identity, Why: "there is no entropy for an identity", Err: err}
	}
	alone := []byte(id.String() + "\n")
	if err := s.keep(s.identity, whole.Replace, append(bytes.Clone(alone), old...)); err != nil {
		return err
	}
	if err := s.save(b, Identities{reveal: func() []age.Identity { return []age.Identity{id} }}); err != nil {
		return err
	}
	return s.keep(s.identity, whole.Replace, alone)
}

func (s *Store) identities() (Identities, error) {
	text, err := s.identityText()
	if err != nil {
		return Identities{}, err
	}
	ids, err := ParseIdentities(strings.NewReader(string(text)))
	if err != nil {
		return Identities{}, &BadFile{Path: s.identity, Why: "holds no identities that can be used", Err: err}
	}
	return ids, nil
}

func (s *Store) identityText() ([]byte, error) {
	f, err := openFit(s.identity)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxKeyText+1))
	if err != nil {
		return nil, &BadFile{Path: s.identity, Why: "does not read", Err: bare(err)}
	}
	return text, nil
}

// isAbsent reports whether a file to read is not there.
func isAbsent(err error) bool {
	bad, ok := errors.AsType[*BadFile](err)
	return ok && bad.code == "NOT_FOUND"
}

// openFit opens a file that is fit for a secret. The error is [*BadFile].
func openFit(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, &BadFile{Path: path, Why: "is not there", code: "NOT_FOUND"}
	case errors.Is(err, syscall.ELOOP):
		return nil, &BadFile{Path: path, Why: "is a symbolic link: name the file itself"}
	case err != nil:
		return nil, &BadFile{Path: path, Why: "does not open", Err: bare(err)}
	}
	info, err1 := f.Stat()
	home, err2 := os.Stat(filepath.Dir(path))
	if err := errors.Join(err1, err2); err != nil {
		return nil, errors.Join(&BadFile{Path: path, Why: "cannot be looked at", Err: bare(err)}, f.Close())
	}
	if why := unfitHere(info, home); why != "" {
		return nil, errors.Join(&BadFile{Path: path, Why: why}, f.Close())
	}
	return f, nil
}

// give makes a file that root made the folder's owner's: the daemon must read
// what an administrator put there.
func give(f *os.File) error {
	if os.Geteuid() != 0 {
		return nil
	}
	home, err := os.Stat(filepath.Dir(f.Name()))
	if err != nil {
		return err
	}
	owner, ok := home.Sys().(*syscall.Stat_t)
	if !ok || owner.Uid == 0 {
		return nil
	}
	return f.Chown(int(owner.Uid), int(owner.Gid))
}

// How long another process may hold the lock, and how often it is tried.
const (
	lockLimit = 10 * time.Second
	lockEvery = 20 * time.Millisecond
)

// lockFile waits for the lock, at most 10 s. A process that ends lets it go.
func lockFile(ctx context.Context, path string) (unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, &BadFile{Path: path, Why: "cannot be made", Err: bare(err)}
	}
	err = give(f)
	if err == nil {
		err = waitLock(ctx, f)
	}
	if err == nil {
		return func() { _ = f.Close() }, nil
	}
	if ctx.Err() != nil {
		return nil, errors.Join(ctx.Err(), f.Close())
	}
	if errors.Is(err, syscall.EWOULDBLOCK) {
		err = &BadFile{Path: path, Why: "another process has been changing the store for 10 s: end it, or try again", code: "UNAVAILABLE"}
	} else {
		err = &BadFile{Path: path, Why: "does not lock", Err: bare(err)}
	}
	return nil, errors.Join(err, f.Close())
}

func waitLock(ctx context.Context, f *os.File) error {
	ctx, done := context.WithTimeout(ctx, lockLimit)
	defer done()
	tick := time.NewTicker(lockEvery)
	defer tick.Stop()
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if !errors.Is(err, syscall.EWOULDBLOCK) {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-tick.C:
		}
	}
}
