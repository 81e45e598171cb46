package secrets

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"

	"github.com/ingotmetal/ingot/cmd/internal/whole"
)

// Load reads the master secret from path: a regular file of exactly 32 bytes,
// owned by the caller's user or root, that nobody else may read or write. A
// symbolic link at path is refused. The error is [*BadFile].
func Load(path string) (Master, error) {
	// Without O_NONBLOCK, opening a named pipe would wait for a writer.
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Master{}, &BadFile{Path: path, Why: "is not there: restore it, or create one for a new site", code: "NOT_FOUND"}
	case errors.Is(err, syscall.ELOOP):
		return Master{}, &BadFile{Path: path, Why: "is a symbolic link: name the file itself"}
	case err != nil:
		return Master{}, &BadFile{Path: path, Why: "does not open", Err: bare(err)}
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return Master{}, &BadFile{Path: path, Why: "cannot be looked at", Err: bare(err)}
	}
	if why := unfit(info); why != "" {
		return Master{}, &BadFile{Path: path, Why: why}
	}
	return read(path, f)
}

// unfit says why a secret is not read from such a file, "" if it may be.
func unfit(info fs.FileInfo) string {
	if why := unfitForm(info); why != "" {
		return why
	}
	if owner, ok := info.Sys().(*syscall.Stat_t); !ok || owner.Uid != 0 && int(owner.Uid) != os.Geteuid() {
		return "belongs to another user"
	}
	return ""
}

// unfitForm is unfit whoever the owner is.
func unfitForm(info fs.FileInfo) string {
	switch {
	case !info.Mode().IsRegular():
		return "is not a regular file"
	case info.Mode().Perm()&^0o600 != 0:
		return fmt.Sprintf("has mode %04o: take every right from others and group (chmod 600), and replace the secret if they may have read it", info.Mode().Perm())
	}
	return ""
}

// read wants exactly one secret in f.
func read(path string, f io.Reader) (Master, error) {
	raw, err := io.ReadAll(io.LimitReader(f, Size+1))
	switch {
	case err != nil:
		return Master{}, &BadFile{Path: path, Why: "does not read", Err: bare(err)}
	case len(raw) != Size:
		return Master{}, &BadFile{Path: path, Why: fmt.Sprintf("does not hold exactly %d bytes: restore it", Size)}
	}
	m, err := NewMaster([Size]byte(raw))
	if err != nil {
		return Master{}, &BadFile{Path: path, Why: "holds zeros only: restore it"}
	}
	return m, nil
}

// Create draws a master secret from entropy, which must be a cryptographic
// source, and keeps it at path, mode 0600. The file is there whole and durable
// when Create returns, or not at all; one that is there is never overwritten
// (code CONFLICT). A crash may leave a file beside it whose name begins with a
// dot and ends in .new; remove it. The error is [*BadFile].
func Create(path string, entropy io.Reader) (Master, error) {
	var secret [Size]byte
	if _, err := io.ReadFull(entropy, secret[:]); err != nil {
		return Master{}, &BadFile{Path: path, Why: "there is no entropy for a secret", Err: err}
	}
	m, err := NewMaster(secret)
	if err != nil {
		return Master{}, &BadFile{Path: path, Why: "entropy gave zeros only: it is no cryptographic source"}
	}
	err = whole.New(path, whole.Bytes(secret[:]))
	if _, unsure := errors.AsType[*whole.Unsure](err); unsure {
		return Master{}, &BadFile{Path: path, Why: "was made, but may be lost in a crash; check the disk and load it", Err: bare(err)}
	}
	switch {
	case errors.Is(err, fs.ErrExist):
		return Master{}, &BadFile{Path: path, Why: "is there already and stays as it is: load it", code: "CONFLICT"}
	case err != nil:
		return Master{}, &BadFile{Path: path, Why: "cannot be made", Err: bare(err)}
	}
	return m, nil
}

// bare returns what the system said, without the path, which BadFile names.
func bare(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	if e, ok := errors.AsType[*os.LinkError](err); ok {
		return e.Err
	}
	return err
}
