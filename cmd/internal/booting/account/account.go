// Package account is what a booter says of machines to who is on its host: the bodies
// of its Unix socket, in JSON.
package account

import (
	"net/netip"
	"time"

	"github.com/ingotmetal/ingot/booter"
)

// MaxPacket bounds the body of a packet to explain, in bytes of JSON.
const MaxPacket = 16 << 10

// An Account is all that a booter can say of a MAC: what its record is, what it would
// boot, what its last packet came to and why, and what came before.
type Account struct {
	MAC      string    `json:"mac"`
	State    string    `json:"state"` // of its record; absent where there is none
	Mode     string    `json:"mode,omitempty"`
	Address  string    `json:"address,omitempty"`
	Revision uint64    `json:"revision"` // of the site that this is judged by
	Heard    bool      `json:"heard"`    // a packet of it came since the booter started
	Client   string    `json:"client,omitempty"`
	Silences []Silence `json:"silences"` // why it is not answered; none where it would be
	Choices  []Choice  `json:"choices"`
	Moments  []Moment  `json:"moments"` // the oldest first
}

// A Silence is a reason of silence in words.
type Silence struct {
	Silence     string `json:"silence"`
	Requirement string `json:"requirement,omitempty"`
	Means       string `json:"means"`
	Change      string `json:"change"` // what would change the answer
}

// A Choice is an image that was considered.
type Choice struct {
	Origin  string `json:"origin"`
	Image   string `json:"image,omitempty"`
	Silence string `json:"silence,omitempty"` // why it cannot be served
}

// A Moment is one packet or request of a machine, and what came of it.
type Moment struct {
	Time    time.Time      `json:"time"`
	Stage   string         `json:"stage"` // dhcp, tftp, http; setup and report, of what else came of it
	What    string         `json:"what"`  // message type, or path without its token
	Silence booter.Silence `json:"silence,omitempty"`
	Image   string         `json:"image,omitempty"`
	Detail  string         `json:"detail,omitempty"`
}

// A Packet is one to explain, as if it had come to the booter.
type Packet struct {
	Packet    string         `json:"packet"`              // UDP payload, in hexadecimal
	Interface string         `json:"interface,omitempty"` // default: the first that DHCP is answered on
	Source    netip.AddrPort `json:"source,omitzero"`
	BootPort  bool           `json:"boot_port,omitempty"` // to port 4011
}

// A Verdict is what a packet would come to: a reply, or reasons of silence.
type Verdict struct {
	Protocol string    `json:"protocol"` // dhcp4, or what else it is
	Message  string    `json:"message,omitempty"`
	MAC      string    `json:"mac,omitempty"`
	Client   string    `json:"client,omitempty"`
	Flaw     string    `json:"flaw,omitempty"`
	Silences []Silence `json:"silences"`
	Kind     string    `json:"kind,omitempty"` // of the reply
	Address  string    `json:"address,omitempty"`
	Image    string    `json:"image,omitempty"`
	To       string    `json:"to,omitempty"`    // where the reply would go
	File     string    `json:"file,omitempty"`  // that the reply points at, without its token
	Reply    []byte    `json:"reply,omitempty"` // its bytes, T for each letter of the token
}

// Unsupported is the reason of packets that are of no protocol served here.
const Unsupported = "unsupported"
