package httpboot

import (
	"context"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

const (
	kernel = "0123456789"
	script = "#!ipxe\nboot\n"
	etag   = "84d89877f0d4041efb6bf91a16f0248f2fd573e6af05c19f96bedb9f882f7882" // of kernel
)

// staged is when the fixture's files came to be.
func staged() time.Time { return time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC) }

// resolve is a small site: a kernel, a script, and files that cannot be served.
func resolve(_ context.Context, r Request) (Content, error) {
	switch r.Path {
	case "img/vmlinuz":
		return Content{Body: strings.NewReader(kernel), Size: int64(len(kernel)), Digest: etag, Type: TypeOf(r.Path, Data), Modified: staged()}, nil
	case "boot.ipxe":
		return Text(TypeOf(r.Path, Script), []byte(script)), nil
	case "empty":
		return Text("", nil), nil
	case "denied":
		return Content{}, &Denied{"a secret reason"}
	case "later":
		return Content{}, &Unavailable{After: 1500 * time.Millisecond, Err: context.DeadlineExceeded}
	case "slow":
		return Content{}, context.DeadlineExceeded
	case "broken":
		return Content{}, http.ErrBodyNotAllowed // an error that nobody foresaw
	case "short":
		return Content{Body: strings.NewReader("abc"), Size: 4}, nil
	}
	return Content{}, fs.ErrNotExist
}

// ended collects transfers.
type ended struct {
	mu  sync.Mutex
	all []Transfer
}

func (e *ended) add(t Transfer) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.all = append(e.all, t)
}

func (e *ended) last(t testing.TB) Transfer {
	t.Helper()
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.all) == 0 {
		t.Fatal("no transfer ended")
	}
	return e.all[len(e.all)-1]
}

func (e *ended) count() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.all)
}

// serving is a server of h, as NewServer makes it.
func serving(t testing.TB, h *Handler) *httptest.Server {
	t.Helper()
	s := httptest.NewUnstartedServer(nil)
	s.Config = NewServer(h, nil)
	s.Start()
	t.Cleanup(s.Close)
	return s
}
