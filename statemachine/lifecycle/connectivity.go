package lifecycle

import "time"

// Link is a connectivity state. Liveness judges; this package commits
// (LIVE-3, LIVE-6).
type Link string

// The links. The zero Link is disconnected: a node that never had a session.
const (
	Disconnected Link = "disconnected"
	Connected    Link = "connected"
	Unreachable  Link = "unreachable"
	Lost         Link = "lost"
)

// rank orders the links by silence; -1 is unknown.
func (l Link) rank() int {
	switch l {
	case Connected:
		return 0
	case Disconnected, "":
		return 1
	case Unreachable:
		return 2
	case Lost:
		return 3
	}
	return -1
}

// String is the wire name.
func (l Link) String() string {
	if l == "" {
		l = Disconnected
	}
	return string(l)
}

// Connectivity is the axis of whether a node's agent can be reached. It says
// nothing of health, and releases nothing (LIVE-3).
type Connectivity struct {
	Link    Link
	Session uint64 // epoch of the newest session; a lower one's news is stale
	Gateway string // of the live session
	Since   time.Time
}

// silent reports whether the node has the NoSchedule reason unreachable.
func (c *Connectivity) silent() bool { return c.Link == Unreachable || c.Link == Lost }

// close ends the live session, as far as the record goes.
func (c *Connectivity) close(now time.Time) bool {
	if c.Link != Connected {
		return false
	}
	c.Link, c.Gateway, c.Since = Disconnected, "", now
	return true
}
