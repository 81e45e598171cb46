package redfish

import (
	"context"
	"encoding/json"

	"github.com/ingotmetal/ingot/bmc"
	"github.com/ingotmetal/ingot/bmc/wire"
)

// Driver is a [bmc.Driver]. The zero value works. It is safe for concurrent use.
type Driver struct {
	// Wire are the limits of the client beneath; a zero field takes its default.
	// LegacyTLS is taken from a machine's options.
	Wire wire.Options
}

// Info says what the driver is.
func (d Driver) Info() bmc.Info {
	return bmc.Info{
		Name:      "redfish",
		Protocols: []string{"redfish"},
		Declares:  bmc.Features(),
		Limits:    Options{}.Limits(),
	}
}

// ValidateOptions checks a machine's [Options].
func (d Driver) ValidateOptions(raw json.RawMessage) error {
	_, err := parseOptions(raw)
	return err
}

// LimitsOf are the limits that a machine's options ask for.
func (d Driver) LimitsOf(raw json.RawMessage) (bmc.Limits, error) {
	o, err := parseOptions(raw)
	return o.Limits(), err
}

// Open finds the machine that e selects: it reads the service root, logs in and
// reads the systems. It logs out again where it fails.
func (d Driver) Open(ctx context.Context, e bmc.Endpoint, a bmc.Access) (bmc.Session, error) {
	o, err := parseOptions(e.Options)
	if err != nil {
		return nil, err
	}
	w := d.Wire
	w.LegacyTLS = o.LegacyTLS
	c, err := wire.New(e, a.Gate, w)
	if err != nil {
		return nil, err
	}
	s := &Session{wire: c, opts: o, source: a.Credentials, turn: make(chan struct{}, 1)}
	if err := s.find(ctx, e.System); err != nil {
		_ = s.Close(ctx)
		return nil, err
	}
	return s, nil
}
