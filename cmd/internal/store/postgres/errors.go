package postgres

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/ingotmetal/ingot/cmd/internal/store"
)

// Invalid reports options that cannot be. The cause names every one.
type Invalid struct{ Err error }

// Error names the options.
func (e *Invalid) Error() string { return "postgres: invalid options: " + e.Err.Error() }

// Unwrap is the cause.
func (e *Invalid) Unwrap() error { return e.Err }

// Code is the error's wire name (API-3).
func (*Invalid) Code() string { return "INVALID_CONFIG" }

// Unsafe reports a server that may lose what it acknowledged, or that is none of
// those that the store knows.
type Unsafe struct{ Why []string }

// Error says what to set.
func (e *Unsafe) Error() string {
	return "postgres: the server may lose what it acknowledges: " + strings.Join(e.Why, "; ")
}

// Code is the error's wire name (API-3).
func (*Unsafe) Code() string { return "INVALID_CONFIG" }

// Newer reports a schema made by a newer program: it is read, and not written
// (MACH-8).
type Newer struct{ Have, Know int }

// Error says what to do.
func (e *Newer) Error() string {
	return fmt.Sprintf("postgres: the schema has number %d, and this program writes up to %d: upgrade it, or open for reading", e.Have, e.Know)
}

// Code is the error's wire name (API-3).
func (*Newer) Code() string { return "INVALID_STATE" }

// Foreign reports a schema that holds another log.
type Foreign struct{ Have, Want string }

// Error says what to do.
func (e *Foreign) Error() string {
	return fmt.Sprintf("postgres: the schema holds the log %q, not %q: name another schema or database", e.Have, e.Want)
}

// Code is the error's wire name (API-3).
func (*Foreign) Code() string { return "CONFLICT" }

// Absent reports a schema that no writer has made yet.
type Absent struct{ Schema string }

// Error says what to do.
func (e *Absent) Error() string {
	return fmt.Sprintf("postgres: there is no schema %q here: start the writer first", e.Schema)
}

// Code is the error's wire name (API-3).
func (*Absent) Code() string { return "NOT_FOUND" }

// Holder is who writes.
type Holder struct {
	Writer string // as it calls itself
	Since  time.Time
	Fence  int64
}

// String names the writer.
func (h Holder) String() string {
	if h.Fence == 0 {
		return "another process"
	}
	name := h.Writer
	if name == "" {
		name = "a process without a name"
	}
	return fmt.Sprintf("%s (since %s, fence %d)", name, h.Since.UTC().Format(time.RFC3339), h.Fence)
}

// Busy reports that another process holds the writer's lock.
type Busy struct{ Holder Holder }

// Error says who and what to do.
func (e *Busy) Error() string {
	return "postgres: " + e.Holder.String() + " writes; stop it first, or wait for it"
}

// Code is the error's wire name (API-3).
func (*Busy) Code() string { return "CONFLICT" }

// Fenced reports that another process has become the writer. This one has stopped.
type Fenced struct {
	Mine int64 // this process's fence
	Now  Holder
}

// Error says who and what to do.
func (e *Fenced) Error() string {
	return fmt.Sprintf("postgres: this process wrote with fence %d, and now %s does: ask there, or start again", e.Mine, e.Now)
}

// Code is the error's wire name (API-3).
func (*Fenced) Code() string { return "UNAVAILABLE" }

// final reports whether a writer must stop over err.
func final(err error) bool {
	var fenced *Fenced
	var harm *store.Damaged
	var newer *Newer
	return errors.As(err, &fenced) || errors.As(err, &harm) || errors.As(err, &newer)
}

// collided reports whether the server gave a transaction up for another's sake, so
// that all of it may run again: a serialization failure or a deadlock.
func collided(err error) bool {
	e, ok := errors.AsType[*pgconn.PgError](err)
	return ok && (e.Code == "40001" || e.Code == "40P01")
}

// waited reports whether a lock was not to be had in time.
func waited(err error) bool {
	e, ok := errors.AsType[*pgconn.PgError](err)
	return ok && e.Code == "55P03"
}
