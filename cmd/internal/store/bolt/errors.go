package bolt

import (
	"github.com/ingotmetal/ingot/cmd/internal/store"
	"github.com/ingotmetal/ingot/statemachine/journal"
)

// A Refused reports a file that was not opened, though nothing says that it is
// damaged. Nothing was changed.
type Refused struct {
	Path string
	Why  string
	Next string // what to do
	Err  error
	code string
}

// Error says what is wrong and what to do.
func (e *Refused) Error() string {
	s := "store: " + e.Path + " " + e.Why
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s + "; " + e.Next
}

// Unwrap is what was met on the way.
func (e *Refused) Unwrap() error { return e.Err }

// Code is the error's wire name (API-3): CONFLICT where another process has the
// file, else INVALID_CONFIG.
func (e *Refused) Code() string {
	if e.code == "" {
		return "INVALID_CONFIG"
	}
	return e.code
}

// restore is what to do about a damaged file.
const restore = "keep the file for whoever looks into it, and put the newest backup in its place with `ingotd restore`"

func damaged(what string, have journal.Head, err error) *store.Damaged {
	return &store.Damaged{What: what, Have: have, Next: restore, Err: err}
}
