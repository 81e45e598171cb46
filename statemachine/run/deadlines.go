package run

import (
	"fmt"
	"time"

	sm "github.com/ingotmetal/ingot/statemachine"
)

// Deadlines are a site's own deadlines of runs. A zero field takes MACH-5's
// default; Check says what a field may be. Evicting is not among them: RUN-5
// fixes it.
type Deadlines struct {
	Provision, Attest time.Duration
	Wipe              time.Duration // also of the retirement's wiping
}

// Within is the site's deadline for the attempt that a run may begin from r;
// zero leaves the action's own. It does not care whether the begin is refused:
// then nothing is opened.
func (d Deadlines) Within(r *Record) time.Duration {
	switch r.Action {
	case Provision:
		return d.Provision
	case Attest:
		return d.Attest
	case Wipe:
		return d.Wipe
	}
	return 0
}

// BadDeadline reports a site's deadline that is out of range. A negative one
// would expire runs as they begin.
type BadDeadline struct {
	Action Action
	Value  time.Duration
}

// Error names the action and the range.
func (e *BadDeadline) Error() string {
	return fmt.Sprintf("deadline of %s is %s: want 0 (the default) to %s", e.Action, e.Value, sm.MaxDeadline)
}

// Code is INVALID_CONFIG.
func (*BadDeadline) Code() string { return string(sm.InvalidConfig) }

// Check reports the first deadline that is out of range, as *BadDeadline. Call it
// when a site's configuration is read: Within trusts what passed.
func (d *Deadlines) Check() error {
	for _, f := range [...]struct {
		action Action
		value  time.Duration
	}{{Provision, d.Provision}, {Attest, d.Attest}, {Wipe, d.Wipe}} {
		if f.value < 0 || f.value > sm.MaxDeadline {
			return &BadDeadline{f.action, f.value}
		}
	}
	return nil
}
