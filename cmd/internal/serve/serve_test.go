package serve

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ingotmetal/ingot/cmd/internal/serve/servetest"
)

// A rig is a server in a bubble, a door to it, and what it logged.
type rig struct {
	*Server
	t    *testing.T
	tcp  *servetest.Listener
	unix *servetest.Listener
	logs strings.Builder
	stop context.CancelFunc
	err  chan error
}

// start serves h on a TCP and on a Unix listener, both plain.
func start(t *testing.T, h http.HandlerFunc, s *Server) *rig {
	r := &rig{Server: s, t: t, tcp: servetest.Listen("192.0.2.1:80"), unix: servetest.ListenUnix("/s"), err: make(chan error, 1)}
	s.Handler = h
	s.Log = slog.New(slog.NewTextHandler(&r.logs, nil))
	ctx, cancel := context.WithCancel(context.Background())
	r.stop = cancel
	go func() { r.err <- s.Serve(ctx, Listener{Listener: r.tcp}, Listener{Listener: r.unix}) }()
	return r
}

// end stops the server and returns what Serve returned.
func (r *rig) end() error {
	r.stop()
	return <-r.err
}

func (r *rig) dial(from string) net.Conn {
	r.t.Helper()
	l := r.tcp
	if from == "" {
		l = r.unix
	}
	c, err := l.Dial(context.Background(), from)
	if err != nil {
		r.t.Fatal(err)
	}
	return c
}

// ask sends raw bytes on a connection of their own and returns all that comes back.
func (r *rig) ask(from, raw string) string {
	c := r.dial(from)
	defer c.Close()
	if _, err := io.WriteString(c, raw); err != nil {
		return "write: " + err.Error()
	}
	got, err := io.ReadAll(c)
	if err != nil {
		return "read: " + err.Error()
	}
	return string(got)
}

const get = "GET /a?secret=canary HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n"

func ok(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "fine") }

func TestAnswersAndStops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var states []string
		var done []Done
		r := start(t, ok, &Server{System: System{Notify: func(s string) { states = append(states, s) }}, Done: func(d Done) { done = append(done, d) }})
		if got := r.ask("198.51.100.1:9", get); !strings.HasPrefix(got, "HTTP/1.1 200 OK") || !strings.HasSuffix(got, "fine") {
			t.Error(got)
		}
		if err := r.end(); err != nil {
			t.Error(err)
		}
		if got := strings.Join(states, " "); got != "READY=1 STOPPING=1" {
			t.Error(got)
		}
		if len(done) != 1 || done[0].Status != 200 || done[0].Bytes != 4 {
			t.Errorf("%+v", done)
		}
		log := r.logs.String()
		if strings.Count(log, "msg=request") != 1 || !strings.Contains(log, "target=/a proto=HTTP/1.1 status=200 bytes=4 took=0s source=198.51.100.1") || strings.Contains(log, "canary") {
			t.Error(log)
		}
		if _, err := r.tcp.Dial(t.Context(), "198.51.100.1:9"); !errors.Is(err, net.ErrClosed) {
			t.Errorf("after the stop: %v", err)
		}
	})
}

func TestSlowHeaderIsCut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, ok, &Server{})
		c := r.dial("198.51.100.1:9")
		begin := time.Now()
		gone := make(chan struct{})
		go func() {
			defer close(gone)
			for _, b := range []byte(get) {
				if _, err := c.Write([]byte{b}); err != nil {
					return
				}
				time.Sleep(time.Second)
			}
		}()
		if _, err := io.ReadAll(c); err != nil {
			t.Error(err)
		}
		if took := time.Since(begin); took < 5*time.Second || took > 7*time.Second {
			t.Errorf("cut after %s", took)
		}
		c.Close()
		<-gone
		if err := r.end(); err != nil {
			t.Error(err)
		}
	})
}

func TestGiantHeaderIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, ok, &Server{})
		for size, want := range map[int]string{15 << 10: "HTTP/1.1 200", 64 << 10: "HTTP/1.1 431"} {
			raw := strings.Replace(get, "Host: h", "Host: h\r\nX: "+strings.Repeat("x", size), 1)
			if got := r.ask("198.51.100.1:9", raw); !strings.HasPrefix(got, want) {
				t.Errorf("%d bytes: %.60s", size, got)
			}
		}
		if err := r.end(); err != nil {
			t.Error(err)
		}
	})
}

// A body that arrives at the rate is read whole however long it takes; one that
// does not is cut, whether the handler reads it or not.
func TestSlowBodies(t *testing.T) {
	for name, c := range map[string]struct {
		every time.Duration // between pieces of 4096 bytes
		reads bool
		want  string // of the answer
		cut   bool
	}{
		"fast enough":        {time.Second, true, "read 204800 <nil>", false},
		"slow":               {5 * time.Second, true, "read 8192 serve: the body came too slowly: 8192 bytes", true},
		"slow and not asked": {5 * time.Second, false, "not read", true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := start(t, func(w http.ResponseWriter, r *http.Request) {
					if !c.reads {
						fmt.Fprint(w, "not read")
						return
					}
					n, err := io.Copy(io.Discard, r.Body)
					fmt.Fprintf(w, "read %d %v", n, err)
				}, &Server{Limits: Limits{BodyRate: 4096}})
				got, took, sent := r.slowly(c.every)
				if !strings.Contains(got, c.want) {
					t.Errorf("after %s: %s", took, got)
				}
				if (sent < 50) != c.cut {
					t.Errorf("%d pieces were sent", sent)
				}
				if slow := r.Stats().Slow == 1; slow != (c.cut && c.reads) {
					t.Errorf("%+v", r.Stats())
				}
				if err := r.end(); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// slowly sends a body of 50 pieces and returns the answer and how much was taken.
func (r *rig) slowly(every time.Duration) (answer string, took time.Duration, pieces int) {
	c := r.dial("198.51.100.1:9")
	begin := time.Now()
	sent := make(chan int)
	go func() {
		fmt.Fprintf(c, "POST / HTTP/1.1\r\nHost: h\r\nConnection: close\r\nContent-Length: %d\r\n\r\n", 50*4096)
		n := 0
		for ; n < 50; n++ {
			time.Sleep(every)
			if _, err := c.Write(make([]byte, 4096)); err != nil {
				break
			}
		}
		sent <- n
	}()
	got, _ := io.ReadAll(c)
	took = time.Since(begin)
	c.Close()
	return string(got), took, <-sent
}

func TestConnectionsAreCapped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, ok, &Server{
			Limits:         Limits{Connections: 20, PerSource: 5},
			TrustedProxies: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")},
		})
		open := r.flood(9, "198.51.100.1:9")
		open = append(open, r.flood(9, "[2001:db8::%d]:9")...) // one /64
		open = append(open, r.flood(9, "10.0.0.1:9")...)       // a proxy
		if s := r.Stats(); s.Open != 19 || s.Crowded != 8 || s.Full != 0 || len(open) != 19 {
			t.Errorf("%+v, %d open", s, len(open))
		}
		open = append(open, r.flood(9, "203.0.113.%d:9")...)
		if s := r.Stats(); s.Open != 20 || s.Full != 8 {
			t.Errorf("%+v", s)
		}
		if got := r.ask("", get); !strings.HasSuffix(got, "fine") {
			t.Errorf("the Unix socket during a flood: %s", got)
		}
		for _, c := range open {
			c.Close()
		}
		synctest.Wait()
		if s := r.Stats(); s.Open != 0 || len(r.gate.sources) != 0 {
			t.Errorf("%+v, %v", s, r.gate.sources)
		}
		if got := r.ask("198.51.100.1:9", get); !strings.HasSuffix(got, "fine") {
			t.Errorf("after the flood: %s", got)
		}
		if err := r.end(); err != nil {
			t.Error(err)
		}
	})
}

// flood dials n times and returns the connections that were not closed at once.
func (r *rig) flood(n int, from string) []net.Conn {
	var open []net.Conn
	for i := range n {
		addr := from
		if strings.Contains(from, "%d") {
			addr = fmt.Sprintf(from, i+1)
		}
		c := r.dial(addr)
		synctest.Wait()
		_ = c.SetReadDeadline(time.Now().Add(time.Nanosecond))
		if _, err := c.Read(make([]byte, 1)); errors.Is(err, io.EOF) {
			c.Close()
			continue
		}
		open = append(open, c)
	}
	return open
}

func TestIdleConnectionsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, ok, &Server{})
		c := r.dial("198.51.100.1:9")
		fmt.Fprint(c, strings.Replace(get, "Connection: close\r\n", "", 1))
		begin := time.Now()
		if _, err := io.ReadAll(c); err != nil || time.Since(begin) != 60*time.Second {
			t.Errorf("%v after %s", err, time.Since(begin))
		}
		if err := r.end(); err != nil {
			t.Error(err)
		}
	})
}

// A stream that heeds Stopping ends at once, one that does not is cut when the time
// is up, and one that heeds nothing is reported.
func TestStop(t *testing.T) {
	for name, c := range map[string]struct {
		handle http.HandlerFunc
		took   time.Duration // at most a second more: net/http looks from time to time
		stuck  bool
	}{
		"heeds the stop": {func(w http.ResponseWriter, r *http.Request) { <-Stopping(r.Context()) }, 0, false},
		"heeds the cut": {func(w http.ResponseWriter, r *http.Request) {
			<-r.Context().Done()
			if context.Cause(r.Context()) != http.ErrServerClosed {
				panic(context.Cause(r.Context()))
			}
		}, 20 * time.Second, false},
		"is taken over": {func(w http.ResponseWriter, r *http.Request) {
			c, _, err := http.NewResponseController(w).Hijack()
			if err != nil {
				panic(err)
			}
			_, _ = c.Read(make([]byte, 1))
			c.Close()
		}, 20 * time.Second, false},
		"heeds nothing": {func(w http.ResponseWriter, r *http.Request) { time.Sleep(time.Minute) }, 25 * time.Second, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := start(t, c.handle, &Server{})
				conn := r.dial("198.51.100.1:9")
				fmt.Fprint(conn, get)
				synctest.Wait()
				begin := time.Now()
				err := r.end()
				if took := time.Since(begin); took < c.took || took > c.took+time.Second {
					t.Errorf("took %s", took)
				}
				if _, stuck := errors.AsType[*Stuck](err); stuck != c.stuck || !stuck && err != nil {
					t.Error(err)
				}
				if s := r.Stats(); s.Open != 0 || !c.stuck && s.Running != 0 || s.Panics != 0 {
					t.Errorf("%+v", s)
				}
				conn.Close()
				time.Sleep(time.Hour)
			})
		})
	}
}

func TestListenerThatFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, ok, &Server{})
		synctest.Wait()
		r.unix.Close()
		err := <-r.err
		if e, ok := errors.AsType[*Failed](err); !ok || !errors.Is(e, net.ErrClosed) {
			t.Error(err)
		}
		if _, err := r.tcp.Dial(t.Context(), "198.51.100.1:9"); !errors.Is(err, net.ErrClosed) {
			t.Error("the other listener is open")
		}
	})
}

func TestPanicIsAnAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, func(w http.ResponseWriter, r *http.Request) {
			if r.Method == "PUT" {
				fmt.Fprint(w, "half")
				_ = http.NewResponseController(w).Flush()
			}
			panic("boom")
		}, &Server{})
		if got := r.ask("198.51.100.1:9", get); !strings.HasPrefix(got, "HTTP/1.1 500") {
			t.Error(got)
		}
		got := r.ask("198.51.100.1:9", strings.Replace(get, "GET", "PUT", 1))
		if _, err := http.ReadResponse(bufio.NewReader(strings.NewReader(got)), nil); err != nil || strings.HasSuffix(got, "0\r\n\r\n") {
			t.Errorf("half an answer looks whole: %q, %v", got, err)
		}
		if err := r.end(); err != nil || r.Stats().Panics != 2 {
			t.Error(err, r.Stats())
		}
		if log := r.logs.String(); !strings.Contains(log, "panic=boom") || strings.Contains(log, "canary") {
			t.Error(log)
		}
	})
}
