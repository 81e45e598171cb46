// Package bundle is what one approval gives an agent (SET-5): its bound key and
// three ticket keys, in one canonical form, and how an agent opens one that was
// sealed to it (SET-17).
//
// A stock agent has no key and gets [Bundle.Encode] in the clear, where policy
// allows it. For any other the control plane seals these bytes by HPKE, with the
// parts of [Suite] and the info of [Info]. Sealing draws randomness, so it has no
// place here; opening and making a key from given entropy draw none.
package bundle

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/ingotmetal/ingot/identity/keys"
)

// MaxSize bounds an encoded bundle, in bytes. A real one has about 500.
const MaxSize = 2048

// form is the version of the encoding.
const form = 1

// A Bundle is what the agent of one server gets from one approval. It holds
// secrets, which print as [redacted].
type Bundle struct {
	Server  string // server UUID, 36 characters in lower case
	Epoch   uint64 // the setup_epoch, never 0
	Key     keys.Secret
	Tickets [keys.TicketsPerSetup]keys.Secret
}

// written is the wire form. Its fields are in the order of the bytes.
type written struct {
	Version int                          `json:"v"`
	Server  string                       `json:"server_uuid"`
	Epoch   uint64                       `json:"setup_epoch"`
	Key     string                       `json:"agent_key"`
	Tickets [keys.TicketsPerSetup]string `json:"ticket_keys"`
}

// Encode returns b in clear, as JSON without white space and with its members in
// one order: equal bundles have equal bytes. The error is [*Invalid].
func (b Bundle) Encode() ([]byte, error) {
	if err := b.Validate(); err != nil {
		return nil, err
	}
	w := written{Version: form, Server: b.Server, Epoch: b.Epoch, Key: b.Key.Show()}
	for i, t := range b.Tickets {
		w.Tickets[i] = t.Show()
	}
	return json.Marshal(w)
}

// Decode reads what Encode wrote, and no other spelling of it. The error is
// [*Invalid] and never carries the input.
func Decode(in []byte) (Bundle, error) {
	if len(in) > MaxSize {
		return Bundle{}, &Invalid{"bundle", fmt.Sprintf("has %d bytes, at most %d", len(in), MaxSize)}
	}
	var w written
	if err := json.Unmarshal(in, &w); err != nil {
		return Bundle{}, &Invalid{"bundle", "is not the JSON of one"}
	}
	if w.Version != form {
		return Bundle{}, &Invalid{"bundle", fmt.Sprintf("has version %d; this agent reads %d: update it", w.Version, form)}
	}
	b, err := w.bundle()
	if err != nil {
		return Bundle{}, err
	}
	if again, err := b.Encode(); err != nil || !bytes.Equal(again, in) {
		return Bundle{}, &Invalid{"bundle", "is not in its one form"}
	}
	return b, nil
}

func (w written) bundle() (Bundle, error) {
	b := Bundle{Server: w.Server, Epoch: w.Epoch}
	var err error
	if b.Key, err = keys.ParseSecret(w.Key); err != nil {
		return Bundle{}, &Invalid{"agent_key", "is no key"}
	}
	for i, t := range w.Tickets {
		if b.Tickets[i], err = keys.ParseSecret(t); err != nil {
			return Bundle{}, &Invalid{"ticket_keys", "hold something that is no key"}
		}
	}
	return b, b.Validate()
}

// Validate reports the first fact that cannot be, as [*Invalid].
func (b Bundle) Validate() error {
	seen := map[string]bool{}
	for _, t := range b.Tickets {
		if t.Kind() != keys.TicketKey || seen[t.ID()] {
			return &Invalid{"ticket_keys", fmt.Sprintf("are not %d different ticket keys", len(b.Tickets))}
		}
		seen[t.ID()] = true
	}
	switch {
	case !isUUID(b.Server):
		return &Invalid{"server_uuid", "is not 36 characters of a UUID in lower case"}
	case b.Epoch == 0:
		return &Invalid{"setup_epoch", "is 0"}
	case b.Key.Kind() != keys.APIKey:
		return &Invalid{"agent_key", fmt.Sprintf("is of kind %q, want %q", b.Key.Kind(), keys.APIKey)}
	}
	return nil
}

// isUUID reports whether s is 8-4-4-4-12 lower-case hexadecimal digits.
func isUUID(s string) bool {
	if len(s) != 36 {
		return false
	}
	for i, c := range []byte(s) {
		dash := i == 8 || i == 13 || i == 18 || i == 23
		if dash != (c == '-') || !dash && !strings.ContainsRune("0123456789abcdef", rune(c)) {
			return false
		}
	}
	return true
}

// An Invalid reports facts or bytes that make no bundle and no agent key. It
// never carries what was given.
type Invalid struct {
	What, Why string
}

// Error says what is wrong and what would do.
func (e *Invalid) Error() string { return "bundle: " + e.What + " " + e.Why }

// Code is the error's wire name (API-3).
func (e *Invalid) Code() string { return "INVALID_INPUT" }
