package httpboot

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// A request with too much before its content, or none that can be read, is refused.
func serverBounds(t *testing.T) {
	done := &ended{}
	s := serving(t, &Handler{Resolve: resolve, Done: done.add})
	address := s.Listener.Addr().String()
	for text, want := range map[string]int{
		"GET /boot.ipxe HTTP/1.1\r\nHost: h\r\nX: " + strings.Repeat("x", MaxHeader-100) + "\r\n\r\n":  200,
		"GET /boot.ipxe HTTP/1.1\r\nHost: h\r\nX: " + strings.Repeat("x", MaxHeader+4096) + "\r\n\r\n": 431,
		"GET /boot.ipxe HTTP/1.0\r\n\r\n":           200,
		"GET boot.ipxe HTTP/1.1\r\nHost: h\r\n\r\n": 400,
		"GET /boot.ipxe HTTP/1.1\r\n\r\n":           400,
		"GET /%zz HTTP/1.1\r\nHost: h\r\n\r\n":      400,
		"x\r\n\r\n":                                 400,
	} {
		if r, _ := exchange(t, address, text, "GET"); r.StatusCode != want || r.Header.Get("Server") != "" {
			t.Errorf("%.60q: %d, want %d", text, r.StatusCode, want)
		}
	}
	if done.count() != 2 {
		t.Errorf("%d of them reached the handler", done.count())
	}
	if s.Config.ReadHeaderTimeout != HeaderTimeout || s.Config.IdleTimeout != IdleTimeout || s.Config.WriteTimeout != 0 || s.Config.ReadTimeout != 0 {
		t.Errorf("%+v", s.Config)
	}
}

// A connection is kept, whatever was answered on it.
func keepAlive(t *testing.T) {
	s := serving(t, &Handler{Resolve: resolve})
	conn, err := net.Dial("tcp", s.Listener.Addr().String())
	must(t, err)
	defer conn.Close()
	in := bufio.NewReader(conn)
	for _, c := range []struct {
		line   string
		status int
	}{
		{"GET /img/vmlinuz", 200}, {"HEAD /nowhere", 404}, {"GET /nowhere", 404}, {"HEAD /img/vmlinuz", 200},
		{"DELETE /img/vmlinuz", 405}, {"GET /later", 503}, {"GET /boot.ipxe", 200},
	} {
		_, err := io.WriteString(conn, c.line+" HTTP/1.1\r\nHost: h\r\n\r\n")
		must(t, err)
		method, _, _ := strings.Cut(c.line, " ")
		r, err := http.ReadResponse(in, &http.Request{Method: method})
		if err != nil || r.StatusCode != c.status || r.Close {
			t.Fatalf("%s: %+v, %v", c.line, r, err)
		}
		_, err = io.Copy(io.Discard, r.Body)
		must(t, err)
	}
}

// A body that is announced and does not come holds nothing.
func bodies(t *testing.T) {
	s := serving(t, &Handler{Resolve: resolve})
	for _, text := range []string{
		"POST /boot.ipxe HTTP/1.1\r\nHost: h\r\nContent-Length: 100000\r\n\r\n",
		"GET /boot.ipxe HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n",
	} {
		conn, err := net.Dial("tcp", s.Listener.Addr().String())
		must(t, err)
		must(t, conn.SetDeadline(time.Now().Add(time.Minute)))
		start := time.Now()
		_, err = io.WriteString(conn, text)
		must(t, err)
		if raw, err := io.ReadAll(conn); err != nil || !strings.HasPrefix(string(raw), "HTTP/1.1 ") || time.Since(start) > HeaderTimeout {
			t.Errorf("%q, %v after %s", raw, err, time.Since(start))
		}
		must(t, conn.Close())
	}
}
