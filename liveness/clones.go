package liveness

import "time"

// cloneWindow and cloneSwitches are the numbers of LIVE-5: more than that many
// switches within the window.
const (
	cloneWindow   = 10 * time.Minute
	cloneSwitches = 3
)

// A Verdict is what a session's machine says about its certificate, by its wire
// name. The empty Verdict is nothing new.
type Verdict string

const (
	// DuplicateSession warns that another machine holds the certificate than
	// last time (event security.node.duplicate-session).
	DuplicateSession Verdict = "duplicate-session"
	// DuplicateIdentity quarantines the certificate (event
	// security.node.quarantined, with this reason).
	DuplicateIdentity Verdict = "duplicate-identity"
)

// Clones follow one certificate from machine to machine (LIVE-5). They belong to
// the certificate, not to a gateway: keep them in the store, as a [CloneRow], so
// that they survive restarts and sessions that move. A new certificate starts
// with the zero Clones.
type Clones struct {
	machine     string
	last        [cloneSwitches]Instant // the latest switches, newest first
	quarantined bool
}

// Saw records that a machine opened a session with the certificate, and returns
// the clones to keep. The machine is named by what a copied disk does not carry,
// such as its TPM's key; the empty name is refused.
//
// Any number of sessions of one machine is no switch, a takeover of its own
// half-open session included. The first switch in a window warns. With more than
// three in a window the certificate is quarantined, and it stays so.
func (c Clones) Saw(machine string, now Instant) (Clones, Verdict, error) {
	switch {
	case machine == "":
		return c, "", &Invalid{Field: "machine", Got: "empty", Want: "a name of the machine", Req: "LIVE-5", code: codeInput}
	case c.quarantined:
		return c, DuplicateIdentity, nil
	case c.machine == "" || c.machine == machine:
		c.machine = machine
		return c, "", nil
	}
	newest, oldest := c.last[0], c.last[cloneSwitches-1]
	copy(c.last[1:], c.last[:])
	c.machine, c.last[0] = machine, now
	switch {
	case within(oldest, now):
		c.quarantined = true
		return c, DuplicateIdentity, nil
	case within(newest, now):
		return c, "", nil
	}
	return c, DuplicateSession, nil
}

// within reports whether a switch happened, and in the window that ends at now.
func within(at, now Instant) bool { return now.Sub(at) <= cloneWindow }

// A CloneRow is [Clones] as they are stored, with ages for instants. Time
// between storing and restoring is not counted.
type CloneRow struct {
	Machine     string          // that opened the latest session
	Ages        []time.Duration // of the latest switches, newest first; at most 3
	Quarantined bool
}

// Row returns c as it is to be stored at now.
func (c Clones) Row(now Instant) CloneRow {
	r := CloneRow{Machine: c.machine, Quarantined: c.quarantined}
	for _, at := range c.last {
		if at != Never {
			r.Ages = append(r.Ages, now.Sub(at))
		}
	}
	return r
}

// Clones is the inverse of [Clones.Row], on the clock of another observer.
func (r CloneRow) Clones(now Instant) Clones {
	c := Clones{machine: r.Machine, quarantined: r.Quarantined}
	for i, age := range r.Ages[:min(len(r.Ages), cloneSwitches)] {
		c.last[i] = now.Add(-age)
	}
	return c
}
