package session

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

var noon = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

const (
	uuid  = "6b1f2c3d-0000-4000-8000-000000000001"
	every = 5 * time.Second
)

var nonce = []byte("sixteen bytes at least")

// pair is both ends, and what each heard.
type pair struct {
	t      testing.TB
	agent  *Agent
	server *Server
	events []Event
	said   []Said
}

func meet(t testing.TB, key string) *pair {
	return &pair{t: t, agent: NewAgent(Hello{uuid, key, []string{"52:54:00:12:34:56"}}, noon), server: NewServer(noon)}
}

// pass carries frames until there are none.
func (p *pair) pass(now time.Time) {
	p.t.Helper()
	for moved := true; moved; {
		moved = false
		for f, ok := p.agent.Next(); ok; f, ok = p.agent.Next() {
			e, err := p.server.Receive(f, now)
			if err != nil {
				p.t.Fatalf("%s: %v", f, err)
			}
			p.events, moved = append(p.events, e), true
		}
		for f, ok := p.server.Next(); ok; f, ok = p.server.Next() {
			s, err := p.agent.Receive(f, now)
			if err != nil {
				p.t.Fatalf("%s: %v", f, err)
			}
			p.said, moved = append(p.said, s), true
		}
	}
}

func (p *pair) opened() *pair {
	p.t.Helper()
	p.pass(noon)
	if p.events[0].(Hello).Key != "" {
		p.server.Challenge([]byte("sealed"), nonce)
		p.pass(noon)
		p.agent.Prove(nonce)
		p.pass(noon)
	}
	p.server.Welcome(every, noon)
	p.pass(noon)
	if !p.server.Open() {
		p.t.Fatal("not open")
	}
	p.events, p.said = nil, nil
	return p
}

// The life of a setup over one session.
func TestSetupOverASession(t *testing.T) {
	p := meet(t, "key")
	p.pass(noon)
	if want := (Hello{uuid, "key", []string{"52:54:00:12:34:56"}}); !reflect.DeepEqual(p.events[0], want) {
		t.Errorf("%+v", p.events)
	}
	p = meet(t, "key").opened()
	sysinfo, order := json.RawMessage(`{"uuid":"x"}`), json.RawMessage(`{"plan":1}`)
	p.agent.Announce(sysinfo)
	p.pass(noon)
	p.server.Announced("awaiting_setup")
	if !p.server.Setup(7, "c2VhbGVk", order) || p.server.Setup(7, "again", order) || p.server.Setup(6, "older", order) {
		t.Error("a setup is handed out once, and never an older one")
	}
	p.pass(noon)
	p.agent.Progress(Progress{7, "write", 1, 2})
	p.agent.Sentinel(7)
	p.pass(noon)
	p.server.Done(7, "approved")
	p.pass(noon)
	if want := []Event{Announce{sysinfo}, Progress{7, "write", 1, 2}, Sentinel{7}}; !reflect.DeepEqual(p.events, want) {
		t.Errorf("the server heard %+v", p.events)
	}
	if want := []Said{Announced{"awaiting_setup"}, Setup{7, "c2VhbGVk", order}, Done{7, "approved"}}; !reflect.DeepEqual(p.said, want) {
		t.Errorf("the agent heard %+v", p.said)
	}
}

// An agent without a key is welcomed without a challenge, and told the time.
func TestWelcome(t *testing.T) {
	p := meet(t, "")
	p.pass(noon)
	p.server.Welcome(every, noon)
	p.pass(noon)
	if !reflect.DeepEqual(p.said, []Said{Welcomed{noon}}) {
		t.Errorf("%+v", p.said)
	}
}

// Whatever comes out of turn, or is no frame, ends a server's session.
func TestServerRefuses(t *testing.T) {
	fresh := func() *pair { return meet(t, "key") }
	greeted := func() *pair { p := meet(t, "key"); p.pass(noon); return p }
	asked := func() *pair { p := greeted(); p.server.Challenge([]byte("s"), nonce); p.pass(noon); return p }
	open := func() *pair { return meet(t, "key").opened() }
	for _, c := range []struct {
		name string
		at   func() *pair
		raw  string
	}{
		{"no JSON", fresh, `x`}, {"an array", fresh, `[]`}, {"nothing", fresh, ``}, {"no type", fresh, `{}`}, {"null", fresh, `null`},
		{"wrong type of a member", fresh, `{"type":"hello","version":"1"}`},
		{"a beat first", fresh, `{"type":"beat"}`}, {"a proof first", fresh, `{"type":"proof"}`}, {"an unknown type first", fresh, `{"type":"later"}`},
		{"no machine", fresh, `{"type":"hello","version":1}`}, {"another version", fresh, `{"type":"hello","version":2,"server":"` + uuid + `"}`},
		{"a long key", fresh, `{"type":"hello","version":1,"server":"` + uuid + `","key":"` + strings.Repeat("k", 65) + `"}`},
		{"many MACs", fresh, `{"type":"hello","version":1,"server":"` + uuid + `","macs":[` + strings.Repeat(`"",`, MaxMACs) + `""]}`},
		{"too long", fresh, `{"type":"hello","x":"` + strings.Repeat("x", MaxFrame) + `"}`},
		{"a second hello", greeted, `{"type":"hello","version":1,"server":"` + uuid + `"}`},
		{"a proof that was not asked for", greeted, `{"type":"proof","nonce":""}`},
		{"a wrong proof", asked, `{"type":"proof","nonce":"AAAA"}`}, {"an empty proof", asked, `{"type":"proof"}`}, {"an announce instead of a proof", asked, `{"type":"announce","sysinfo":{}}`},
		{"no sysinfo", open, `{"type":"announce"}`}, {"sysinfo that is a list", open, `{"type":"announce","sysinfo":[]}`},
		{"a long sysinfo", open, `{"type":"announce","sysinfo":{"x":"` + strings.Repeat("x", MaxSysinfo) + `"}}`},
		{"a sentinel without an epoch", open, `{"type":"sentinel"}`}, {"a failure without an epoch", open, `{"type":"failed","why":"x"}`},
		{"a long why", open, `{"type":"failed","epoch":1,"why":"` + strings.Repeat("x", MaxText+1) + `"}`},
		{"a negative epoch", open, `{"type":"sentinel","epoch":-1}`}, {"more done than there is", open, `{"type":"progress","epoch":1,"done":2,"total":1}`},
		{"a second proof", open, `{"type":"proof","nonce":"AAAA"}`},
	} {
		p := c.at()
		e, err := p.server.Receive([]byte(c.raw), noon)
		if broken, ok := errors.AsType[*Broken](err); !ok || e != nil || broken.Code() != "INVALID_INPUT" {
			t.Errorf("%s: %v, %v", c.name, e, err)
		}
		if _, err := p.server.Receive([]byte(`{"type":"beat"}`), noon); err == nil || p.server.Open() || p.server.Setup(1, "", nil) {
			t.Errorf("%s: the session goes on", c.name)
		}
	}
	p := meet(t, "key").opened()
	if e, err := p.server.Receive([]byte(`{"type":"later","x":1}`), noon); e != nil || err != nil {
		t.Errorf("a newer agent's frame: %v, %v", e, err)
	}
}

func TestAgentRefuses(t *testing.T) {
	for _, c := range []struct {
		open bool
		raw  string
	}{
		{false, `{}`}, {false, `{"type":"setup","epoch":1}`}, {false, `{"type":"done","epoch":1}`}, {false, `{"type":"welcome"}`},
		{false, `{"type":"welcome","beat_ms":3600001}`}, {true, `{"type":"welcome","beat_ms":5}`}, {true, `{"type":"challenge"}`}, {true, `{"type":"setup"}`}, {true, `{"type":"done"}`},
		{false, `{"type":"root","hash":"$6$a$b"}`}, {true, `{"type":"root","hash":"` + strings.Repeat("x", MaxHash+1) + `"}`},
	} {
		p := meet(t, "key")
		if c.open {
			p.opened()
		}
		if s, err := p.agent.Receive([]byte(c.raw), noon); s != nil || !is[*Broken](err) {
			t.Errorf("%s: %v, %v", c.raw, s, err)
		}
		if _, err := p.agent.Receive([]byte(`{"type":"beat"}`), noon); !is[*Broken](err) {
			t.Errorf("%s: goes on", c.raw)
		}
	}
	p := meet(t, "").opened()
	if s, err := p.agent.Receive([]byte(`{"type":"later"}`), noon); s != nil || err != nil {
		t.Errorf("a newer server's frame: %v, %v", s, err)
	}
	p.server.Bye("CONFLICT", strings.Repeat("é\xff", MaxText))
	f, _ := p.server.Next()
	if _, err := p.agent.Receive(f, noon); !is[*Ended](err) {
		t.Error(err)
	}
}

// BOOT-3: the hash of a root password goes to a machine that was welcomed, as often as
// it changes, and nothing prints it.
func TestRoot(t *testing.T) {
	p := meet(t, "key")
	p.pass(noon)
	if p.server.Root("$6$CANARY$x") {
		t.Error("a machine that was not welcomed was told")
	}
	p = meet(t, "key").opened()
	for _, hash := range []string{"$6$CANARY$x", "", "$6$CANARY$y"} {
		if !p.server.Root(hash) {
			t.Error("not told")
		}
		p.pass(noon)
	}
	if want := []Said{Root{"$6$CANARY$x"}, Root{}, Root{"$6$CANARY$y"}}; !reflect.DeepEqual(p.said, want) {
		t.Error("the agent heard something else")
	}
	for _, format := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		if s := fmt.Sprintf(format, p.said[0]); s != "[redacted]" {
			t.Errorf("%s prints %s", format, s)
		}
	}
	p.server.Bye("CONFLICT", "x")
	if p.server.Root("$6$CANARY$x") {
		t.Error("after a bye")
	}
}

// Over says when the connection may be closed: after a bye, which is still to be sent,
// and after any error.
func TestOver(t *testing.T) {
	p := meet(t, "key").opened()
	if p.server.Over() || p.agent.Over() {
		t.Error("an open session is over")
	}
	p.server.Bye("CONFLICT", "another session")
	f, ok := p.server.Next()
	if _, err := p.agent.Receive(f, noon); !ok || !is[*Ended](err) || !p.server.Over() || !p.agent.Over() {
		t.Errorf("after a bye: %t %v %t %t", ok, err, p.server.Over(), p.agent.Over())
	}
	s := NewServer(noon)
	if _, err := s.Receive([]byte("x"), noon); err == nil || !s.Over() {
		t.Error("after what is no frame")
	}
}

func is[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}

// Beats keep a session; three that are missing end it, on both sides. An agent that
// does not say who it is has ten seconds.
func TestSilence(t *testing.T) {
	p := meet(t, "").opened()
	now := noon
	for range 100 {
		now = p.agent.Deadline()
		if err := errors.Join(p.agent.Tick(now), p.server.Tick(now)); err != nil {
			t.Fatal(err)
		}
		p.pass(now)
	}
	if now.Sub(noon) != 100*every {
		t.Errorf("100 beats took %s", now.Sub(noon))
	}
	last := now
	for !errors.As(p.agent.Tick(now), new(*Silent)) {
		now = p.agent.Deadline()
	}
	if now.Sub(last) != Patience*every || p.server.Deadline() != last.Add(Patience*every) {
		t.Errorf("the agent waits %s, the server until %s", now.Sub(last), p.server.Deadline())
	}
	if err := p.server.Tick(p.server.Deadline().Add(-1)); err != nil {
		t.Error(err)
	}
	if err := p.server.Tick(p.server.Deadline()); !is[*Silent](err) {
		t.Error(err)
	}
	s := NewServer(noon)
	if s.Deadline() != noon.Add(Hurry) || s.Tick(s.Deadline()) == nil {
		t.Error("an agent without a hello is waited for")
	}
}

// An agent that has much to tell and nothing to hear, such as the progress of a long
// setup, beats all the same: a server answers nothing else of it.
func TestTalkKeepsASession(t *testing.T) {
	p := meet(t, "").opened()
	now := noon
	for range 1000 {
		now = now.Add(every / 10)
		p.agent.Progress(Progress{Epoch: 1, Step: "image"})
		if err := errors.Join(p.agent.Tick(now), p.server.Tick(now)); err != nil {
			t.Fatalf("after %s: %v", now.Sub(noon), err)
		}
		p.pass(now)
	}
	if beats := len(p.said); beats != 1000/10 {
		t.Errorf("%d beats were answered", beats)
	}
}

// Whatever an agent says, in whatever order and however often, a server's events are
// never of a machine that was not proven, and the ends never panic.
func TestNoOrderOfFramesHarms(t *testing.T) {
	frames := []frame{
		{Type: hello, Version: 1, Server: uuid, Key: "key"}, {Type: proof, Nonce: nonce}, {Type: proof, Nonce: []byte("guess")},
		{Type: announce, Sysinfo: json.RawMessage(`{}`)}, {Type: sentinel, Epoch: 1}, {Type: failed, Epoch: 1}, {Type: beat}, {Type: "later"},
	}
	rapid.Check(t, func(t *rapid.T) {
		s, greeted, proved := NewServer(noon), false, false
		for range rapid.IntRange(1, 20).Draw(t, "frames") {
			f := rapid.SampledFrom(frames).Draw(t, "frame")
			e, err := s.Receive(f.bytes(), noon)
			if err != nil {
				return
			}
			switch e.(type) {
			case Hello:
				greeted = true
				s.Challenge([]byte("sealed"), nonce)
			case Proven:
				proved = true
				s.Welcome(every, noon)
			case nil:
			default:
				if !greeted || !proved {
					t.Fatalf("%T of a machine that proved nothing", e)
				}
			}
		}
	})
}

func FuzzReceive(f *testing.F) {
	for _, fr := range []frame{{Type: hello, Version: 1, Server: uuid}, {Type: welcome, Beat: 5}, {Type: announce, Sysinfo: json.RawMessage(`{}`)}} {
		f.Add(fr.bytes(), fr.bytes())
	}
	f.Fuzz(func(t *testing.T, first, second []byte) {
		s, a := NewServer(noon), NewAgent(Hello{Server: uuid}, noon)
		for _, raw := range [][]byte{first, second} {
			if e, err := s.Receive(raw, noon); err == nil {
				if h, ok := e.(Hello); ok && len(h.Server) != 36 {
					t.Errorf("%+v", h)
				}
			}
			_, _ = a.Receive(raw, noon)
		}
	})
}

func Example() {
	now := noon
	agent := NewAgent(Hello{Server: uuid}, now)
	server := NewServer(now)
	frame, _ := agent.Next() // over the wire
	event, _ := server.Receive(frame, now)
	fmt.Println("server:", event.(Hello).Server)
	server.Welcome(5*time.Second, now)
	frame, _ = server.Next() // and back
	said, _ := agent.Receive(frame, now)
	fmt.Println("agent:", said.(Welcomed).Time.Format(time.TimeOnly))
	// Output:
	// server: 6b1f2c3d-0000-4000-8000-000000000001
	// agent: 12:00:00
}
