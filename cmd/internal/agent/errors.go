package agent

// An Unidentified reports a machine that does not say what it is.
type Unidentified struct{ Why string }

// Error says what is missing.
func (e *Unidentified) Error() string { return "agent: this machine cannot be told apart: " + e.Why }

// Code is the error's wire name (API-3).
func (*Unidentified) Code() string { return "UNAVAILABLE" }

// An Invalid reports a setting that cannot be meant.
type Invalid struct{ What, Why string }

// Error says which, and what would do.
func (e *Invalid) Error() string { return "agent: " + e.What + " " + e.Why }

// Code is the error's wire name (API-3).
func (*Invalid) Code() string { return "INVALID_CONFIG" }

// A BadOrder reports an order of a booter that is not carried out. Nothing was
// written.
type BadOrder struct{ Why string }

// Error says why.
func (e *BadOrder) Error() string { return "agent: the order is not carried out: " + e.Why }

// Code is the error's wire name (API-3).
func (*BadOrder) Code() string { return "CONFLICT" }

// A ClockUnset reports a clock that could not be set; the session is ended (SET-7).
type ClockUnset struct{ Err error }

// Error has the cause.
func (e *ClockUnset) Error() string {
	return "agent: the clock cannot be set, and nothing is trusted before it is (SET-7): " + e.Err.Error()
}

// Unwrap is the cause.
func (e *ClockUnset) Unwrap() error { return e.Err }

// Code is the error's wire name (API-3).
func (*ClockUnset) Code() string { return "UNAVAILABLE" }

// An Unkept reports a key that could not be kept or read.
type Unkept struct {
	What string
	Err  error // may be nil
}

// Error never has the key.
func (e *Unkept) Error() string {
	if e.Err == nil {
		return "agent: the key is not kept: " + e.What
	}
	return "agent: the key is not kept: " + e.What + ": " + e.Err.Error()
}

// Unwrap is the cause.
func (e *Unkept) Unwrap() error { return e.Err }

// Code is the error's wire name (API-3).
func (*Unkept) Code() string { return "UNAVAILABLE" }

// A Revoked reports a key that the control plane no longer takes.
type Revoked struct{ Why string }

// Error says what is next.
func (e *Revoked) Error() string {
	return "agent: the key of this machine is dead: " + e.Why + "; approve its setup again, or register it again"
}

// Code is the error's wire name (API-3).
func (*Revoked) Code() string { return "UNAUTHENTICATED" }

// A NoImage reports an image that could not be fetched.
type NoImage struct{ Why string }

// Error says why; it does not have the address, which is a secret of this machine.
func (e *NoImage) Error() string { return "agent: the image cannot be fetched: " + e.Why }

// Code is the error's wire name (API-3).
func (*NoImage) Code() string { return "UNAVAILABLE" }

// An Expired reports a registration that nobody approved in time (REG-6).
type Expired struct{}

// Error says what is next.
func (*Expired) Error() string {
	return "agent: nobody approved this machine within an hour, and its claim code is void; register it again"
}

// Code is the error's wire name (API-3).
func (*Expired) Code() string { return "UNAVAILABLE" }
