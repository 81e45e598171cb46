package host

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/ingotmetal/ingot/cmd/api"
	"github.com/ingotmetal/ingot/cmd/internal/sessions"
	"github.com/ingotmetal/ingot/cmd/internal/whole"
)

// A Root is the root password of the machine that noded runs on, as shadow(5) keeps it.
type Root struct {
	Shadow string // /etc/shadow
	Lock   string // /etc/.pwd.lock, see lckpwdf(3)
	// Note is a file that remembers the digest of the hash that was set, so that what an
	// operator clears is taken back, and a password that somebody else set is not.
	Note string
	Now  func() time.Time
	Log  *slog.Logger
}

// Set makes hash the root password (BOOT-3), if it is not. An empty hash says that the
// operator has set none: a password that Set wrote is then locked, and any other stays.
// The file is replaced whole, with its mode, owner and labels, under the lock that
// passwd(1) takes too. A machine without the file has no password to set. The error is
// *NoShadow, *sessions.NoHash, or ctx's.
func (r Root) Set(ctx context.Context, hash api.Secret) error {
	if hash != "" {
		if err := sessions.CheckRoot(hash); err != nil {
			return err
		}
	}
	if _, err := os.Lstat(r.Shadow); errors.Is(err, fs.ErrNotExist) {
		r.Log.Debug("no root password is set: there is no file for it", "file", r.Shadow)
		return nil
	}
	release, err := lock(ctx, r.Lock)
	if err != nil {
		return err
	}
	defer release()
	if hash == "" {
		return r.clear()
	}
	if err := r.remember(hash); err != nil { // before, so that it is never forgotten after
		return &NoShadow{"is left alone, since what is set cannot be remembered: " + err.Error()}
	}
	return r.write(hash.Show(), "the root password is the operator's now")
}

// clear locks the password, if it is the one that was set here.
func (r Root) clear() error {
	noted, err := os.ReadFile(r.Note)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return &NoShadow{"is left alone, since what was set cannot be read: " + err.Error()}
	}
	file, err := r.read()
	if err != nil {
		return err
	}
	_, _, password, err := entry(file)
	if err != nil {
		return err
	}
	if digest(password) == string(bytes.TrimSpace(noted)) {
		if err := r.write(locked, "the operator cleared the root password, and it is locked"); err != nil {
			return err
		}
	}
	return os.Remove(r.Note)
}

// digest stands for a hash where the hash need not be.
func digest(hash string) string {
	sum := sha256.Sum256([]byte(hash))
	return hex.EncodeToString(sum[:])
}

func (r Root) remember(hash api.Secret) error {
	want := digest(hash.Show())
	if noted, err := os.ReadFile(r.Note); err == nil && string(bytes.TrimSpace(noted)) == want {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(r.Note), 0o700); err != nil {
		return err
	}
	return whole.Replace(r.Note, whole.Bytes([]byte(want+"\n")))
}

// read reads the file, which must be one of its own.
func (r Root) read() ([]byte, error) {
	info, err := os.Lstat(r.Shadow)
	if err != nil {
		return nil, &NoShadow{"cannot be read: " + err.Error()}
	}
	if !info.Mode().IsRegular() {
		return nil, &NoShadow{"is no regular file, and what it stands for is not known"}
	}
	f, err := os.Open(r.Shadow)
	if err != nil {
		return nil, &NoShadow{"cannot be read: " + err.Error()}
	}
	defer f.Close()
	raw, err := io.ReadAll(io.LimitReader(f, maxShadow+1))
	if err != nil {
		return nil, &NoShadow{"cannot be read: " + err.Error()}
	}
	return raw, nil
}

// write sets the password, if it is another.
func (r Root) write(password, done string) error {
	file, err := r.read()
	if err != nil {
		return err
	}
	next, err := replaced(file, password, r.Now())
	if err != nil || next == nil {
		return err
	}
	err = whole.Replace(r.Shadow, func(f *os.File) error {
		if err := like(f, r.Shadow); err != nil {
			return err
		}
		_, err := f.Write(next)
		return err
	})
	if err != nil {
		return &NoShadow{"cannot be replaced: " + err.Error()}
	}
	r.Log.Info(done, "file", r.Shadow)
	return nil
}
