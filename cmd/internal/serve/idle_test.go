package serve

import (
	"bufio"
	"context"
	"net"
	"net/http"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"
)

// TestIdleConnectionsStayFlat keeps a thousand connections over loopback that have
// asked once, and asks on them again: what they cost does not grow, and when they
// are gone nothing is left.
func TestIdleConnectionsStayFlat(t *testing.T) {
	const n = 1000
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	before := measure()
	s := &Server{Handler: http.HandlerFunc(ok), Limits: Limits{PerSource: n}}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx, Listener{Listener: l}) }()
	conns := make([]net.Conn, n)
	for i := range conns {
		if conns[i], err = net.Dial("tcp", l.Addr().String()); err != nil {
			if os.Getenv("INGOT_TEST_ALL") == "1" {
				t.Fatal(err)
			}
			t.Skip("this machine does not let a test open 1,000 connections: raise ulimit -n; ", err)
		}
	}
	askAll(t, conns)
	first := measure()
	for range 3 {
		askAll(t, conns)
	}
	last := measure()
	for _, c := range conns {
		c.Close()
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	after := measure()
	t.Logf("a connection: %d bytes, %.2f goroutines; after three more requests each: %d bytes",
		(first.heap-before.heap)/n, float64(first.goroutines-before.goroutines)/n, (last.heap-before.heap)/n)
	if per := (last.heap - before.heap) / n; per > 32<<10 || last.goroutines-before.goroutines > n+20 || last.heap > first.heap+n<<10 {
		t.Errorf("before %+v, first %+v, last %+v", before, first, last)
	}
	if after.goroutines > before.goroutines || s.Stats().Open != 0 {
		t.Errorf("before %+v, after %+v, %+v", before, after, s.Stats())
	}
}

type cost struct{ heap, goroutines int }

func measure() cost {
	time.Sleep(10 * time.Millisecond) // connections of net/http end by themselves
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return cost{int(m.HeapAlloc), runtime.NumGoroutine()}
}

func askAll(t *testing.T, conns []net.Conn) {
	t.Helper()
	for _, c := range conns {
		if _, err := c.Write([]byte(strings.Replace(get, "Connection: close\r\n", "", 1))); err != nil {
			t.Fatal(err)
		}
		res, err := http.ReadResponse(bufio.NewReaderSize(c, 256), nil)
		if err != nil || res.StatusCode != http.StatusOK {
			t.Fatal(res, err)
		}
		res.Body.Close()
	}
}
