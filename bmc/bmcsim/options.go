package bmcsim

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"time"
)

// Options say how a BMC behaves. The zero value is a BMC that does at once and without
// faults what its tree allows.
type Options struct {
	Auth  Auth
	Power Power
	Boot  Boot
	Bios  Bios
	Media Media
	ETags ETags
	Tasks Tasks
	Load  Load
	Rules []Rule // all that match a request apply, in order

	// Backend makes what is behind a system, which is on or not in the tree. nil is
	// a [Memory] for each.
	Backend func(system string, on bool) Backend
	// LogSize is how many requests are remembered; default 128.
	LogSize int
}

// A Password does not show itself.
type Password string

// String hides it.
func (Password) String() string { return "[hidden]" }

// GoString hides it.
func (Password) GoString() string { return "[hidden]" }

// LogValue hides it.
func (Password) LogValue() slog.Value { return slog.StringValue("[hidden]") }

// MarshalText hides it.
func (Password) MarshalText() ([]byte, error) { return []byte("[hidden]"), nil }

// What a BMC has where Auth says nothing.
const (
	DefaultUser     = "root"
	DefaultPassword = "ingot-bmcsim"
	DefaultSessions = 16
)

// Auth is who is let in. There is one account that can log in. An account of the tree
// with its name is that account, else one is added.
type Auth struct {
	User     string   // default DefaultUser
	Password Password // default DefaultPassword
	NoBasic  bool     // Basic authentication is refused

	// Sessions may be open at once; default DefaultSessions. One more is refused with
	// the status Full, 503 (the default) or 400.
	Sessions, Full int
	// Idle ends a session that is not used for so long; default the tree's SessionTimeout,
	// else 30 minutes.
	Idle time.Duration
	// Lockout failures in a row lock the account for LockoutFor, for the right
	// password too. 0 is what the tree says, less than 0 never.
	Lockout    int
	LockoutFor time.Duration
	// MaxPassword bytes a new password may have; 0 is what the tree says, else 255.
	MaxPassword int
	// MustChange refuses everything but a new password with PasswordChangeRequired.
	MustChange bool
	// HeaderOnLogin is the status for a login that has an Authorization header; 0 does
	// not look.
	HeaderOnLogin int
	// NoToken leaves out X-Auth-Token where a login succeeded.
	NoToken bool
}

// Power is how power changes, and how that is shown. The times of what happens are
// [Memory]'s, another [Backend] has its own.
type Power struct {
	OnTakes, OffTakes time.Duration // until an order to turn on, to turn off, is carried out
	RestartTakes      time.Duration // no power after a forced restart
	ShutdownTakes     time.Duration // from the power button to off
	Deaf              bool          // the power button does nothing

	HideTransitions bool          // no PoweringOn, no PoweringOff: the old state until it is done
	Stale           time.Duration // the state before an order is read for so long after it
	// Flicker shows Off for so long, then On for so long, then Off again.
	Flicker time.Duration

	ChassisLag   time.Duration // the chassis shows a change so much later
	ChassisReads string        // what the chassis always shows, such as On

	OnRefused time.Duration // after turning off, On is refused with 409 for so long
	// WrongState is the status for an order that makes no sense in the state, 400 or
	// 409. 0 accepts it: what is so stays so, and a restart turns an off system on.
	WrongState int
	// HardGraceful restarts by force where a graceful restart is asked for.
	HardGraceful bool
	// ResetTypes are what systems allow; nil is the tree's.
	ResetTypes []string
	// ActionInfo tells them by an ActionInfo, and not beside the action.
	ActionInfo bool
}

// Boot is how overrides of the boot source are taken.
type Boot struct {
	NeedsMode         bool // a target without BootSourceOverrideMode is refused
	RefusesMode       bool // BootSourceOverrideMode is refused
	DropsMode         bool // the mode becomes Legacy where it is left out
	IgnoresOnce       bool // Once is accepted and spent, and the disk boots
	DropsOnce         bool // Once is accepted and not kept
	RefusesContinuous bool
	RefusesNone       bool // the target None is refused
	SettingsOnly      bool // an override is taken by the settings object alone
	// SettingsName is the last part of the path of a settings object that the tree does
	// not have; default Settings.
	SettingsName string
}

// Bios is how attributes of the BIOS are shown.
type Bios struct {
	ShowsPending bool // those that are written read at once as if they applied
}

// Media is how slots of virtual media behave.
type Media struct {
	// Client fetches images, by http and https. With nil nothing is fetched, and any
	// URL is taken.
	Client *http.Client
	// Dir is where a fetched image is kept as a file until it is ejected. With "" it is
	// read to its end, counted and hashed, and not kept.
	Dir      string
	MaxBytes int64         // of an image; default 8 GiB
	Timeout  time.Duration // of a fetch; default 10 minutes

	Demands    []string      // parameters without which an insert is refused
	Stale      time.Duration // Inserted is read true for so long after an eject
	EjectTakes time.Duration // an insert during an eject is a 500
	NoLicence  bool          // an insert is refused with 403
	// ReadOnly accepts an insert with WriteProtected false, and then it is not there.
	ReadOnly bool
	// KeepsImage leaves Image in a slot whose medium is gone since the BMC restarted,
	// which refuses an insert until it is ejected. Every slot starts so.
	KeepsImage bool
	PatchOnly  bool // slots have no actions: Image is written
	// NoURL are patterns of names of slots that take no URL, as in a [Rule].
	NoURL []string
	// RefusesEmpty refuses to eject from an empty slot.
	RefusesEmpty bool
}

// An ETagMode is how a BMC tags resources.
type ETagMode string

// The modes. The zero value tags by content, with the tree's own tag where a resource is
// as the tree has it.
const (
	ETagStrong ETagMode = "strong"
	ETagWeak   ETagMode = "weak"         // W/"tag", which If-Match matches without the W/ alone
	ETagTwice  ETagMode = "quoted-twice" // ""tag"", and If-Match with one pair of quotes or none matches
	ETagGzip   ETagMode = "gzip"         // "tag-gzip" where the client takes gzip, which If-Match does not match
	ETagEmpty  ETagMode = "empty"        // the header is there and empty
	ETagNone   ETagMode = "none"
)

// ETags are how a BMC tags resources.
type ETags struct {
	Mode     ETagMode
	Required bool // a PATCH without If-Match is a 428
}

// Ends of a task.
const (
	TaskFails    = "fails"    // it ends with Exception, and nothing was done
	TaskStaysNew = "new"      // it is done, and reads New for ever
	TaskVanishes = "vanishes" // it is done, and then a 404
)

// Tasks are how actions are answered with 202.
type Tasks struct {
	For   []string      // patterns of paths, as in a [Rule]; none: no action makes a task
	Takes time.Duration // until it ends
	Ends  string        // "" completes
}

// Load is what a BMC bears.
type Load struct {
	Starting   time.Duration // after a start, everything is a 503 for so long
	RetryAfter time.Duration // that such a 503 tells
	Rebooting  time.Duration // after a reset of the manager, connections are dropped for so long
	// Concurrent requests are served at once, more are answered with the status Over,
	// 429 by default. 0 has no limit.
	Concurrent, Over int
	// A request that follows another sooner than Interval counts; Burst such requests
	// in a row freeze the BMC: connections are dropped for Freeze.
	Interval time.Duration
	Burst    int
	Freeze   time.Duration
}

// An OptionError says which option cannot be.
type OptionError struct{ Option, Why string }

// Error names the option.
func (e *OptionError) Error() string { return fmt.Sprintf("bmcsim: %s: %s", e.Option, e.Why) }

// Code is the error's wire name.
func (*OptionError) Code() string { return "INVALID_CONFIG" }

// Validate reports all that cannot be, joined; each is an *[OptionError].
func (o Options) Validate() error {
	var errs []error
	want := func(ok bool, option, why string) {
		if !ok {
			errs = append(errs, &OptionError{option, why})
		}
	}
	for name, d := range map[string]time.Duration{
		"Auth.Idle": o.Auth.Idle, "Auth.LockoutFor": o.Auth.LockoutFor, "Power.OnTakes": o.Power.OnTakes, "Power.OffTakes": o.Power.OffTakes,
		"Power.RestartTakes": o.Power.RestartTakes, "Power.ShutdownTakes": o.Power.ShutdownTakes, "Power.Stale": o.Power.Stale, "Power.Flicker": o.Power.Flicker,
		"Power.ChassisLag": o.Power.ChassisLag, "Power.OnRefused": o.Power.OnRefused, "Media.Timeout": o.Media.Timeout, "Media.Stale": o.Media.Stale,
		"Media.EjectTakes": o.Media.EjectTakes, "Tasks.Takes": o.Tasks.Takes, "Load.Starting": o.Load.Starting, "Load.RetryAfter": o.Load.RetryAfter,
		"Load.Rebooting": o.Load.Rebooting, "Load.Interval": o.Load.Interval, "Load.Freeze": o.Load.Freeze,
	} {
		want(d >= 0, name, fmt.Sprintf("%s, want 0 or more", d))
	}
	for name, n := range map[string]int{"Auth.Sessions": o.Auth.Sessions, "Auth.MaxPassword": o.Auth.MaxPassword, "Load.Concurrent": o.Load.Concurrent, "Load.Burst": o.Load.Burst, "LogSize": o.LogSize} {
		want(n >= 0, name, fmt.Sprintf("%d, want 0 or more", n))
	}
	for name, s := range map[string]int{"Auth.Full": o.Auth.Full, "Auth.HeaderOnLogin": o.Auth.HeaderOnLogin, "Power.WrongState": o.Power.WrongState, "Load.Over": o.Load.Over} {
		want(s == 0 || s >= 400 && s < 600, name, fmt.Sprintf("%d is no status of an error", s))
	}
	switch o.ETags.Mode {
	case "", ETagStrong, ETagWeak, ETagTwice, ETagGzip, ETagEmpty, ETagNone:
	default:
		want(false, "ETags.Mode", fmt.Sprintf("%q is unknown", o.ETags.Mode))
	}
	switch o.Tasks.Ends {
	case "", TaskFails, TaskStaysNew, TaskVanishes:
	default:
		want(false, "Tasks.Ends", fmt.Sprintf("%q is unknown", o.Tasks.Ends))
	}
	for i, r := range o.Rules {
		if err := r.Validate(); err != nil {
			want(false, fmt.Sprintf("Rules[%d]", i), err.Error())
		}
	}
	return errors.Join(errs...)
}
