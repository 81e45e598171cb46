// Package program is what the command lines of the daemons have in common: how they
// refuse, what they end with, and how they answer.
package program

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// Usage reports a command line that cannot be meant.
type Usage struct{ Err error }

// Error says what is wrong.
func (e *Usage) Error() string { return e.Err.Error() }

// Unwrap is what is wrong.
func (e *Usage) Unwrap() error { return e.Err }

// Code is the error's wire name (API-3).
func (*Usage) Code() string { return "INVALID_INPUT" }

// exits are the exit codes of API-3's codes; any other error is 1.
func exits() map[string]int {
	return map[string]int{"NOT_FOUND": 3, "ACCESS_DENIED": 4, "UNAUTHENTICATED": 4, "CONFLICT": 5, "INVALID_STATE": 5, "INVALID_INPUT": 6, "INVALID_CONFIG": 6, "UNAVAILABLE": 7, "RATE_LIMITED": 7}
}

// ExitCode is what the process ends with after an error.
func ExitCode(err error) int {
	if _, usage := errors.AsType[*Usage](err); usage {
		return 2
	}
	if coded, ok := errors.AsType[interface {
		error
		Code() string
	}](err); ok {
		if n := exits()[coded.Code()]; n != 0 {
			return n
		}
	}
	return 1
}

// Say answers on out: with v as JSON where asked, else with text for people.
func Say(out io.Writer, asJSON bool, v any, format string, args ...any) error {
	if !asJSON {
		_, err := fmt.Fprintf(out, format+"\n", args...)
		return err
	}
	enc := json.NewEncoder(out)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}
