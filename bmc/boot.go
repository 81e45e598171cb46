package bmc

import "context"

// A BootTarget is what a machine boots from.
type BootTarget string

// The targets that have a name here; a BMC may list more, which are passed as
// they stand.
const (
	BootNone  BootTarget = "none" // no override
	BootPXE   BootTarget = "pxe"
	BootURI   BootTarget = "http" // UEFI HTTP boot, of BootSpec.URI where it is set
	BootDisk  BootTarget = "disk"
	BootCD    BootTarget = "cd" // virtual media too
	BootUSB   BootTarget = "usb"
	BootSetup BootTarget = "setup" // of the firmware
)

// A BootLife is how long an override stands.
type BootLife string

// The lives.
const (
	Once       BootLife = "once" // spent by the next boot
	Persistent BootLife = "persistent"
)

// A BootMode is the firmware's way of booting.
type BootMode string

// The modes. The zero value leaves it as it is.
const (
	UEFI   BootMode = "uefi"
	Legacy BootMode = "legacy"
)

// A BootSpec is a wanted override.
type BootSpec struct {
	Target BootTarget
	Life   BootLife // default Once
	Mode   BootMode // default: unchanged
	URI    string   // of BootURI
}

// A BootState is what stands.
type BootState struct {
	Target  BootTarget // BootNone: no override
	Life    BootLife   // empty without one
	Mode    BootMode   // empty: not reported
	URI     string
	Raw     string // target, life and mode as the BMC says them
	Pending bool   // it waits in a settings object for the next start of the machine
	Source  string // the resource that was read
}

// Boot is a session whose machine's boot can be overridden.
type Boot interface {
	// BootTargets are what the machine lists, ours by our names, sorted.
	BootTargets(ctx context.Context) ([]BootTarget, error)
	ReadBoot(ctx context.Context) (BootState, error)
	// SetBoot sets an override, reads it back and returns what stands. An
	// override that does not stand, or not for the life that was asked, is an
	// error: nothing is faked. A life or target that is not listed is
	// [Unsupports], with nothing sent.
	SetBoot(ctx context.Context, s BootSpec) (BootState, error)
	// ClearBoot removes the override; without one it succeeds.
	ClearBoot(ctx context.Context) (BootState, error)
}

// Stands reports whether b is what s asked for. Persistent must be persistent;
// an unasked mode may be any.
func (s BootSpec) Stands(b BootState) bool {
	life := s.Life
	if life == "" {
		life = Once
	}
	if s.Target == BootNone {
		return b.Target == BootNone
	}
	return b.Target == s.Target && b.Life == life && (s.Mode == "" || b.Mode == s.Mode) && (s.URI == "" || b.URI == s.URI)
}
