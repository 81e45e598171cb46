package servetest

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestPipe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := Pipe(tcp("192.0.2.1:1"), tcp("192.0.2.2:2"))
		if a.LocalAddr().String() != "192.0.2.1:1" || a.RemoteAddr().String() != b.LocalAddr().String() {
			t.Error("addresses")
		}
		text := strings.Repeat("0123456789", window/4)
		wrote := make(chan error, 1)
		go func() {
			_, err := io.WriteString(a, text)
			a.Close()
			wrote <- err
		}()
		synctest.Wait() // the writer waits: the window is full
		got, err := io.ReadAll(b)
		if err != nil || string(got) != text || <-wrote != nil {
			t.Errorf("%d bytes, %v", len(got), err)
		}
		if _, err := b.Write([]byte("x")); !errors.Is(err, io.ErrClosedPipe) {
			t.Errorf("to a closed end: %v", err)
		}
		if _, err := a.Read(make([]byte, 1)); !errors.Is(err, net.ErrClosed) {
			t.Errorf("from the closed end: %v", err)
		}
	})
}

func TestDeadlines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, _ := Pipe(tcp("192.0.2.1:1"), tcp("192.0.2.2:2"))
		start := time.Now()
		_ = a.SetDeadline(start.Add(time.Minute))
		if _, err := a.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) || time.Since(start) != time.Minute {
			t.Errorf("read: %v after %s", err, time.Since(start))
		}
		_ = a.SetWriteDeadline(time.Now().Add(time.Minute))
		if n, err := a.Write(make([]byte, window+1)); n != window || !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("write: %d, %v", n, err)
		}
	})
}

func TestListener(t *testing.T) {
	l := Listen("192.0.2.1:80")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := l.Dial(ctx, "192.0.2.9:1"); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	go l.Dial(t.Context(), "192.0.2.9:1")
	c, err := l.Accept()
	if err != nil || c.RemoteAddr().String() != "192.0.2.9:1" || c.LocalAddr() != l.Addr() {
		t.Error(c, err)
	}
	l.Close()
	l.Close()
	if _, err := l.Accept(); !errors.Is(err, net.ErrClosed) {
		t.Error(err)
	}
	if _, err := l.Dial(t.Context(), "192.0.2.9:1"); !errors.Is(err, net.ErrClosed) {
		t.Error(err)
	}
}
