package config

import (
	"fmt"
	"strings"
)

// An Invalid is one thing that is wrong with a configuration file. What Load and
// Check return joins all of them.
type Invalid struct {
	File  string   // as it was named; empty when the value came from no file
	Line  int      // from 1; 0 when no line is to blame
	Path  string   // the field, as in store.postgres.schema; empty for the whole file
	What  string   // what is wrong, and what is wanted; it repeats no value of the file
	Known []string // the fields that are known there, where one was not
}

// Error says where, which field and what to write instead.
func (e *Invalid) Error() string {
	var b strings.Builder
	if e.File != "" {
		b.WriteString(e.File)
		if e.Line > 0 {
			fmt.Fprintf(&b, ":%d", e.Line)
		}
		b.WriteString(": ")
	}
	if e.Path != "" {
		b.WriteString(e.Path + ": ")
	}
	b.WriteString(e.What)
	if len(e.Known) > 0 {
		b.WriteString(" (known here: " + strings.Join(e.Known, ", ") + ")")
	}
	return b.String()
}

// Code is the error's wire name (API-3).
func (*Invalid) Code() string { return "INVALID_CONFIG" }
