package sessions_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/ingotmetal/ingot/cmd/internal/pin"
	"github.com/ingotmetal/ingot/cmd/internal/sessions"
	"github.com/ingotmetal/ingot/liveness/session"
)

func is[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}

// life is a session with an announce and a sentinel, which this end then leaves.
func life(t *testing.T, r *rig) {
	a, heard := r.open(t), ""
	for s := range a.Events() {
		heard += fmt.Sprintf("%T ", s)
		switch s.(type) {
		case session.Welcomed:
			a.Machine().Announce(json.RawMessage(`{"disks":[]}`))
		case session.Announced:
			go func() { // from another goroutine
				if !a.Do(func(m *session.Agent) { m.Sentinel(7) }) {
					t.Error("the session is not open")
				}
			}()
		}
		if d, ok := s.(session.Done); ok {
			if d.Epoch != 7 || d.State != "approved" {
				t.Errorf("%+v", d)
			}
			break
		}
	}
	if heard != "session.Welcomed session.Announced session.Done " || a.Err() != nil {
		t.Errorf("heard %s, %v", heard, a.Err())
	}
	if err := <-r.ended; !is[*sessions.Cut](err) {
		t.Errorf("the server: %v", err)
	}
	if a.Do(func(*session.Agent) {}) {
		t.Error("an ended session does something")
	}
}

func TestLifeInABubble(t *testing.T)      { bubble(t, &sessions.Handler{}, life) }
func TestLifeOverLoopback(t *testing.T)   { loopback(t, &sessions.Handler{}, life) }
func TestHugeFrameInABubble(t *testing.T) { bubble(t, &sessions.Handler{}, huge) }

// The largest sysinfo passes.
func huge(t *testing.T, r *rig) {
	a := r.open(t)
	sysinfo := json.RawMessage(`{"x":"` + strings.Repeat("x", session.MaxSysinfo-8) + `"}`)
	for s := range a.Events() {
		switch s.(type) {
		case session.Welcomed:
			a.Machine().Announce(sysinfo)
		case session.Announced:
			return
		}
	}
	t.Error(a.Err())
}

// Beats keep a session for as long as nobody ends it, and no time passes unseen.
func TestBeats(t *testing.T) {
	bubble(t, &sessions.Handler{}, func(t *testing.T, r *rig) {
		a, beats, from := r.open(t), 0, time.Now()
		for s := range a.Events() {
			if _, ok := s.(session.Beaten); ok {
				if beats++; beats == 1000 {
					break
				}
			}
		}
		if took := time.Since(from); took < 1000*every || took > 1001*every || a.Err() != nil {
			t.Errorf("%d beats in %s, %v", beats, took, a.Err())
		}
	})
}

// A peer that is there no more is noticed by its silence, on both sides.
func TestHalfOpen(t *testing.T) {
	bubble(t, &sessions.Handler{}, func(t *testing.T, r *rig) {
		a, from := r.open(t), time.Time{}
		for s := range a.Events() {
			if _, ok := s.(session.Welcomed); ok {
				from = time.Now()
				r.net.Partition([]string{"node"}, []string{"booter"})
			}
		}
		if took := time.Since(from); took != session.Patience*every || !is[*session.Silent](a.Err()) {
			t.Errorf("the agent waited %s, %v", took, a.Err())
		}
		if err := <-r.ended; time.Since(from) > session.Patience*every+time.Second || !is[*session.Silent](err) {
			t.Errorf("the server waited %s, %v", time.Since(from), err)
		}
	})
}

// A server that stops says so, and waits for nobody.
func TestServerStops(t *testing.T) {
	bubble(t, &sessions.Handler{}, func(t *testing.T, r *rig) {
		a := r.open(t)
		var from time.Time
		for s := range a.Events() {
			if _, ok := s.(session.Welcomed); ok {
				from = time.Now()
				r.stop()
			}
		}
		e, ok := errors.AsType[*session.Ended](a.Err())
		if !ok || e.Code() != "UNAVAILABLE" || time.Since(from) > time.Second {
			t.Errorf("after %s: %v", time.Since(from), a.Err())
		}
	})
}

// An agent whose context ends leaves at once.
func TestAgentStops(t *testing.T) {
	bubble(t, &sessions.Handler{}, func(t *testing.T, r *rig) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		a, err := sessions.Dial(ctx, r.target, r.dial, time.Now)
		if err != nil {
			t.Fatal(err)
		}
		for s := range a.Events() {
			if _, ok := s.(session.Welcomed); ok {
				cancel()
			}
		}
		if !errors.Is(a.Err(), context.Canceled) {
			t.Error(a.Err())
		}
	})
}

// A bye of the server arrives whole, with its code.
func TestBye(t *testing.T) {
	h := &sessions.Handler{Serve: func(_ context.Context, c *sessions.Conn) {
		for e := range c.Events() {
			if _, ok := e.(session.Hello); ok {
				c.Machine().Bye("ACCESS_DENIED", "not you")
			}
		}
	}}
	bubble(t, h, func(t *testing.T, r *rig) {
		a := r.open(t)
		for range a.Events() {
			t.Error("something was said")
		}
		if e, ok := errors.AsType[*session.Ended](a.Err()); !ok || e.Code() != "ACCESS_DENIED" || e.Why != "not you" {
			t.Error(a.Err())
		}
		if err := <-r.ended; err != nil {
			t.Error(err)
		}
	})
}

// raw opens a WebSocket that does as it likes.
func (r *rig) raw(t *testing.T) *websocket.Conn {
	t.Helper()
	conf := pin.Client(pin.Trust{Pins: r.target.Pins}, time.Now)
	conf.NextProtos = nil
	tr := &http.Transport{DialContext: r.dial, TLSClientConfig: conf, DisableKeepAlives: true}
	ws, _, err := websocket.Dial(t.Context(), r.target.URL+sessions.Path, &websocket.DialOptions{HTTPClient: &http.Client{Transport: tr}, Subprotocols: []string{sessions.Subprotocol}})
	if err != nil {
		t.Fatal(err)
	}
	return ws
}

const rawHello = `{"type":"hello","version":1,"server":"` + uuid + `"}`

// What is no frame ends a session: too long, binary, or not of the protocol.
func TestBadFrames(t *testing.T) {
	for name, c := range map[string]struct {
		kind websocket.MessageType
		text string
		code websocket.StatusCode
	}{
		"too long": {websocket.MessageText, `{"type":"hello","x":"` + strings.Repeat("x", session.MaxFrame) + `"}`, websocket.StatusMessageTooBig},
		"binary":   {websocket.MessageBinary, rawHello, websocket.StatusProtocolError},
		"no JSON":  {websocket.MessageText, `x`, websocket.StatusProtocolError},
		"no turn":  {websocket.MessageText, `{"type":"beat"}`, websocket.StatusProtocolError},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, &sessions.Handler{}, func(t *testing.T, r *rig) {
				ws := r.raw(t)
				_ = ws.Write(t.Context(), c.kind, []byte(c.text)) // it may be cut meanwhile
				if _, _, err := ws.Read(t.Context()); websocket.CloseStatus(err) != c.code {
					t.Errorf("the client reads %v", err)
				}
				if err := <-r.ended; !is[*session.Broken](err) {
					t.Errorf("the server: %v", err)
				}
				_ = ws.CloseNow()
			})
		})
	}
}

// Who does not read is cut off, and the session's goroutine is not held.
func TestSlowReader(t *testing.T) {
	h := &sessions.Handler{Serve: func(_ context.Context, c *sessions.Conn) {
		for e := range c.Events() {
			if _, ok := e.(session.Hello); ok {
				c.Machine().Welcome(time.Hour, c.Now())
				for range 10 {
					c.Machine().Announced(strings.Repeat("x", 60<<10))
				}
			}
		}
	}}
	bubble(t, h, func(t *testing.T, r *rig) {
		ws := r.raw(t)
		if err := ws.Write(t.Context(), websocket.MessageText, []byte(rawHello)); err != nil {
			t.Fatal(err)
		}
		from := time.Now()
		if err := <-r.ended; !is[*sessions.Cut](err) || time.Since(from) > sessions.WriteWait+time.Second {
			t.Errorf("after %s: %v", time.Since(from), err)
		}
		_ = ws.CloseNow()
	})
}

func TestLimits(t *testing.T) {
	for _, c := range []struct {
		limits sessions.Limits
		other  bool // the second comes from another host
		open   bool
	}{
		{sessions.Limits{All: 1}, true, false}, {sessions.Limits{PerSource: 1}, false, false}, {sessions.Limits{PerSource: 1}, true, true},
	} {
		bubble(t, &sessions.Handler{Limits: c.limits}, func(t *testing.T, r *rig) {
			first := r.open(t)
			for range first.Events() { // welcomed
				err := r.second(t, c.other)
				if refused, ok := errors.AsType[*sessions.Refused](err); c.open != (err == nil) || !c.open && (!ok || refused.Code() != "RATE_LIMITED") {
					t.Errorf("%+v: %v", c, err)
				}
				break
			}
			<-r.ended
			if err := r.second(t, false); err != nil {
				t.Errorf("room was not given back: %v", err)
			}
		})
	}
}

// second opens another session and leaves it.
func (r *rig) second(t *testing.T, other bool) error {
	dial := r.dial
	if other {
		dial = r.net.Host("other").DialContext
	}
	a, err := sessions.Dial(t.Context(), r.target, dial, time.Now)
	if err != nil {
		return err
	}
	for range a.Events() {
		break
	}
	return a.Err()
}

// Dial tells apart what is wrong.
func TestDialFails(t *testing.T) {
	bubble(t, &sessions.Handler{}, func(t *testing.T, r *rig) {
		for name, c := range map[string]struct {
			change func(*sessions.Target)
			right  func(error) bool
		}{
			"another pin":   {func(t *sessions.Target) { t.Pins = []pin.Pin{{1}} }, is[*pin.Mismatch]},
			"nobody there":  {func(t *sessions.Target) { t.URL = "https://booter:444" }, is[*sessions.Unreachable]},
			"in clear":      {func(t *sessions.Target) { t.URL = "http://booter:443" }, is[*sessions.BadTarget]},
			"no pin":        {func(t *sessions.Target) { t.Pins = nil }, is[*sessions.BadTarget]},
			"a path":        {func(t *sessions.Target) { t.URL += "/x" }, is[*sessions.BadTarget]},
			"a secret":      {func(t *sessions.Target) { t.URL = "https://a:b@booter:443" }, is[*sessions.BadTarget]},
			"no URL at all": {func(t *sessions.Target) { t.URL = "\x00" }, is[*sessions.BadTarget]},
		} {
			target := r.target
			c.change(&target)
			if a, err := sessions.Dial(t.Context(), target, r.dial, time.Now); a != nil || !c.right(err) {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}

// The handler around decides who may connect: the agent shows its key, and hears a
// refusal as what it is. The key does not follow a redirect.
func TestBearer(t *testing.T) {
	for _, c := range []struct{ key, code string }{{"k1", ""}, {"k2", "UNAUTHENTICATED"}, {"k3", "UNAVAILABLE"}} {
		loopback(t, &sessions.Handler{}, func(t *testing.T, r *rig) {
			r.stop()
			<-r.served
			inner := r.handler
			front := http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
				switch q.Header.Get("Authorization") {
				case "Bearer k1":
					inner.ServeHTTP(w, q)
				case "Bearer k3":
					http.Redirect(w, q, "https://elsewhere/", http.StatusFound)
				default:
					http.Error(w, "no", http.StatusUnauthorized)
				}
			})
			again := startFront(t, front)
			again.target.Bearer = func() string { return c.key }
			a, err := sessions.Dial(t.Context(), again.target, (&net.Dialer{}).DialContext, time.Now)
			if c.code == "" {
				if err != nil {
					t.Fatal(err)
				}
				for range a.Events() {
					break
				}
			} else if coded, ok := errors.AsType[*sessions.Refused](err); !ok || coded.Code() != c.code || strings.Contains(err.Error(), c.key) {
				t.Errorf("%s: %v", c.key, err)
			}
			again.stop()
			if err := <-again.served; err != nil {
				t.Error(err)
			}
			r.served <- nil
		})
	}
}

// What is no session is told where it is.
func TestNoSession(t *testing.T) {
	bubble(t, &sessions.Handler{}, func(t *testing.T, r *rig) {
		conf := pin.Client(pin.Trust{Pins: r.target.Pins}, time.Now)
		for _, h2 := range []bool{false, true} {
			own := conf.Clone()
			if !h2 {
				own.NextProtos = nil
			}
			tr := &http.Transport{DialContext: r.dial, TLSClientConfig: own, ForceAttemptHTTP2: h2}
			res, err := (&http.Client{Transport: tr}).Get(r.target.URL + sessions.Path)
			if err != nil {
				t.Fatal(err)
			}
			said, _ := io.ReadAll(res.Body)
			res.Body.Close()
			if res.StatusCode != http.StatusBadRequest || !strings.Contains(string(said), sessions.Subprotocol) {
				t.Errorf("%s %s", res.Status, said)
			}
			tr.CloseIdleConnections()
		}
	})
}
