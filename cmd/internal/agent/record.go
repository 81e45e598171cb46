package agent

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/ingotmetal/ingot/cmd/api"
	"github.com/ingotmetal/ingot/cmd/internal/pin"
	"github.com/ingotmetal/ingot/identity/bundle"
)

// A Keep holds what must outlive a restart. Save returns once it is durable. Load
// returns nil where nothing was kept. Neither looks at what it holds.
type Keep interface {
	Load() ([]byte, error)
	Save([]byte) error
}

// MaxKept bounds what a Keep holds, in bytes.
const MaxKept = 8 << 10

// A Record is what an approved machine keeps: its key, and where to show it. It
// prints as [redacted].
type Record struct {
	Version int          `json:"v"`
	Machine string       `json:"machine"` // UUID
	Epoch   uint64       `json:"epoch,omitempty"`
	Server  string       `json:"server"` // HOST:PORT of the control plane
	Pin     pin.Pin      `json:"pin"`
	Key     api.Secret   `json:"key"`
	Tickets []api.Secret `json:"tickets,omitempty"`
	// Restarted says that the machine restarted after its setup, or is about to. Where
	// that did not happen, for want of power before the site's answer, it is made up
	// for once the key was taken: else the machine would stay in the image that sets
	// machines up.
	Restarted bool `json:"restarted,omitempty"`
}

// Format writes [redacted], whatever the verb.
func (Record) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, "[redacted]") }

// recorded is a bundle as it is kept.
func recorded(b bundle.Bundle, server string, p pin.Pin) Record {
	r := Record{Version: 1, Machine: b.Server, Epoch: b.Epoch, Server: server, Pin: p, Key: api.Secret(b.Key.Show())}
	for _, t := range b.Tickets {
		r.Tickets = append(r.Tickets, api.Secret(t.Show()))
	}
	return r
}

// save keeps a record.
func save(k Keep, r Record) error {
	raw, err := json.Marshal(r)
	if err != nil {
		return &Unkept{"it cannot be written", nil}
	}
	err = k.Save(raw)
	if _, typed := errors.AsType[*Unkept](err); err != nil && !typed {
		return &Unkept{"it cannot be saved", err}
	}
	return err
}

// load reads the record of a machine, nil where there is none.
func load(k Keep, machine string) (*Record, error) {
	raw, err := k.Load()
	switch {
	case err != nil:
		return nil, &Unkept{"what is kept cannot be read", err}
	case raw == nil:
		return nil, nil
	}
	var r Record
	if json.Unmarshal(raw, &r) != nil || r.Version != 1 || r.Key == "" {
		return nil, &Unkept{"what is kept is no record of this agent", nil}
	}
	if r.Machine != machine {
		return nil, &Unkept{"what is kept is another machine's; were the disks moved?", nil}
	}
	return &r, nil
}
