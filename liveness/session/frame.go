package session

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// Version is the protocol's. A server refuses a hello of another one by a bye.
const Version = 1

// The bounds of what a frame may hold.
const (
	MaxFrame   = 512 << 10 // bytes; sysinfo has at most 256 KiB (REG-9)
	MaxSysinfo = 256 << 10
	MaxMACs    = 256
	MaxText    = 4096 // of why and step, in bytes
	MaxHash    = 384  // of a root password, in bytes (crypt(5))
)

// kind is the type of a frame.
type kind string

const (
	hello     kind = "hello"
	challenge kind = "challenge"
	proof     kind = "proof"
	welcome   kind = "welcome"
	announce  kind = "announce"
	announced kind = "announced"
	setup     kind = "setup"
	progress  kind = "progress"
	sentinel  kind = "sentinel"
	failed    kind = "failed"
	done      kind = "done"
	root      kind = "root"
	beat      kind = "beat"
	bye       kind = "bye"
)

// A frame is one message. Which members it has is its type's.
type frame struct {
	Type    kind            `json:"type"`
	Version int             `json:"version,omitempty"`
	Server  string          `json:"server,omitempty"`
	Key     string          `json:"key,omitempty"`
	MACs    []string        `json:"macs,omitempty"`
	Sealed  []byte          `json:"sealed,omitempty"`
	Nonce   []byte          `json:"nonce,omitempty"`
	Time    time.Time       `json:"time,omitzero"`
	Beat    int64           `json:"beat_ms,omitempty"`
	Sysinfo json.RawMessage `json:"sysinfo,omitempty"`
	State   string          `json:"state,omitempty"`
	Epoch   uint64          `json:"epoch,omitempty"`
	Bundle  string          `json:"bundle,omitempty"`
	Order   json.RawMessage `json:"order,omitempty"`
	Step    string          `json:"step,omitempty"`
	Done    uint64          `json:"done,omitempty"`
	Total   uint64          `json:"total,omitempty"`
	Hash    string          `json:"hash,omitempty"` // secret
	Code    string          `json:"code,omitempty"`
	Why     string          `json:"why,omitempty"`
}

// A Broken reports a peer that does not keep to the protocol. The session is over.
type Broken struct{ Why string }

// Error says what the peer did.
func (e *Broken) Error() string { return "session: " + e.Why }

// Code is the error's wire name (API-3).
func (*Broken) Code() string { return "INVALID_INPUT" }

// A Silent reports a peer that was not heard of for too long. The session is over.
type Silent struct{ For time.Duration }

// Error says how long.
func (e *Silent) Error() string { return fmt.Sprintf("session: nothing was heard for %s", e.For) }

// Code is the error's wire name (API-3).
func (*Silent) Code() string { return "UNAVAILABLE" }

// An Ended reports a bye of the peer.
type Ended struct {
	Name string // a code of API-3
	Why  string
}

// Error is the peer's reason.
func (e *Ended) Error() string { return "session: the server ended it: " + e.Why }

// Code is the peer's, where it gave one.
func (e *Ended) Code() string { return e.Name }

func parse(raw []byte) (frame, error) {
	var f frame
	if len(raw) > MaxFrame {
		return f, &Broken{fmt.Sprintf("a frame of %d bytes, at most %d", len(raw), MaxFrame)}
	}
	if err := json.Unmarshal(raw, &f); err != nil {
		return f, &Broken{"what came is no frame"}
	}
	return f, f.check()
}

// check looks at the ranges, whatever the type.
func (f *frame) check() error {
	switch {
	case f.Type == "":
		return &Broken{"a frame without a type"}
	case len(f.MACs) > MaxMACs:
		return &Broken{fmt.Sprintf("%d MACs, at most %d", len(f.MACs), MaxMACs)}
	case len(f.Sysinfo) > MaxSysinfo:
		return &Broken{fmt.Sprintf("a sysinfo of %d bytes, at most %d", len(f.Sysinfo), MaxSysinfo)}
	case f.Sysinfo != nil && !bytes.HasPrefix(bytes.TrimSpace(f.Sysinfo), []byte("{")):
		return &Broken{"a sysinfo that is no object"}
	case len(f.Why) > MaxText || len(f.Step) > MaxText:
		return &Broken{fmt.Sprintf("a text of more than %d bytes", MaxText)}
	case len(f.Hash) > MaxHash:
		return &Broken{fmt.Sprintf("a hash of more than %d bytes", MaxHash)}
	case f.Done > f.Total:
		return &Broken{"a progress beyond its end"}
	}
	return nil
}

// cut makes a text one that a frame takes.
func cut(s string) string {
	s = strings.ToValidUTF8(s, "?")
	return strings.ToValidUTF8(s[:min(len(s), MaxText)], "")
}

func (f frame) bytes() []byte {
	raw, err := json.Marshal(f)
	if err != nil { // an order or a sysinfo that is no JSON
		panic("session: " + err.Error())
	}
	return raw
}
