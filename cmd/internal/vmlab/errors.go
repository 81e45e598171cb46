package vmlab

import (
	"fmt"
	"strings"
)

// A Missing reports what this host lacks.
type Missing struct{ What, Next string }

// Error says what to do.
func (e *Missing) Error() string { return "the lab needs " + e.What + ": " + e.Next }

// Code is the error's wire name (API-3).
func (*Missing) Code() string { return "UNSUPPORTED" }

// An Invalid reports an option that cannot be meant.
type Invalid struct{ What, Want string }

// Error says what is wanted.
func (e *Invalid) Error() string { return e.What + ": want " + e.Want }

// Code is the error's wire name (API-3).
func (*Invalid) Code() string { return "INVALID_INPUT" }

// A BadKernel reports a file that no kernel can be taken from.
type BadKernel struct {
	File string
	Err  error
}

// Error says what is wanted.
func (e *BadKernel) Error() string {
	return fmt.Sprintf("taking the kernel of %s: %v; want a whole Debian package with one kernel: remove this one, and apt-get download it again", e.File, e.Err)
}

// Unwrap is what is wrong with it.
func (e *BadKernel) Unwrap() error { return e.Err }

// Code is the error's wire name (API-3).
func (*BadKernel) Code() string { return "INVALID_INPUT" }

// An Exists reports a folder that is there already. A lab's folder is new, so that
// nothing of another is taken for its own.
type Exists struct{ Dir string }

// Error says what to do.
func (e *Exists) Error() string {
	return "the folder " + e.Dir + " is there: give a new one, or remove it (after `ingot lab down`, if its lab is up)"
}

// Code is the error's wire name (API-3).
func (*Exists) Code() string { return "CONFLICT" }

// A Failed reports a step of a run that did not come to its end.
type Failed struct {
	Machine string // "" where it is the site's
	Step    string
	Err     error
	Console []string // the machine's last lines
	Next    string
}

// Error has the last lines of the console.
func (e *Failed) Error() string {
	var b strings.Builder
	if e.Machine != "" {
		b.WriteString(e.Machine + ": ")
	}
	fmt.Fprintf(&b, "%s: %v", e.Step, e.Err)
	if e.Next != "" {
		b.WriteString("; " + e.Next)
	}
	for _, l := range e.Console {
		b.WriteString("\n    | " + l)
	}
	return b.String()
}

// Unwrap is the cause.
func (e *Failed) Unwrap() error { return e.Err }

// Code is the error's wire name (API-3).
func (*Failed) Code() string { return "UNAVAILABLE" }
