package httpboot

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// held is a site whose requests wait until they are let go.
func held() (resolve func(context.Context, Request) (Content, error), entered chan struct{}, let func()) {
	entered, gate := make(chan struct{}, 100), make(chan struct{})
	var once sync.Once
	return func(context.Context, Request) (Content, error) {
		entered <- struct{}{}
		<-gate
		return Text("", []byte("x")), nil
	}, entered, func() { once.Do(func() { close(gate) }) }
}

// Who asks for too much at once is told to come again, and may.
func TestLimits(t *testing.T) {
	for name, l := range map[string]Limits{"a client": {PerClient: 2}, "all": {Total: 2}} {
		t.Run(name, func(t *testing.T) {
			resolve, entered, let := held()
			defer let()
			h := &Handler{Resolve: resolve, Limits: l}
			s := serving(t, h)
			var wg sync.WaitGroup
			for range 2 {
				wg.Go(func() {
					r, err := http.Get(s.URL + "/x")
					if err != nil || r.StatusCode != 200 {
						t.Errorf("%v, %v", r, err)
						return
					}
					_ = r.Body.Close()
				})
			}
			<-entered
			<-entered
			for _, method := range []string{"GET", "HEAD"} {
				r, _ := exchange(t, s.Listener.Addr().String(), method+" /x HTTP/1.1\r\nHost: h\r\n\r\n", method)
				if r.StatusCode != 503 || r.Header.Get("Retry-After") != "2" {
					t.Errorf("%s: %d, %v", method, r.StatusCode, r.Header)
				}
			}
			if len(entered) != 0 {
				t.Error("Resolve was asked beyond the limit")
			}
			let()
			wg.Wait()
			r, _ := exchange(t, s.Listener.Addr().String(), "GET /x HTTP/1.1\r\nHost: h\r\n\r\n", "GET")
			if r.StatusCode != 200 || h.busy.all != 0 || len(h.busy.clients) != 0 {
				t.Errorf("afterwards: %d, %d busy, %v", r.StatusCode, h.busy.all, h.busy.clients)
			}
		})
	}
}

// A panic of Resolve gives back what the request held.
func TestPanic(t *testing.T) {
	h := &Handler{Resolve: func(context.Context, Request) (Content, error) { panic(http.ErrAbortHandler) }}
	done := &ended{}
	h.Done = done.add
	s := serving(t, h)
	if r, err := http.Get(s.URL + "/x"); err == nil {
		t.Errorf("%v", r)
	}
	s.Close()
	if h.busy.all != 0 || done.last(t).Status != 500 {
		t.Errorf("%d busy, %+v", h.busy.all, done.last(t))
	}
}

// counted counts the copies that bypass the kernel's sending, and closings.
type counted struct {
	*os.File
	reads, closed *atomic.Int64
}

func (c counted) Read(p []byte) (int, error) { c.reads.Add(1); return c.File.Read(p) }
func (c counted) Close() error               { c.closed.Add(1); return c.File.Close() }

// large makes a file of so many bytes, of which each tells where it is.
func large(t testing.TB, n int) (path string, raw []byte) {
	t.Helper()
	raw = make([]byte, n)
	for i := range raw {
		raw[i] = byte(i>>16 ^ i)
	}
	path = filepath.Join(t.TempDir(), "large")
	must(t, os.WriteFile(path, raw, 0o600))
	return path, raw
}

// A large file comes whole, is sent by the kernel, and is closed once.
func TestLargeFile(t *testing.T) {
	path, raw := large(t, 5<<20+123)
	var reads, closed atomic.Int64
	done := &ended{}
	s := serving(t, &Handler{Done: done.add, Resolve: func(_ context.Context, r Request) (Content, error) {
		f, err := os.Open(path)
		return Content{Body: counted{f, &reads, &closed}, Size: int64(len(raw))}, err
	}})
	r, body := exchange(t, s.Listener.Addr().String(), "GET /x HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n", "GET")
	if body != string(raw) || r.ContentLength != int64(len(raw)) {
		t.Errorf("%d bytes of %d", len(body), len(raw))
	}
	r, body = exchange(t, s.Listener.Addr().String(), "GET /x HTTP/1.1\r\nHost: h\r\nRange: bytes=1048570-3145740\r\nConnection: close\r\n\r\n", "GET")
	if body != string(raw[1048570:3145741]) || r.StatusCode != 206 {
		t.Errorf("%d bytes, %d", len(body), r.StatusCode)
	}
	s.Close()
	if reads.Load() > 4 { // net/http reads the first bytes of an answer itself
		t.Errorf("the file was read %d times", reads.Load())
	}
	if closed.Load() != 2 || done.count() != 2 || done.last(t).Bytes != 3145741-1048570 {
		t.Errorf("closed %d times, %+v", closed.Load(), done.last(t))
	}
}

// A reader that cannot seek is served all the same.
type onlyAt struct{ io.ReaderAt }

func TestReaderAt(t *testing.T) {
	s := serving(t, &Handler{Resolve: func(context.Context, Request) (Content, error) {
		return Content{Body: onlyAt{strings.NewReader(kernel)}, Size: 10}, nil
	}})
	r, body := exchange(t, s.Listener.Addr().String(), "GET /x HTTP/1.1\r\nHost: h\r\nRange: bytes=3-\r\n\r\n", "GET")
	if r.StatusCode != 206 || body != "3456789" {
		t.Errorf("%d %q", r.StatusCode, body)
	}
}

// Who takes nothing is cut off, and its transfer is no whole one.
func TestStall(t *testing.T) {
	path, raw := large(t, 32<<20)
	done := make(chan Transfer, 1)
	s := serving(t, &Handler{Limits: Limits{Stall: 100 * time.Millisecond}, Done: func(t Transfer) { done <- t },
		Resolve: func(context.Context, Request) (Content, error) {
			f, err := os.Open(path)
			return Content{Body: f, Size: int64(len(raw))}, err
		}})
	conn, err := net.Dial("tcp", s.Listener.Addr().String())
	must(t, err)
	defer conn.Close()
	_, err = io.WriteString(conn, "GET /x HTTP/1.1\r\nHost: h\r\n\r\n")
	must(t, err)
	got := <-done
	if !errors.Is(got.Err, os.ErrDeadlineExceeded) || got.Whole() || got.Bytes == 0 || got.Bytes >= int64(len(raw)) || got.Duration > 30*time.Second {
		t.Errorf("%+v", got)
	}
}

// Who breaks off is told of as well.
func TestBreakOff(t *testing.T) {
	path, raw := large(t, 32<<20)
	done := make(chan Transfer, 1)
	s := serving(t, &Handler{Done: func(t Transfer) { done <- t }, Resolve: func(context.Context, Request) (Content, error) {
		f, err := os.Open(path)
		return Content{Body: f, Size: int64(len(raw))}, err
	}})
	conn, err := net.Dial("tcp", s.Listener.Addr().String())
	must(t, err)
	_, err = io.WriteString(conn, "GET /x HTTP/1.1\r\nHost: h\r\n\r\n")
	must(t, err)
	_, err = conn.Read(make([]byte, 100))
	must(t, err)
	must(t, conn.Close())
	if got := <-done; got.Err == nil || got.Whole() {
		t.Errorf("%+v", got)
	}
}

// A file that shrinks while it is sent ends the connection: nobody takes the part for
// the whole.
func TestShrinks(t *testing.T) {
	done := &ended{}
	s := serving(t, &Handler{Done: done.add, Resolve: func(context.Context, Request) (Content, error) {
		return Content{Body: &shrinking{strings.NewReader(strings.Repeat("x", 8<<20)), 0}, Size: 8 << 20}, nil
	}})
	conn, err := net.Dial("tcp", s.Listener.Addr().String())
	must(t, err)
	defer conn.Close()
	_, err = io.WriteString(conn, "GET /x HTTP/1.1\r\nHost: h\r\n\r\n")
	must(t, err)
	r, err := http.ReadResponse(bufio.NewReader(conn), nil)
	must(t, err)
	if n, err := io.Copy(io.Discard, r.Body); err == nil || n >= 8<<20 {
		t.Errorf("%d bytes, %v", n, err)
	}
	s.Close()
	if got := done.last(t); got.Err == nil || got.Whole() {
		t.Errorf("%+v", got)
	}
}

// shrinking ends after 2 MiB.
type shrinking struct {
	*strings.Reader
	n int
}

func (s *shrinking) Read(p []byte) (int, error) {
	if s.n >= 2<<20 {
		return 0, io.EOF
	}
	n, err := s.Reader.Read(p)
	s.n += n
	return n, err
}
func (s *shrinking) WriteTo(io.Writer) (int64, error) { panic("not through io.Copy") }
