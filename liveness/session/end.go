package session

import "time"

// Patience is how many beats may be missed.
const Patience = 3

// Hurry bounds how long an agent may take to say who it is.
const Hurry = 10 * time.Second

// end is what both ends have: frames to send and the times of the last ones.
type end struct {
	out   [][]byte
	heard time.Time
	every time.Duration // between beats; 0 before the welcome
	over  bool
}

// Next is the next frame to send, until there is none.
func (e *end) Next() ([]byte, bool) {
	if len(e.out) == 0 {
		return nil, false
	}
	f := e.out[0]
	e.out = e.out[1:]
	return f, true
}

func (e *end) send(f frame) {
	if e.over {
		return
	}
	e.out = append(e.out, f.bytes())
}

// Over reports whether the session has ended: what is left of Next is sent, and then
// the connection is closed.
func (e *end) Over() bool { return e.over }

// patience is how long the peer may be silent.
func (e *end) patience() time.Duration {
	if e.every == 0 {
		return Hurry
	}
	return Patience * e.every
}

// silent ends the session where the peer was not heard of for too long.
func (e *end) silent(now time.Time) error {
	if e.over || now.Before(e.heard.Add(e.patience())) {
		return nil
	}
	e.over = true
	return &Silent{e.patience()}
}
