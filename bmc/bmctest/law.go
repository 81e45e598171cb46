package bmctest

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/ingotmetal/ingot/bmc"
)

// A Level says what a law needs.
type Level string

// The levels.
const (
	Pure        Level = "P"
	Simulated   Level = "S"
	Recorded    Level = "R"
	Live        Level = "L" // reads alone
	Destructive Level = "D"
)

// A Law is one promise of a driver.
type Law struct {
	Number int
	Level  Level
	Name   string
	Needs  []bmc.Feature // of which the driver must declare one, else the law does not bind it
	Scenes []Scene       // it is checked in each
	check  func(context.Context, *try) error
}

// A Subject is a driver under test.
type Subject struct {
	Driver  bmc.Driver
	Options json.RawMessage // that are valid for it; may be empty
	// Stage shows a BMC in a scene. It answers [ErrNoScene] where it cannot. Nil:
	// only what needs no BMC is checked.
	Stage func(context.Context, Scene) (Stage, error)
	// Recordings are the recorded BMCs that Stage shows as [Tree] scenes; nil: none.
	Recordings func() []Recording
	// Levels are those to check; default P, S and R.
	Levels []Level
	// Only is the number of the one law to check; 0: all.
	Only int
	// Bubble runs each law in a synctest bubble, so that waits cost nothing. The
	// driver and the stage must then reach each other without sockets.
	Bubble bool
	// Parallel is how many checks [Judge] runs at once; default 1. What they wait
	// for then passes for all of them together.
	Parallel int
	// Fresh gives each check of [Judge] a driver and a stage of its own, which share
	// nothing with others. A [Simulator] cannot tell which of its BMCs led a driver
	// elsewhere, so that with Parallel each check wants one alone. Nil: Driver and
	// Stage are used for all.
	Fresh func() (bmc.Driver, func(context.Context, Scene) (Stage, error))
	// Patience is for the machine behind the stage; its zero value for one that
	// takes seconds.
	Patience bmc.Patience
}

// ErrNoScene is the answer of a stage that cannot show a scene.
var ErrNoScene = errors.New("bmctest: the stage has no such scene")

// A Stage is a BMC that shows one scene. What it is told has happened when the
// call returns.
type Stage interface {
	Endpoint() bmc.Endpoint       // as it should be trusted
	Credentials() bmc.Credentials // that are right
	Close() error                 // and end everything
}

// A Simulation is a stage whose machine and BMC the kit can see and move. A stage
// of live hardware is none.
type Simulation interface {
	Stage
	SetPower(bmc.State)     // at once, On or Off, as by a hand at the machine
	Power() bmc.State       // as it truly is: On or Off
	Boots() []bmc.BootState // what each power on was told to boot from
	Tally() Tally
	Image() string  // a URL from which the BMC can fetch an image
	Do(Event) error // or ErrNoScene
}

// A Tally is what a simulated BMC has seen since it began.
type Tally struct {
	Requests  int                // all
	Writes    int                // that change something: no reads, no login, no logout
	Logins    int                // that succeeded
	Failed    int                // tries with wrong credentials
	Sessions  int                // that are open now
	Peak      int                // requests at once
	Gap       time.Duration      // least time between two starts of requests
	Sent      map[bmc.Action]int // actions that were asked for, however they were answered
	Losses    int                // times that the machine lost its power
	Elsewhere int                // requests at a host to which the BMC tried to lead the driver
	Fetched   int                // images that were fetched for a virtual drive
}

// An Event is something that happens to a BMC.
type Event string

// The events.
const (
	ExpireSessions Event = "expire-sessions" // all sessions end
	ChangePassword Event = "change-password" // Credentials then gives the new one
	RestartBMC     Event = "restart-bmc"     // it is away for ten seconds, and has forgotten its sessions
)
