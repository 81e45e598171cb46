package cli

import (
	"context"
	"errors"
	"iter"
)

// An Exit is the code with which a command ends.
type Exit int

// The exit codes. Scripts rely on them; they are never renumbered.
const (
	Done        Exit = iota // done, or so already
	Other                   // any other failure
	BadUsage                // the command cannot be meant; nothing was sent
	Absent                  // NOT_FOUND
	Denied                  // ACCESS_DENIED, UNAUTHENTICATED
	Illegal                 // CONFLICT, INVALID_STATE
	Invalid                 // INVALID_INPUT, by the server's judgement
	Unavailable             // UNAVAILABLE, RATE_LIMITED
	WaitEnded               // --timeout or an interrupt ended a wait, or an answer was lost
	Partly                  // of several targets some failed
	WouldChange             // --dry-run found that there is something to do
)

// exits are the codes in order, with what they mean.
var exits = []struct {
	code  Exit
	means string
	of    []string // codes of API-3 that end so
}{
	{Done, "done, or it was so already; a dry run: nothing would change", nil},
	{Other, "any other failure; a broken audit chain, a harmed image, or a broken law", []string{"UNSUPPORTED", "INVALID_CONFIG"}},
	{BadUsage, "usage: the command cannot be meant, or destroys and lacks --yes; nothing was sent", nil},
	{Absent, "absent: there is no such thing, or none that you may see", []string{"NOT_FOUND"}},
	{Denied, "denied: not signed in, not allowed, an unknown key of a server or BMC, or a readonly context", []string{"ACCESS_DENIED", "UNAUTHENTICATED"}},
	{Illegal, "conflict or illegal: the state does not accept it, or another version or holder stands in the way", []string{"CONFLICT", "INVALID_STATE"}},
	{Invalid, "invalid: the server refuses the input", []string{"INVALID_INPUT"}},
	{Unavailable, "unavailable: no answer, exhausted or too often; try again later", []string{"UNAVAILABLE", "RATE_LIMITED"}},
	{WaitEnded, "a wait ended before what it waited for, or the answer to a change was lost: look before you ask again", nil},
	{Partly, "partly done: of several targets some failed", nil},
	{WouldChange, "a dry run: the command would change something", nil},
}

// Exits yields every exit code with what it means, in order.
func Exits() iter.Seq2[Exit, string] {
	return func(yield func(Exit, string) bool) {
		for _, e := range exits {
			if !yield(e.code, e.means) {
				return
			}
		}
	}
}

// exitOf is the code with which a command ends that met err.
func exitOf(err error) Exit {
	if err == nil {
		return Done
	}
	if own, ok := errors.AsType[interface {
		error
		exit() Exit
	}](err); ok {
		return own.exit()
	}
	if coded, ok := errors.AsType[interface {
		error
		Code() string
	}](err); ok {
		return exitOfCode(coded.Code())
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return Unavailable
	}
	return Other
}

// exitOfCode is the exit code of a code of API-3.
func exitOfCode(code string) Exit {
	for _, e := range exits {
		for _, c := range e.of {
			if c == code {
				return e.code
			}
		}
	}
	return Other
}
