package cli

import "fmt"

// A Usage reports a command that cannot be what was meant. Nothing was sent.
type Usage struct {
	What string
	Next string // what to type instead; may be empty
}

func usage(format string, args ...any) *Usage { return &Usage{What: fmt.Sprintf(format, args...)} }

// then says what to type instead.
func (e *Usage) then(format string, args ...any) *Usage {
	e.Next = fmt.Sprintf(format, args...)
	return e
}

// Error says what is wrong, and what to type.
func (e *Usage) Error() string { return withNext(e.What, e.Next) }

// Code is the error's wire name (API-3).
func (*Usage) Code() string { return "INVALID_INPUT" }

func (*Usage) exit() Exit { return BadUsage }

func withNext(what, next string) string {
	if next == "" {
		return what
	}
	return what + "; " + next
}

// A Refusal reports what this side does not do, whatever the server would say.
type Refusal struct {
	What, Next string
	code       string
}

// Error says what, and what to do.
func (e *Refusal) Error() string { return withNext(e.What, e.Next) }

// Code is the error's wire name (API-3).
func (e *Refusal) Code() string { return e.code }

// A Long is an error of several lines that this side wrote, such as one with the last
// lines of a console. Those of others are shown as one line, so that none of it is taken
// for ours.
type Long struct{ Err error }

// Error is the whole text.
func (e *Long) Error() string { return e.Err.Error() }

// Unwrap is the error.
func (e *Long) Unwrap() error { return e.Err }

// Code is the error's wire name (API-3).
func (e *Long) Code() string { return CodeOf(e.Err) }

// An Ended reports a wait that ended before what it waited for.
type Ended struct {
	What string // what was last seen
	Next string // how to go on waiting
}

// Error says what was last seen.
func (e *Ended) Error() string { return withNext(e.What, e.Next) }

// Code is the error's wire name (API-3).
func (*Ended) Code() string { return "UNAVAILABLE" }

func (*Ended) exit() Exit { return WaitEnded }

// A Some reports that of several targets some failed. Each failure was told.
type Some struct{ Failed, Of int }

// Error counts them.
func (e *Some) Error() string { return fmt.Sprintf("%d of %d failed", e.Failed, e.Of) }

// Code is the error's wire name (API-3).
func (*Some) Code() string { return "CONFLICT" }

func (*Some) exit() Exit { return Partly }

// wouldChange ends a dry run that found something to do. It is no failure and
// prints nothing.
type wouldChange struct{}

func (wouldChange) Error() string { return "the command would change something" }
func (wouldChange) Code() string  { return "CONFLICT" }
func (wouldChange) exit() Exit    { return WouldChange }

// told is an error that was printed already.
type told struct{ error }

func (t told) Unwrap() error { return t.error }
