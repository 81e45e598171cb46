// Package sessions carries the protocol of package session over a WebSocket
// (RFC 6455) in TLS 1.3: one text frame a message, no compression, HTTP/1.1.
//
// Either end is a [Link]. Its protocol value has one owner, the goroutine that ranges
// over [Link.Events]: frames that came, deadlines and what others ask by [Link.Do]
// all run there, one after the other. Whatever they made ready is sent after each,
// and a peer that does not read is cut off after [WriteWait].
//
// [Handler] is the server's side, [Dial] the agent's. Nothing here listens or dials
// by itself.
package sessions

import (
	"time"

	"github.com/ingotmetal/ingot/liveness/session"
)

// Path is where a server has its sessions.
const Path = "/v1/agent-session"

// Subprotocol is the WebSocket subprotocol; who does not ask for it is refused.
const Subprotocol = "ingot.session.1"

// How long a peer may hold us up.
const (
	WriteWait = 10 * time.Second // for one frame to be taken
	DialWait  = 15 * time.Second // for connection, TLS and upgrade
)

// Conn is a server's end.
type Conn = Link[session.Event, *session.Server]

// Agent is an agent's end.
type Agent = Link[session.Said, *session.Agent]
