package provision

import (
	"fmt"
	"time"

	sm "github.com/ingotmetal/ingot/statemachine"
)

// BadDeadline reports a site's deadline that is out of range. A negative one
// would expire attempts as they begin.
type BadDeadline struct {
	State State
	Value time.Duration
}

// Error names the state and the range.
func (e *BadDeadline) Error() string {
	return fmt.Sprintf("deadline of %s is %s: want 0 (the default) to %s", e.State, e.Value, sm.MaxDeadline)
}

// Code is INVALID_CONFIG.
func (*BadDeadline) Code() string { return string(sm.InvalidConfig) }

// Check reports the first deadline that is out of range, as *BadDeadline. Call it
// when a site's configuration is read: Within trusts what passed.
func (d *Deadlines) Check() error {
	for _, f := range [...]struct {
		state State
		value time.Duration
	}{
		{Enrolling, d.Enrolling}, {Adopting, d.Acceptance}, {Inspecting, d.Inspecting}, {Commissioning, d.Commissioning},
		{Deploying, d.Deploying}, {Releasing, d.Releasing}, {Releasing, d.SecureErase}, {Rescue, d.Rescue},
		{Rescue, d.Unrescue}, {Retiring, d.Retiring},
	} {
		if f.value < 0 || f.value > sm.MaxDeadline {
			return &BadDeadline{f.state, f.value}
		}
	}
	return nil
}
