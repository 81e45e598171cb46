package lifecycle

import (
	"net/netip"
	"reflect"
	"slices"

	"github.com/ingotmetal/ingot/statemachine/netboot"
)

// BootVerb is an operator's verb on one boot record (BOOT-12): enroll,
// decommission, reactivate, purge or set-mode. It reaches what belongs to no
// machine: a bound record leaves with its machine (BOOT-4), so that
// decommissioning it by hand is a CONFLICT. Purge frees the address.
//
// Mode rescue is the exception: it may be set on any record, also a machine's, and
// stays until it is set back (BOOT-5).
type BootVerb struct {
	Call
	On     netboot.Kind
	MAC    netboot.MAC
	Mode   netboot.Mode // set-mode
	Spoken bool         // enroll: the MAC is a candidate's or metal node's by its product UUID
}

// Name is boot- and the verb.
func (in BootVerb) Name() string { return "boot-" + string(in.On) }

func (in BootVerb) apply(w *work) error {
	if err := in.check(w); err != nil {
		return err
	}
	e := netboot.Event{On: in.On, Mode: in.Mode}
	if in.Spoken {
		e.Facts |= netboot.Claimed
	}
	w.lend(&e)
	// Enroll by hand makes a record that is absent (EDGE-19); to the other verbs it is
	// NOT_FOUND (EDGE-17), and the empty one is dropped with the step.
	i := w.record(in.MAC)
	if err := w.boot(i, e); err != nil {
		return err
	}
	// The same mode again changes no record, and is not told.
	if in.On == netboot.SetMode && w.cloned {
		w.factWhy(ModeChanged, string(in.Mode))
	}
	return w.call(in.Call)
}

// check keeps the axis's other events, which joints and holders raise, away
// from operators.
func (in *BootVerb) check(w *work) error {
	switch in.On {
	case netboot.Enroll, netboot.Decommission, netboot.Reactivate, netboot.Purge:
		return nil
	case netboot.SetMode:
		if in.Mode == netboot.Normal || in.Mode == netboot.Rescue {
			return nil
		}
		return invalid(w.name, "BOOT-5", "the mode is normal or rescue")
	}
	return invalid(w.name, "BOOT-12", "%q is no operator's verb; legal: enroll, decommission, reactivate, purge, set-mode", in.On)
}

// SetPolicy replaces the site's policy. A new network, gateway, server or
// exclusion makes a new pool, without the addresses that records hold. The same
// policy again changes nothing. Attempts that are under way keep what they
// were approved with (SET-5).
//
// Reserved is every address that a boot record of the site holds, decommissioned
// ones too, read in the commit's own transaction: one that is left out is lent a
// second time.
type SetPolicy struct {
	Call
	Policy   Policy
	Reserved []netip.Addr // held by boot records
}

// Name is set-policy.
func (SetPolicy) Name() string { return "set-policy" }

func (in SetPolicy) apply(w *work) error {
	p := in.Policy
	// Before the comparison, which takes the parsed allow-list in.
	if err := p.prepare(); err != nil {
		return err
	}
	if reflect.DeepEqual(p, w.Site.Policy) {
		return w.call(in.Call)
	}
	if old := &w.Site.Policy; p.Network != old.Network || p.Gateway != old.Gateway || p.Server != old.Server || !slices.Equal(p.Exclude, old.Exclude) {
		if err := w.newPool(&p, in.Reserved); err != nil {
			return err
		}
	}
	w.Site.Policy = p
	w.factWhy(PolicyChanged, in.Reason)
	return w.call(in.Call)
}

// newPool makes the pool anew; a policy without network has none.
func (w *work) newPool(p *Policy, reserved []netip.Addr) error {
	if !p.Network.IsValid() {
		w.Site.Pool = Pool{}
		return nil
	}
	exclude := append([]netip.Addr{p.Gateway, p.Server}, p.Exclude...)
	// Records may hold addresses of the network before; NewPool passes them by.
	pool, err := NewPool(p.Network, append(exclude, reserved...)...)
	w.Site.Pool = pool
	return err
}

// The kinds of window.
const (
	AutoApproveWindow = "auto-approve"
	EnrollWindow      = "enroll"
)

// SetWindow opens or closes one of the site's windows (REG-7, REG-10). A zero
// Window closes it.
type SetWindow struct {
	Call
	Kind   string
	Window Window // from NewWindow
}

// Name is set-window.
func (SetWindow) Name() string { return "set-window" }

func (in SetWindow) apply(w *work) error {
	name, was := WindowClosed, w.Site
	if in.Window != (Window{}) {
		// To NewWindow no slots mean no budget, which is a window for everyone.
		if in.Window.Budget && in.Window.Slots == 0 {
			return invalid(w.name, "REG-7", "a budget of no slots opens nothing; close the window instead")
		}
		// Again, by the time of the step: the 24 h count from there (REG-7).
		win, err := NewWindow(w.now, in.Window.End, in.Window.Slots)
		if err != nil {
			return err
		}
		in.Window, name = win, WindowOpened
	}
	switch in.Kind {
	case AutoApproveWindow:
		w.Site.AutoApprove = in.Window
	case EnrollWindow:
		w.Site.Enroll = in.Window
	default:
		return invalid(w.name, "REG-10", "%q is no window; legal: %s, %s", in.Kind, AutoApproveWindow, EnrollWindow)
	}
	if w.Site.AutoApprove != was.AutoApprove || w.Site.Enroll != was.Enroll {
		w.factWhy(name, in.Kind)
	}
	return w.call(in.Call)
}
