package redfish

import (
	"errors"

	"github.com/ingotmetal/ingot/bmc"
)

// unsent makes an error of what comes before a write say that nothing was
// written: a read whose answer is lost leaves no doubt about the machine.
func unsent(err error) error {
	e, ok := errors.AsType[*bmc.Error](err)
	if !ok || e.Sent != bmc.SentYes && e.Sent != bmc.SentMaybe && e.Kind != bmc.Indeterminate {
		return err
	}
	out := *e
	if out.Sent = bmc.SentNo; out.Kind == bmc.Indeterminate {
		out.Kind, out.Do = bmc.Unreachable, "look at the BMC's network and power"
	}
	return &out
}

// unseen makes an error of what comes after an accepted write say that it was
// sent, and that its end was not seen: nobody may send it again for that.
func unseen(err error) error {
	e, ok := errors.AsType[*bmc.Error](err)
	if !ok {
		return err
	}
	out := *e
	out.Sent, out.After = bmc.SentYes, 0
	if e.Kind != bmc.NotReached {
		out.Kind, out.Do, out.Err = bmc.NotReached, "look whether it took effect", err
		out.Why = "it was accepted, and what came of it was not seen: " + string(e.Kind) + ", " + e.Why
	}
	return &out
}

// partly makes an error of a later write say that an earlier one was sent. What
// the BMC answered to the later one stands.
func partly(earlier bool, err error) error {
	if e, ok := errors.AsType[*bmc.Error](err); ok && earlier && e.Sent != bmc.SentYes && e.Sent != bmc.SentMaybe {
		return unseen(err)
	}
	return err
}
