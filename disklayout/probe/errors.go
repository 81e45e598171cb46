package probe

import "fmt"

// A NotLooked reports that a disk could not be looked at as a whole. What is on
// it is not known; it is not empty.
type NotLooked struct {
	Offset int64  // bytes from the start of the disk
	Why    string // in one line
	Err    error  // of the read, if one failed
}

// Error has one line: where, why and what to do.
func (e *NotLooked) Error() string {
	why := e.Why
	if e.Err != nil {
		why += ": " + e.Err.Error()
	}
	return fmt.Sprintf("probe: byte %d: %s (DISK-4); what is on the disk is unknown, which is not empty: repair it or choose another", e.Offset, why)
}

// Unwrap is the error of the read.
func (e *NotLooked) Unwrap() error { return e.Err }

// Code is the error's wire name (API-3).
func (e *NotLooked) Code() string { return "UNAVAILABLE" }
