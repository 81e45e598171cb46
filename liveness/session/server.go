package session

import (
	"crypto/subtle"
	"encoding/json"
	"time"
)

// An Event is what an agent said.
type Event interface{ event() }

// The events of a Server, in the order in which they can come.
type (
	// Hello is who the agent says it is. Where Key is set, Server.Challenge must be
	// called next, else Server.Welcome.
	Hello struct {
		Server string   // UUID
		Key    string   // of the agent, to which a bundle is sealed; "" for none
		MACs   []string // of its NICs
	}
	// Proven says that the agent holds the key of its hello. Server.Welcome is next.
	Proven struct{}
	// Announce is the machine's inventory: a JSON object.
	Announce struct{ Sysinfo json.RawMessage }
	// Progress is how far a setup is.
	Progress struct {
		Epoch       uint64
		Step        string
		Done, Total uint64 // bytes, or whatever the step counts
	}
	// Sentinel says that a setup is written whole (SET-8).
	Sentinel struct{ Epoch uint64 }
	// Failed says that a setup was given up, and why.
	Failed struct {
		Epoch uint64
		Why   string
	}
	// Beat is a sign of life.
	Beat struct{}
)

func (Hello) event()    {}
func (Proven) event()   {}
func (Announce) event() {}
func (Progress) event() {}
func (Sentinel) event() {}
func (Failed) event()   {}
func (Beat) event()     {}

// stage is how far a session is.
type stage int

const (
	greeting stage = iota // nothing came yet
	greeted               // hello came; a challenge or a welcome is due
	challenged
	proven
	open
)

// A Server is a server's end of one session.
type Server struct {
	end
	stage stage
	nonce []byte
	epoch uint64 // of the setup that was sent last
}

// NewServer begins a session on a connection that was just made.
func NewServer(now time.Time) *Server { return &Server{end: end{heard: now}} }

// Receive takes a frame. The error is *Broken, and ends the session.
func (s *Server) Receive(raw []byte, now time.Time) (Event, error) {
	if s.over {
		return nil, &Broken{"a frame after the end"}
	}
	f, err := parse(raw)
	if err == nil {
		s.heard = now
		var e Event
		if e, err = s.take(f, now); err == nil {
			return e, nil
		}
	}
	s.over = true
	return nil, err
}

func (s *Server) take(f frame, now time.Time) (Event, error) {
	switch {
	case f.Type == hello:
		return s.greet(f, now)
	case f.Type == proof:
		return s.prove(f)
	case s.stage != open:
		return nil, &Broken{string(f.Type) + " before the welcome"}
	}
	switch f.Type {
	case announce:
		if f.Sysinfo == nil {
			return nil, &Broken{"an announce without a sysinfo"}
		}
		return Announce{f.Sysinfo}, nil
	case progress:
		return Progress{f.Epoch, f.Step, f.Done, f.Total}, epoch(f)
	case sentinel:
		return Sentinel{f.Epoch}, epoch(f)
	case failed:
		return Failed{f.Epoch, f.Why}, epoch(f)
	case beat:
		s.send(frame{Type: beat})
		return Beat{}, nil
	}
	return nil, nil // of a newer agent
}

func epoch(f frame) error {
	if f.Epoch == 0 {
		return &Broken{string(f.Type) + " without an epoch"}
	}
	return nil
}

func (s *Server) greet(f frame, now time.Time) (Event, error) {
	if s.stage != greeting {
		return nil, &Broken{"a second hello"}
	}
	if f.Version != Version {
		s.Bye("UNSUPPORTED", "this server speaks version 1 of the protocol")
		return nil, &Broken{"a hello of another version"}
	}
	if len(f.Server) != 36 || len(f.Key) > 64 {
		return nil, &Broken{"a hello that names no machine"}
	}
	s.stage = greeted
	return Hello{f.Server, f.Key, f.MACs}, nil
}

func (s *Server) prove(f frame) (Event, error) {
	if s.stage != challenged || subtle.ConstantTimeCompare(f.Nonce, s.nonce) != 1 {
		return nil, &Broken{"a proof that proves nothing"}
	}
	s.stage, s.nonce = proven, nil
	return Proven{}, nil
}

// Challenge asks the agent to open what is sealed to its key, in which nonce is: at
// least 16 bytes that nobody can guess.
func (s *Server) Challenge(sealed, nonce []byte) {
	if s.stage != greeted || len(nonce) < 16 {
		panic("session: a challenge out of turn, or a nonce that can be guessed")
	}
	s.stage, s.nonce = challenged, nonce
	s.send(frame{Type: challenge, Sealed: sealed})
}

// Welcome opens the session. The agent beats so often.
func (s *Server) Welcome(every time.Duration, now time.Time) {
	if s.stage != greeted && s.stage != proven || every < time.Millisecond {
		panic("session: a welcome out of turn, or without beats")
	}
	s.stage, s.every = open, every
	s.send(frame{Type: welcome, Time: now, Beat: every.Milliseconds()})
}

// Announced answers an announce with the state of the machine's row.
func (s *Server) Announced(state string) {
	s.send(frame{Type: announced, State: state})
}

// Setup hands the agent what to write: its bundle, sealed to its key, and the order,
// a JSON object. false where this session was handed that epoch before.
func (s *Server) Setup(epoch uint64, bundle string, order json.RawMessage) bool {
	if s.stage != open || s.over || epoch <= s.epoch {
		return false
	}
	s.epoch = epoch
	s.send(frame{Type: setup, Epoch: epoch, Bundle: bundle, Order: order})
	return true
}

// Done answers a sentinel or a failure, once what followed from it is durable and
// applied: the agent may restart the machine.
func (s *Server) Done(epoch uint64, state string) {
	s.send(frame{Type: done, Epoch: epoch, State: state})
}

// Root tells the machine the hash of its root password (BOOT-3), empty where none is
// set. It is for a session whose machine proved itself, over a transport that nobody
// else reads. false where the session is not open.
func (s *Server) Root(hash string) bool {
	if !s.Open() {
		return false
	}
	s.send(frame{Type: root, Hash: hash})
	return true
}

// Bye ends the session, with a code of API-3 and a reason.
func (s *Server) Bye(code, why string) {
	s.send(frame{Type: bye, Code: code, Why: cut(why)})
	s.over = true
}

// Open reports whether the agent was welcomed.
func (s *Server) Open() bool { return s.stage == open && !s.over }

// Deadline is when Tick has something to do.
func (s *Server) Deadline() time.Time { return s.heard.Add(s.patience()) }

// Tick ends a session whose agent was not heard of. The error is *Silent.
func (s *Server) Tick(now time.Time) error { return s.silent(now) }
