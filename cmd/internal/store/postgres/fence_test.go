package postgres_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/ingotmetal/ingot/cmd/internal/store"
	"github.com/ingotmetal/ingot/cmd/internal/store/postgres"
)

// is reports whether err is a T.
func is[T error](err error) bool {
	_, ok := errors.AsType[T](err)
	return ok
}

// within fails the test unless c is closed soon.
func within(t *testing.T, what string, c <-chan struct{}) {
	t.Helper()
	select {
	case <-c:
	case <-time.After(20 * time.Second):
		t.Fatalf("%s: not within 20s", what)
	}
}

func TestSecondWriterIsRefused(t *testing.T) {
	o := options(t)
	s := open(t, o)
	second := o
	second.Writer = "second"
	_, err := postgres.Open(t.Context(), second)
	if busy, ok := errors.AsType[*postgres.Busy](err); !ok || busy.Holder.Writer != "first" || busy.Holder.Fence != 1 {
		t.Fatalf("a second writer: %v", err)
	}
	if _, err := put(t.Context(), s, "k", "v"); err != nil {
		t.Errorf("the first one after that: %v", err)
	}
}

func TestSecondWriterWaits(t *testing.T) {
	o := options(t)
	s := open(t, o)
	second := o
	second.Writer, second.Wait = "second", true
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := postgres.Open(ctx, second); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a wait that was broken off: %v", err)
	}
	opened := make(chan *postgres.Store, 1)
	go func() {
		s, err := postgres.Open(t.Context(), second)
		if err != nil {
			t.Error(err)
		}
		opened <- s
	}()
	for n := range 5 {
		if _, err := put(t.Context(), s, "k", fmt.Sprint(n)); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	next := <-opened
	defer next.Close()
	if rev, err := put(t.Context(), next, "k", "second"); err != nil || rev != 6 {
		t.Errorf("the second: revision %d, %v", rev, err)
	}
}

// A writer whose fence was raised behind its back, though its connection and its
// lock are whole, can commit nothing: the commit itself is refused.
func TestFenceRefusesTheCommit(t *testing.T) {
	o := options(t)
	for what, fn := range map[string]func(store.Tx) error{
		"a write": func(tx store.Tx) error {
			tx.Put("k", []byte("late"))
			tx.Log(told("late"))
			return nil
		},
		"a refusal that rests on memory": func(tx store.Tx) error {
			_, _ = tx.Get("k")
			return errors.New("refused")
		},
		"a read": func(tx store.Tx) error {
			_, _ = tx.Get("k")
			return nil
		},
	} {
		s := open(t, o)
		if _, err := put(t.Context(), s, "k", "in time"); err != nil {
			t.Fatal(err)
		}
		ask(t, o.DSN, `update ingot.fence set number = number + 1, writer = 'second'`)
		_, err := s.Update(t.Context(), fn)
		fenced, ok := errors.AsType[*postgres.Fenced](err)
		if !ok || !is[*store.Unavailable](err) || fenced.Now.Writer != "second" || fenced.Now.Fence != fenced.Mine+1 {
			t.Fatalf("%s: %v", what, err)
		}
		within(t, "Failed", s.Failed())
		if !is[*postgres.Fenced](s.Err()) {
			t.Errorf("%s: the store has stopped with %v", what, s.Err())
		}
		if got := ask(t, o.DSN, `select convert_from(v, 'utf8') from ingot.rows where k = 'k'`); got != "in time" {
			t.Errorf("%s: the row is %q", what, got)
		}
		s.Close()
	}
}

// A writer notices that it was fenced off while it has nothing to write.
func TestFenceIsWatched(t *testing.T) {
	o := options(t)
	o.Lease = 2 * time.Second
	s := open(t, o)
	ask(t, o.DSN, `update ingot.fence set number = number + 1, writer = 'second'`)
	within(t, "Failed", s.Failed())
	within(t, "Changed", s.Changed(99))
	if err := s.View(t.Context(), func(store.Reader) error { return nil }); !is[*store.Unavailable](err) {
		t.Errorf("a view: %v", err)
	}
}

// A closure that takes longer than the lease, as in a process that stands still
// within a transaction, does not keep the second from taking over.
func TestStandstillWithinATransaction(t *testing.T) {
	o := options(t)
	o.Lease, o.Cache = 2*time.Second, 1 // no memory: reading opens the transaction
	first := open(t, o)
	second := o
	second.Wait, second.Writer = true, "second"
	reading, free := make(chan struct{}), make(chan struct{})
	release := sync.OnceFunc(func() { close(free) })
	t.Cleanup(release) // before the store is closed, which waits for the update
	done := make(chan error, 1)
	go func() {
		_, err := first.Update(t.Context(), func(tx store.Tx) error {
			_, _ = tx.Get("k")
			close(reading)
			<-free
			tx.Put("k", []byte("first"))
			tx.Log(told("first"))
			return nil
		})
		done <- err
	}()
	<-reading
	next := open(t, second)
	if _, err := put(t.Context(), next, "k", "second"); err != nil {
		t.Fatal(err)
	}
	release()
	if err := <-done; !is[*store.Unavailable](err) {
		t.Errorf("the first: %v", err)
	}
	within(t, "Failed", first.Failed())
	if !is[*postgres.Fenced](first.Err()) {
		t.Errorf("the first has stopped with %v", first.Err())
	}
	if got := get(t, next, "k"); got != "second" {
		t.Errorf("the row is the %s's", got)
	}
}

// TestPausedProcess stops a writing process with SIGSTOP, has another take over, and
// lets the first go on.
func TestPausedProcess(t *testing.T) {
	o := options(t)
	o.Lease = time.Second
	first := spawn(t, o)
	if got := first.ask("one"); got != "1 <nil>" {
		t.Fatalf("the first, before: %s", got)
	}
	if err := first.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	second := o
	second.Wait, second.Writer = true, "second"
	s := open(t, second)
	if rev, err := put(t.Context(), s, "k", "two"); err != nil || rev != 2 {
		t.Fatal(rev, err)
	}
	if err := first.cmd.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	got := first.ask("three")
	if !strings.Contains(got, "now second") {
		t.Errorf("the first, after: %s", got)
	}
	if got := get(t, s, "k"); got != "two" {
		t.Errorf("the row is %q", got)
	}
	if rev, err := put(t.Context(), s, "k", "four"); err != nil || rev != 3 {
		t.Errorf("the second, after: %d, %v", rev, err)
	}
}

// child is a process that writes what it is told to.
type child struct {
	t   *testing.T
	cmd *exec.Cmd
	in  io.Writer
	out *bufio.Scanner
}

const childEnv = "POSTGRES_TEST_WRITER"

// spawn runs this test binary as a writer.
func spawn(t *testing.T, o postgres.Options) *child {
	cmd := exec.Command(os.Args[0], "-test.run=^TestChild$")
	cmd.Env = append(os.Environ(), childEnv+"="+o.DSN)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // stopped or not
		_ = cmd.Wait()
	})
	return &child{t, cmd, in, bufio.NewScanner(out)}
}

// ask has the child write a value and returns what came of it.
func (c *child) ask(val string) string {
	if _, err := fmt.Fprintln(c.in, val); err != nil {
		c.t.Fatal(err)
	}
	if !c.out.Scan() {
		c.t.Fatal("the child has ended")
	}
	return c.out.Text()
}

// TestChild is the child's side of spawn, and does nothing in the parent.
func TestChild(t *testing.T) {
	dsn := os.Getenv(childEnv)
	if dsn == "" {
		return
	}
	s, err := postgres.Open(t.Context(), postgres.Options{DSN: dsn, Log: "site", Writer: "first", Lease: time.Second})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Close()
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		rev, err := put(t.Context(), s, "k", in.Text())
		if !is[*postgres.Fenced](err) && s.Err() == nil && err != nil {
			<-s.Failed() // the connection broke first; the reason comes with the watch
			err = s.Err()
		}
		fmt.Println(rev, err)
	}
}
