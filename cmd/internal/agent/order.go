package agent

import (
	"encoding/hex"
	"encoding/json"

	"github.com/ingotmetal/ingot/cmd/internal/pin"
	"github.com/ingotmetal/ingot/cmd/internal/sessions"
	"github.com/ingotmetal/ingot/disklayout"
)

// An Order is what a booter has an agent write, held against this machine.
type Order struct{ sessions.Order }

// parseOrder reads an order.
func parseOrder(raw json.RawMessage) (Order, error) {
	var o Order
	if err := json.Unmarshal(raw, &o); err != nil {
		return o, &BadOrder{"it cannot be read; is the agent older than the site?"}
	}
	if o.Plan.Layout == nil {
		return o, &BadOrder{"it has no layout; only whole plans are written"}
	}
	return o, nil
}

// approved is the digest that the approval names. The order must be of this machine,
// for this agent's key, and its plan the one that was approved (SET-14).
func (o *Order) approved(machine disklayout.UUID, key sessions.Key) (disklayout.Digest, error) {
	var d disklayout.Digest
	hash := key.Public().Hash()
	switch {
	case d.UnmarshalText([]byte(o.Plan.Digest)) != nil:
		return d, &BadOrder{"it does not name the digest that was approved (SET-14)"}
	case o.Plan.Layout.Server != machine:
		return d, &BadOrder{"its plan is another machine's (SET-14)"}
	case o.Plan.Layout.Digest != d || o.Plan.Layout.Sum() != d:
		return d, &BadOrder{"its plan is not the one that was approved (SET-14)"}
	case o.Plan.AgentKey != hex.EncodeToString(hash[:]):
		return d, &BadOrder{"it was approved for another agent's key (SET-17)"}
	}
	return d, nil
}

// home is the control plane that the key is for.
func (o *Order) home(c Config) (string, pin.Pin, error) {
	if o.Server == "" {
		if c.Server == "" {
			return "", pin.Pin{}, &BadOrder{"neither it nor this agent's settings name the control plane"}
		}
		return c.Server, c.ServerPin, nil
	}
	server, err := address("server", o.Server)
	if err != nil {
		return "", pin.Pin{}, &BadOrder{"it names the control plane in no form that is known"}
	}
	p, err := pin.Parse(o.ServerPin)
	if err != nil {
		return "", pin.Pin{}, &BadOrder{"it has no pin of the control plane"}
	}
	return server, p, nil
}
