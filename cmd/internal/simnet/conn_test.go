package simnet_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ingotmetal/ingot/cmd/internal/simnet"
)

// in runs a test on a net in a bubble.
func in(t *testing.T, o simnet.Options, f func(t *testing.T, n *simnet.Net)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		n := simnet.New(1, o)
		defer n.Close()
		f(t, n)
	})
}

// slow is a rule that only delays, by ten milliseconds.
func slow() simnet.Options {
	return simnet.Options{Rule: simnet.Rule{Latency: simnet.Span{Min: 10 * time.Millisecond}}}
}

// connect joins the hosts "a" and "b" by a stream.
func connect(t *testing.T, n *simnet.Net) (a, b *simnet.Conn) {
	t.Helper()
	l, err := n.Listen("tcp", "b:80")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c, err := n.Host("a").DialContext(t.Context(), "tcp", "b:80")
	if err != nil {
		t.Fatal(err)
	}
	s, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	return c.(*simnet.Conn), s.(*simnet.Conn)
}

// wants fails the test unless err is want and, if that is a deadline, says so to
// callers who know net.Error only.
func wants(t *testing.T, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("got %v, want %v", err, want)
	}
	var ne net.Error
	if errors.Is(want, os.ErrDeadlineExceeded) && (!errors.As(err, &ne) || !ne.Timeout()) {
		t.Errorf("%v is no timeout", err)
	}
}

func send(t *testing.T, c net.Conn, s string) {
	t.Helper()
	if k, err := c.Write([]byte(s)); k != len(s) || err != nil {
		t.Fatal(k, err)
	}
}

func recv(t *testing.T, c net.Conn, want string) {
	t.Helper()
	b := make([]byte, len(want))
	if _, err := io.ReadFull(c, b); err != nil || string(b) != want {
		t.Fatalf("read %q, %v; want %q", b, err, want)
	}
}

func reading(c net.Conn) error {
	_, err := c.Read(make([]byte, 100))
	return err
}

func TestBytesArriveAfterTheLatency(t *testing.T) {
	in(t, slow(), func(t *testing.T, n *simnet.Net) {
		start := time.Now()
		a, b := connect(t, n)
		if d := time.Since(start); d != 20*time.Millisecond {
			t.Errorf("connected after %s", d)
		}
		send(t, a, "one ")
		send(t, a, "two")
		recv(t, b, "one two")
		if d := time.Since(start); d != 30*time.Millisecond {
			t.Errorf("read after %s", d)
		}
		send(t, b, "three")
		recv(t, a, "three")
		if a.LocalAddr().String() != b.RemoteAddr().String() || b.LocalAddr().String() != a.RemoteAddr().String() {
			t.Errorf("%s-%s and %s-%s", a.LocalAddr(), a.RemoteAddr(), b.LocalAddr(), b.RemoteAddr())
		}
		if p := a.RemoteAddr().(*net.TCPAddr).AddrPort(); p.Addr() != n.Host("b").Addr() || p.Port() != 80 {
			t.Errorf("the remote is %s", p)
		}
	})
}

func TestClosing(t *testing.T) {
	in(t, slow(), func(t *testing.T, n *simnet.Net) {
		a, b := connect(t, n)
		send(t, a, "last")
		if err := a.CloseWrite(); err != nil {
			t.Error(err)
		}
		_, err := a.Write([]byte("more"))
		wants(t, err, syscall.EPIPE)
		recv(t, b, "last")
		wants(t, reading(b), io.EOF)
		send(t, b, "answer")
		b.Close()
		recv(t, a, "answer")
		wants(t, reading(a), io.EOF)
		wants(t, reading(b), net.ErrClosed)
		wants(t, b.Close(), net.ErrClosed)
		a.Close()
	})
}

func TestCloseWithUnreadBytesResets(t *testing.T) {
	in(t, slow(), func(t *testing.T, n *simnet.Net) {
		a, b := connect(t, n)
		send(t, a, "nobody reads this")
		time.Sleep(time.Second)
		send(t, b, "nor gets this")
		b.Close()
		wants(t, reading(a), syscall.ECONNRESET)
		_, err := a.Write([]byte("x"))
		wants(t, err, syscall.ECONNRESET)
	})
}

func TestWritingToAClosedPeerResets(t *testing.T) {
	in(t, slow(), func(t *testing.T, n *simnet.Net) {
		a, b := connect(t, n)
		b.Close()
		send(t, a, "x")
		time.Sleep(time.Second)
		_, err := a.Write([]byte("y"))
		wants(t, err, syscall.ECONNRESET)
	})
}

func TestReset(t *testing.T) {
	in(t, slow(), func(t *testing.T, n *simnet.Net) {
		a, b := connect(t, n)
		send(t, a, "lost")
		a.Reset()
		wants(t, reading(b), syscall.ECONNRESET)
		wants(t, reading(a), net.ErrClosed)
	})
}

func TestReadDeadline(t *testing.T) {
	in(t, slow(), func(t *testing.T, n *simnet.Net) {
		a, b := connect(t, n)
		start := time.Now()
		a.SetReadDeadline(start.Add(time.Minute))
		a.SetReadDeadline(start.Add(time.Second))
		wants(t, reading(a), os.ErrDeadlineExceeded)
		wants(t, reading(a), os.ErrDeadlineExceeded)
		if d := time.Since(start); d != time.Second {
			t.Errorf("after %s", d)
		}
		send(t, a, "writing is not reading")
		recv(t, b, "writing is not reading")
		a.SetReadDeadline(time.Time{})
		send(t, b, "again")
		recv(t, a, "again")
		go func() {
			time.Sleep(time.Second)
			a.SetDeadline(time.Unix(1, 0)) // long ago: as net/http wakes a reader
		}()
		wants(t, reading(a), os.ErrDeadlineExceeded)
		_, err := a.Write([]byte("x"))
		wants(t, err, os.ErrDeadlineExceeded)
	})
}

func TestWindow(t *testing.T) {
	o := slow()
	o.Window = 1000
	in(t, o, func(t *testing.T, n *simnet.Net) {
		a, b := connect(t, n)
		a.SetWriteDeadline(time.Now().Add(time.Second))
		k, err := a.Write(make([]byte, 1500))
		wants(t, err, os.ErrDeadlineExceeded)
		if k != 1000 {
			t.Errorf("took %d bytes", k)
		}
		a.SetWriteDeadline(time.Time{})
		sent := make(chan error)
		go func() { _, err := a.Write(bytes.Repeat([]byte("x"), 5000)); a.CloseWrite(); sent <- err }()
		got, err := io.ReadAll(b)
		if len(got) != 6000 || err != nil {
			t.Errorf("read %d bytes, %v", len(got), err)
		}
		if err := <-sent; err != nil {
			t.Error(err)
		}
		if n.Counts()[simnet.Credit] < 5 {
			t.Errorf("counts %v", n.Counts())
		}
	})
}

func TestDialsThatFail(t *testing.T) {
	in(t, slow(), func(t *testing.T, n *simnet.Net) {
		dial := func(ctx context.Context, address string) error {
			_, err := n.DialContext(ctx, "tcp", address)
			return err
		}
		n.Host("b")
		wants(t, dial(t.Context(), "b:80"), syscall.ECONNREFUSED)
		var dns *net.DNSError
		if err := dial(t.Context(), "nobody:80"); !errors.As(err, &dns) || !dns.IsNotFound {
			t.Error(err)
		}
		if err := dial(t.Context(), "b"); err == nil {
			t.Error("an address without a port")
		}
		n.Cut("outside", "b")
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		wants(t, dial(ctx, "b:80"), context.DeadlineExceeded)
		wants(t, dial(ctx, "b:80"), context.DeadlineExceeded)
		start := time.Now()
		wants(t, dial(t.Context(), "b:80"), syscall.ETIMEDOUT)
		if d := time.Since(start); d != 127*time.Second {
			t.Errorf("gave up after %s", d)
		}
	})
}

func TestListeners(t *testing.T) {
	in(t, slow(), func(t *testing.T, n *simnet.Net) {
		l, err := n.Listen("tcp", "b:80")
		if err != nil {
			t.Fatal(err)
		}
		_, err = n.Listen("tcp", "b:80")
		wants(t, err, syscall.EADDRINUSE)
		free, err := n.Host("b").Listen("tcp", ":0")
		if err != nil {
			t.Fatal(err)
		}
		c, err := n.DialContext(t.Context(), "tcp", free.Addr().String()) // by address, not by name
		if err != nil {
			t.Fatal(err)
		}
		free.Close() // before anybody accepted
		wants(t, reading(c), syscall.ECONNRESET)
		go func() { time.Sleep(time.Second); l.Close() }()
		_, err = l.Accept()
		wants(t, err, net.ErrClosed)
		wants(t, l.Close(), net.ErrClosed)
		if l, err = n.Listen("tcp", "b:80"); err != nil {
			t.Fatal(err)
		}
		n.Close()
		_, err = l.Accept()
		wants(t, err, net.ErrClosed)
		_, err = n.DialContext(t.Context(), "tcp", "b:80")
		wants(t, err, net.ErrClosed)
	})
}
