// Package uki makes unified kernel images: one program for UEFI firmware that holds a
// kernel, its arguments and its RAM disk (specification of the UAPI group, "Unified
// Kernel Image"), and signs such programs for Secure Boot (Windows Authenticode Portable
// Executable Signature Format, version 1.0).
//
// An image is the stub that systemd brings, with sections behind its own. The same
// inputs give the same bytes; a signature has no time in it, and with an RSA key is the
// same too.
package uki

import "fmt"

// Bounds of an image.
const (
	MaxImage    = 1 << 30 // bytes
	MaxSections = 32
)

// Invalid reports a stub, an image, a section or a key that is none.
type Invalid struct{ What, Why string }

// Error says what is wrong.
func (e *Invalid) Error() string { return fmt.Sprintf("uki: the %s %s", e.What, e.Why) }

// Code is the error's wire name (API-3).
func (*Invalid) Code() string { return "INVALID_INPUT" }

// A Section is a part of an image.
type Section struct {
	Name string // at most 8 bytes, such as .linux
	Data []byte
}
