package lifecycle

import (
	"fmt"
	"net/netip"
	"slices"
	"time"

	sm "github.com/ingotmetal/ingot/statemachine"
	"github.com/ingotmetal/ingot/statemachine/netboot"
	"github.com/ingotmetal/ingot/statemachine/provision"
	"github.com/ingotmetal/ingot/statemachine/run"
)

// Limits of a site.
const (
	MaxWindow     = 24 * time.Hour // a longer window is clamped (REG-7, REG-10)
	MaxSlots      = 1_000_000      // of a window's budget
	MaxUnapproved = 10_000         // rows never approved, default (REG-10)
	MaxReregister = 10             // registers of one UUID an hour (REG-10)
	MaxDiscovered = 10_000         // discovered records, default (BOOT-16)
	MaxExclude    = 4_096          // addresses kept from the pool, besides gateway and server
)

// Site is what all nodes of a site share: one epoch counter, policy, windows,
// addresses, and the counts that bound strangers.
type Site struct {
	Epoch  uint64 // the last that was given; epochs never repeat (EDGE-7)
	Policy Policy
	Pool   Pool
	// AutoApprove lets registers in without a claim code; Enroll lets new
	// UUIDs announce themselves at a strict site. Neither permits a write to
	// a disk (REG-10).
	AutoApprove, Enroll Window
	Unapproved          int // rows never approved
	Discovered          int // discovered boot records
}

// Policy is a site's configuration. The zero value is a site that admits all
// MACs and has no images.
type Policy struct {
	Strict        bool     // auto-enroll off (REG-10)
	Allow         []string // allow-list entries (BOOT-19)
	Network       netip.Prefix
	Gateway       netip.Addr
	Server        netip.Addr // the booter's own
	Exclude       []netip.Addr
	Enrollment    string // image
	Rescue        string // image
	AnswerAny     bool   // answer_only_pxe off; for the edge, it decides nothing here
	ClearBundles  bool   // stock agents may get their bundle in clear (SET-17)
	MaxUnapproved int    // zero: MaxUnapproved
	MaxDiscovered int    // zero: MaxDiscovered
	Deadlines     provision.Deadlines
	Runs          run.Deadlines // evicting has none (RUN-5)

	allow netboot.AllowList
}

// Check reports what is wrong with a policy when it is written, so that no
// sighting meets it later: image references that fail the gate (BOOT-2),
// negative bounds, exclusions that are no IPv4 addresses, deadlines out of
// range (INVALID_CONFIG; the others are INVALID_INPUT).
func (p *Policy) Check() error {
	for _, ref := range []string{p.Enrollment, p.Rescue} {
		if ref == "" {
			continue
		}
		if err := netboot.CheckImage(ref); err != nil {
			return err
		}
	}
	if p.MaxUnapproved < 0 || p.MaxDiscovered < 0 {
		return invalid("set-policy", "REG-10", "limits are 0 (the default) or more")
	}
	if len(p.Exclude) > MaxExclude || slices.ContainsFunc(p.Exclude, func(a netip.Addr) bool { return !a.Unmap().Is4() }) {
		return invalid("set-policy", "BOOT-19", "excluded are at most %d IPv4 addresses", MaxExclude)
	}
	if err := p.Runs.Check(); err != nil {
		return err
	}
	return p.Deadlines.Check()
}

// orDefault is n, or the standard where n is zero.
func orDefault(n, standard int) int {
	if n == 0 {
		return standard
	}
	return n
}

// lends reports whether an address that a record lost is free for another:
// policy may have changed since it was reserved (BOOT-19, BOOT-22).
func (s *Site) lends(a netip.Addr) bool {
	p := &s.Policy
	return s.Pool.holds(a) && a != p.Gateway.Unmap() && a != p.Server.Unmap() &&
		!slices.ContainsFunc(p.Exclude, func(x netip.Addr) bool { return x.Unmap() == a })
}

// Window is open until End, for a number of slots where Slots is set. The zero
// Window is closed.
type Window struct {
	End    time.Time
	Budget bool // Slots counts
	Slots  int  // left
}

// open reports whether w takes another at now.
func (w *Window) open(now time.Time) bool {
	return now.Before(w.End) && (!w.Budget || w.Slots > 0)
}

// take uses a slot.
func (w *Window) take() {
	if w.Budget {
		w.Slots--
	}
}

// WindowError reports a window that cannot be opened.
type WindowError struct{ Why string }

// Error says what is wanted.
func (e *WindowError) Error() string { return "window: " + e.Why }

// Code is INVALID_INPUT.
func (*WindowError) Code() string { return string(sm.InvalidInput) }

// NewWindow is a window from now to end. An end more than 24 h away is clamped
// (REG-7); slots of 0 means no budget.
func NewWindow(now, end time.Time, slots int) (Window, error) {
	switch {
	case !end.After(now):
		return Window{}, &WindowError{"the end must lie in the future"}
	case slots < 0 || slots > MaxSlots:
		return Window{}, &WindowError{fmt.Sprintf("want 0 (no budget) to %d slots", MaxSlots)}
	}
	if latest := now.Add(MaxWindow); end.After(latest) {
		end = latest
	}
	return Window{End: keep(end), Budget: slots > 0, Slots: slots}, nil
}

// admits is what the allow-list says. A policy that was neither written by
// SetPolicy nor read by Load has a list that was never parsed, which would admit
// all: it admits nobody.
func (p *Policy) admits(mac netboot.MAC, tag string) bool {
	return p.allow.Len() == len(p.Allow) && p.allow.Admits(mac, tag)
}

// prepare checks p and reads its allow-list.
func (p *Policy) prepare() error {
	if err := p.Check(); err != nil {
		return err
	}
	allow, err := netboot.ParseAllow(p.Allow)
	p.allow = allow
	return err
}
