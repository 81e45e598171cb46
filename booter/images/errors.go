package images

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"
)

// Invalid reports a manifest that is none.
type Invalid struct{ What, Value, Want string }

func invalid(what, value, want string) *Invalid { return &Invalid{what, value, want} }

// Error names the value and what was wanted.
func (e *Invalid) Error() string {
	return fmt.Sprintf("images: %s: %s, want %s", e.What, e.Value, e.Want)
}

// Code is the error's wire name.
func (*Invalid) Code() string { return "INVALID_INPUT" }

// Mismatch reports a source that is not the file that was stated. Nothing was
// staged.
type Mismatch struct {
	File string
	What string // "sha256" or "size"

	Stated, Got string
}

// Error says what was stated and what came.
func (e *Mismatch) Error() string {
	return fmt.Sprintf("images: %s has the %s %s, and %s was stated; nothing was staged: fetch it again, or state what it is", e.File, e.What, e.Got, e.Stated)
}

// Code is the error's wire name.
func (*Mismatch) Code() string { return "INVALID_INPUT" }

// Unreadable reports a source that cannot be read, or that is missing. Nothing was
// staged.
type Unreadable struct {
	File string
	Err  error
}

// Error says which and why.
func (e *Unreadable) Error() string {
	return fmt.Sprintf("images: the source of %s: %v; nothing was staged", e.File, e.Err)
}

// Unwrap is what the system said.
func (e *Unreadable) Unwrap() error { return e.Err }

// Code is the error's wire name.
func (*Unreadable) Code() string { return "INVALID_INPUT" }

// ErrNoFolder says that the folder of a store is not there, as *[Unknown] does.
var ErrNoFolder = errors.New("images: there is no such folder")

// Unknown reports a folder, an image, a file or a digest that is not here. It is a
// fs.ErrNotExist.
type Unknown struct {
	What   string
	folder bool
}

// Error names it.
func (e *Unknown) Error() string { return "images: there is no " + e.What }

// Is makes it fs.ErrNotExist, and ErrNoFolder where that is not there.
func (e *Unknown) Is(target error) bool {
	return target == fs.ErrNotExist || e.folder && target == ErrNoFolder
}

// Code is the error's wire name.
func (*Unknown) Code() string { return "NOT_FOUND" }

// Harmed reports an image, or a part of the folder, that is not as it was staged.
type Harmed struct{ What, Why string }

// Error says what is wrong and what to do.
func (e *Harmed) Error() string {
	return fmt.Sprintf("images: %s: %s; stage the image again, or remove it", e.What, e.Why)
}

// Code is the error's wire name.
func (*Harmed) Code() string { return "INVALID_STATE" }

// Full reports that the disk under the folder has no room. Nothing was staged.
type Full struct {
	Dir     string
	Need    int64  // bytes that are still to be written, at least
	Largest string // the image whose removal would free most; "" if there is none
	Frees   int64  // bytes that it would free at most
	Err     error
}

// Error says what to free.
func (e *Full) Error() string {
	what := "nothing is staged that could be removed: give the folder a larger disk"
	if e.Largest != "" {
		what = fmt.Sprintf("remove images that nothing boots (the largest is %s, %d bytes), or give the folder a larger disk", e.Largest, e.Frees)
	}
	return fmt.Sprintf("images: %s has no room for at least %d more bytes (%v); nothing was staged: %s", e.Dir, e.Need, e.Err, what)
}

// Unwrap is what the system said.
func (e *Full) Unwrap() error { return e.Err }

// Code is the error's wire name.
func (*Full) Code() string { return "UNAVAILABLE" }

// Busy reports that another process stages or removes, and that the caller's time
// ended before its turn came. Nothing was changed.
type Busy struct {
	Dir string
	Err error // the cause of the context's end
}

// Error says what to do.
func (e *Busy) Error() string {
	return fmt.Sprintf("images: another process stages or removes in %s, and its turn was waited for until: %v; nothing was changed: try again when it is done", e.Dir, e.Err)
}

// Unwrap is the cause of the context's end.
func (e *Busy) Unwrap() error { return e.Err }

// Code is the error's wire name.
func (*Busy) Code() string { return "UNAVAILABLE" }

// Failed reports a folder that cannot be read or written.
type Failed struct {
	Dir string
	Err error
}

// Error says why.
func (e *Failed) Error() string {
	return fmt.Sprintf("images: %s: %v; check that it is a folder and who may write there", e.Dir, e.Err)
}

// Unwrap is what the system said.
func (e *Failed) Unwrap() error { return e.Err }

// Code is the error's wire name.
func (e *Failed) Code() string {
	if errors.Is(e.Err, fs.ErrPermission) {
		return "ACCESS_DENIED"
	}
	return "UNAVAILABLE"
}

// noRoom reports whether err says that a disk or a quota is used up.
func noRoom(err error) bool { return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) }
