package bmcsim

import (
	"context"
	"io"
	"net/http"
	"os"
)

// A Backend is the machine behind a system. Orders come one at a time; Running may be
// called at any time. An error is told to the client as a 500 with its text.
type Backend interface {
	// On turns it on with these sources of boot. It is on already: nothing.
	On(ctx context.Context, s Start) error
	// Off takes the power away. It is off already: nothing.
	Off(ctx context.Context) error
	// Press presses the power button of a machine that is on.
	Press(ctx context.Context) error
	// Reset restarts a machine that is on, without taking the power away.
	Reset(ctx context.Context, s Start) error
	// NMI interrupts a machine that is on.
	NMI(ctx context.Context) error
	// Running reports whether it has power.
	Running(ctx context.Context) (bool, error)
}

// A MediaBackend is a Backend that takes and loses media while it is on.
type MediaBackend interface {
	Backend
	Insert(ctx context.Context, m Medium) error
	Eject(ctx context.Context, slot string) error
}

// A Start is what a machine is turned on with.
type Start struct {
	// Target is the override that applies, such as Pxe or Cd; "" is none.
	Target string
	Once   bool
	Mode   string // UEFI, Legacy or ""
	URI    string // of UefiHttp
	Media  []Medium
}

// A Medium is in a slot.
type Medium struct {
	Slot           string // path of the slot
	Types          []string
	Image          string // URL without credentials
	WriteProtected bool

	Fetched bool // the image was read to its end; the rest says what it is
	Size    int64
	SHA256  [32]byte
	File    string // where it is kept until it is ejected; "" where it is not
}

// Open reads the image from its file, where it is kept.
func (m Medium) Open() (io.ReadCloser, error) { return os.Open(m.File) }

// backendFailed tells an error of a backend.
func backendFailed(err error) answer {
	return refuse(http.StatusInternalServerError, "InternalError", "The request failed due to an internal service error: "+err.Error())
}
