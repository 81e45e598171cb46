package serve

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"syscall"
)

// A UnixSocket makes a socket file that is never there with a wrong mode, and takes
// the place only of a socket that nobody answers.
type UnixSocket struct {
	Path string
	Mode fs.FileMode // permission bits
	GID  int         // group of the file; 0 keeps the process's own
	// Listen and Dial are net.Listen and net.Dial.
	Listen func(network, address string) (net.Listener, error)
	Dial   func(network, address string) (net.Conn, error)
}

// Open makes the socket. The folder is made with mode 0755 where it is missing.
func (u UnixSocket) Open() (net.Listener, error) {
	if err := os.MkdirAll(filepath.Dir(u.Path), 0o755); err != nil {
		return nil, &Socket{u.Path, "its folder cannot be made", err}
	}
	if err := u.vacant(); err != nil {
		return nil, err
	}
	// Nobody but us gets into this folder, so the socket is seen only once it
	// has been moved out of it, with its mode and group.
	private, err := os.MkdirTemp(filepath.Dir(u.Path), ".s")
	if err != nil {
		return nil, &Socket{u.Path, "no folder can be made beside it", err}
	}
	defer os.RemoveAll(private)
	return u.place(filepath.Join(private, "s"))
}

func (u UnixSocket) place(at string) (net.Listener, error) {
	l, err := u.Listen("unix", at)
	if err != nil {
		return nil, &Socket{u.Path, "cannot be listened on", err}
	}
	if ul, ok := l.(*net.UnixListener); ok {
		ul.SetUnlinkOnClose(false) // it would remove the path it was made at
	}
	err = os.Chmod(at, u.Mode)
	if err == nil && u.GID != 0 {
		err = os.Chown(at, -1, u.GID)
	}
	var made fs.FileInfo
	if err == nil {
		made, err = os.Lstat(at)
	}
	if err == nil {
		err = os.Rename(at, u.Path)
	}
	if err != nil {
		return nil, errors.Join(&Socket{u.Path, "cannot be put in place", err}, l.Close())
	}
	return &socketFile{l, u.Path, made}, nil
}

// vacant removes nothing: what may be replaced is replaced by the rename.
func (u UnixSocket) vacant() error {
	fi, err := os.Lstat(u.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return &Socket{u.Path, "cannot be looked at", err}
	case fi.Mode().Type() != fs.ModeSocket:
		return &Socket{u.Path, "is there and is no socket; move it away", nil}
	}
	c, err := u.Dial("unix", u.Path)
	switch {
	case err == nil:
		return errors.Join(&Socket{u.Path, "another process answers there; stop it first", nil}, c.Close())
	case !errors.Is(err, syscall.ECONNREFUSED):
		return &Socket{u.Path, "nobody can tell whether another process is there", err}
	}
	return nil
}

// A socketFile removes its file when it is closed, unless another is there by now.
type socketFile struct {
	net.Listener
	path string
	made fs.FileInfo
}

// Close ends the listener and removes its file.
func (s *socketFile) Close() error {
	if fi, err := os.Lstat(s.path); err == nil && os.SameFile(fi, s.made) {
		_ = os.Remove(s.path) // a file that stays is stale, and replaced at the next start
	}
	return s.Listener.Close()
}
