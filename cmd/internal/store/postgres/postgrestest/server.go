// Package postgrestest starts a PostgreSQL server that belongs to a test: in a
// folder of its own, on a Unix socket alone, as a user without privileges, with
// fsync on. It finds the server's programs in the PATH or where Debian keeps them.
package postgrestest

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

// User is the role that owns everything on a test's server. It needs no password.
const User = "ingot"

// A Server is a PostgreSQL server. One goroutine uses it.
type Server struct {
	dir  string // holds the data, the socket and the log
	conf []string
	as   *syscall.Credential
	pid  int
	gone chan struct{} // closed when the process has ended
}

// Start makes a server and runs it. Each of conf is a setting, name=value. The
// error is *Missing where the programs are not installed.
func Start(conf ...string) (*Server, error) {
	s, err := folder(conf)
	if err != nil {
		return nil, err
	}
	args := []string{"-D", s.data(), "-U", User, "-A", "trust", "-E", "UTF8", "--no-sync"}
	if err := s.command("initdb", append(args, foreign...)...); err != nil {
		os.RemoveAll(s.dir)
		return nil, err
	}
	return s, s.begin()
}

// foreign makes the databases sort as a dictionary does, unlike bytes, so that
// whoever relies on the order of bytes has to ask for it.
var foreign = []string{"--locale-provider=icu", "--icu-locale=en-US", "--locale=C.UTF-8"}

// folder makes the server's folder, which belongs to the user that it runs as. Its
// path is short, since a socket's has about 100 bytes.
func folder(conf []string) (*Server, error) {
	if _, err := program("initdb"); err != nil {
		return nil, err
	}
	as, err := unprivileged()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("/tmp", "pgt")
	if err != nil {
		return nil, err
	}
	s := &Server{dir: dir, conf: conf, as: as, gone: make(chan struct{})}
	if as != nil {
		err = os.Chown(dir, int(as.Uid), int(as.Gid))
	}
	return s, err
}

// Standby makes a server that follows s by streaming replication, and runs it.
func (s *Server) Standby() (*Server, error) {
	f, err := folder(nil)
	if err != nil {
		return nil, err
	}
	if err := f.command("pg_basebackup", "-D", f.data(), "-h", s.dir, "-U", User, "-R", "-X", "stream", "-c", "fast", "--no-sync"); err != nil {
		os.RemoveAll(f.dir)
		return nil, err
	}
	return f, f.begin()
}

// DSN is how to reach a database of the server.
func (s *Server) DSN(database string) string {
	return fmt.Sprintf("host=%s user=%s dbname=%s", s.dir, User, database)
}

// Database makes an empty database for a test, and returns how to reach it.
func (s *Server) Database(t testing.TB) string {
	t.Helper()
	name := fmt.Sprintf("t%d", time.Now().UnixNano())
	if err := s.command("createdb", "-h", s.dir, "-U", User, name); err != nil {
		t.Fatal(err)
	}
	return s.DSN(name)
}

// PID is the process to which signals go.
func (s *Server) PID() int { return s.pid }

// Kill ends the server at once, as a crash would, with whatever is under way.
// Restart brings it back.
func (s *Server) Kill() error { return s.end(syscall.SIGKILL) }

// Restart runs a server that has ended.
func (s *Server) Restart() error {
	s.gone = make(chan struct{})
	return s.begin()
}

// Stop ends the server and removes its folder.
func (s *Server) Stop() error {
	return errors.Join(s.end(syscall.SIGINT), os.RemoveAll(s.dir)) // SIGINT: breaks connections off, but shuts down in order
}

func (s *Server) end(how syscall.Signal) error {
	select {
	case <-s.gone:
		return nil
	default:
	}
	err := syscall.Kill(s.pid, how)
	<-s.gone
	return err
}

// begin runs the server until it answers. One that was killed leaves children who
// end a moment later, and until then the next refuses to begin.
func (s *Server) begin() error {
	var err error
	for range 100 {
		if err = s.launch(); err != nil {
			return err
		}
		if err = s.answers(); err == nil {
			return nil
		}
		s.gone = make(chan struct{})
		time.Sleep(50 * time.Millisecond)
	}
	return err
}

// launch starts the process. A thread of its own waits for it, because the server
// is to end, too, when the thread that started it does: a test that is killed
// leaves no server behind.
func (s *Server) launch() error {
	args := []string{"-D", s.data(), "-k", s.dir, "-c", "listen_addresses="}
	for _, c := range s.conf {
		args = append(args, "-c", c)
	}
	cmd, err := s.prepare("postgres", args...)
	if err != nil {
		return err
	}
	log, err := os.OpenFile(s.log(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr.Pdeathsig = syscall.SIGINT
	started := make(chan error)
	gone := s.gone
	go func() {
		defer close(gone)
		runtime.LockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			_ = cmd.Wait() // that it ended is all that counts
		}
	}()
	if err := <-started; err != nil {
		return err
	}
	s.pid = cmd.Process.Pid
	return nil
}

// answers waits until the server takes connections. An error means that it ended.
func (s *Server) answers() error {
	for range 600 {
		if s.command("pg_isready", "-q", "-h", s.dir, "-U", User) == nil {
			return nil
		}
		select {
		case <-s.gone:
			said, _ := os.ReadFile(s.log())
			return fmt.Errorf("postgrestest: the server ended: %s", said[max(0, len(said)-500):])
		case <-time.After(50 * time.Millisecond):
		}
	}
	return errors.Join(errors.New("postgrestest: the server does not answer"), s.end(syscall.SIGKILL))
}

func (s *Server) data() string { return filepath.Join(s.dir, "data") }

func (s *Server) log() string { return filepath.Join(s.dir, "log") }

// command runs one of the server's programs to its end.
func (s *Server) command(name string, args ...string) error {
	cmd, err := s.prepare(name, args...)
	if err != nil {
		return err
	}
	if said, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("postgrestest: %s: %w: %s", name, err, bytes.TrimSpace(said))
	}
	return nil
}

// prepare is a command in the server's folder and under its user, with nothing of
// the caller's environment that points to another server.
func (s *Server) prepare(name string, args ...string) (*exec.Cmd, error) {
	path, err := program(name)
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(path, args...)
	cmd.Dir = s.dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: s.as, Setpgid: true}
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "PG") {
			cmd.Env = append(cmd.Env, v)
		}
	}
	return cmd, nil
}
