package session

import (
	"encoding/json"
	"fmt"
	"io"
	"time"
)

// A Said is what a server said.
type Said interface{ said() }

// What an Agent hears.
type (
	// Challenged asks for Agent.Prove with what is sealed to the agent's key.
	Challenged struct{ Sealed []byte }
	// Welcomed opens the session. Time is the server's.
	Welcomed struct{ Time time.Time }
	// Announced is the state of the machine's row.
	Announced struct{ State string }
	// Setup is what to write.
	Setup struct {
		Epoch  uint64
		Bundle string
		Order  json.RawMessage
	}
	// Done says that the server took in the sentinel or the failure of an epoch.
	Done struct {
		Epoch uint64
		State string
	}
	// Root is the hash of the root password that the operator set (BOOT-3); empty where
	// none is set. It prints as [redacted].
	Root struct{ Hash string }
	// Beaten is the server's sign of life.
	Beaten struct{}
)

func (Challenged) said() {}
func (Welcomed) said()   {}
func (Announced) said()  {}
func (Setup) said()      {}
func (Done) said()       {}
func (Root) said()       {}
func (Beaten) said()     {}

// Format writes [redacted], whatever the verb.
func (Root) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, "[redacted]") }

// An Agent is an agent's end of one session.
type Agent struct {
	end
	welcome bool
	beaten  time.Time // the last beat, or the welcome
}

// NewAgent begins a session with a hello; see [Hello].
func NewAgent(h Hello, now time.Time) *Agent {
	a := &Agent{end: end{heard: now}}
	a.send(frame{Type: hello, Version: Version, Server: h.Server, Key: h.Key, MACs: h.MACs})
	return a
}

// Receive takes a frame; nil for one of a newer server. The error ends the session:
// *Broken, or *Ended where the server did.
func (a *Agent) Receive(raw []byte, now time.Time) (Said, error) {
	if a.over {
		return nil, &Broken{"a frame after the end"}
	}
	f, err := parse(raw)
	if err == nil {
		a.heard = now
		var s Said
		if s, err = a.take(f, now); err == nil {
			return s, nil
		}
	}
	a.over = true
	return nil, err
}

func (a *Agent) take(f frame, now time.Time) (Said, error) {
	switch f.Type {
	case bye:
		return nil, &Ended{f.Code, f.Why}
	case challenge:
		if a.welcome {
			return nil, &Broken{"a challenge after the welcome"}
		}
		return Challenged{f.Sealed}, nil
	case welcome:
		if a.welcome || f.Beat < 1 || f.Beat > time.Hour.Milliseconds() {
			return nil, &Broken{"a second welcome, or one without beats"}
		}
		a.welcome, a.beaten, a.every = true, now, time.Duration(f.Beat)*time.Millisecond
		return Welcomed{f.Time}, nil
	}
	if !a.welcome {
		return nil, &Broken{string(f.Type) + " before the welcome"}
	}
	switch f.Type {
	case announced:
		return Announced{f.State}, nil
	case setup:
		return Setup{f.Epoch, f.Bundle, f.Order}, epoch(f)
	case done:
		return Done{f.Epoch, f.State}, epoch(f)
	case root:
		return Root{f.Hash}, nil
	case beat:
		return Beaten{}, nil
	}
	return nil, nil
}

// Prove answers a challenge with what was in it.
func (a *Agent) Prove(nonce []byte) { a.send(frame{Type: proof, Nonce: nonce}) }

// Announce tells the machine's inventory, a JSON object.
func (a *Agent) Announce(sysinfo json.RawMessage) {
	a.send(frame{Type: announce, Sysinfo: sysinfo})
}

// Progress tells how far a setup is.
func (a *Agent) Progress(p Progress) {
	a.send(frame{Type: progress, Epoch: p.Epoch, Step: cut(p.Step), Done: p.Done, Total: p.Total})
}

// Sentinel tells that a setup is written whole (SET-8).
func (a *Agent) Sentinel(epoch uint64) {
	a.send(frame{Type: sentinel, Epoch: epoch})
}

// Failed tells that a setup was given up.
func (a *Agent) Failed(epoch uint64, why string) {
	a.send(frame{Type: failed, Epoch: epoch, Why: cut(why)})
}

// Deadline is when Tick has something to do.
func (a *Agent) Deadline() time.Time {
	by := a.heard.Add(a.patience())
	if next := a.beaten.Add(a.every); a.every > 0 && next.Before(by) {
		return next
	}
	return by
}

// Tick beats where a beat is due, and ends a session whose server was not heard of:
// then the error is *Silent. A beat is due however much else was said: it is the only
// frame that a server always answers.
func (a *Agent) Tick(now time.Time) error {
	if err := a.silent(now); err != nil {
		return err
	}
	if a.every > 0 && !now.Before(a.beaten.Add(a.every)) {
		a.beaten = now
		a.send(frame{Type: beat})
	}
	return nil
}
