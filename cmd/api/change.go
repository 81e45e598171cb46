package api

import (
	"fmt"
	"io"
	"log/slog"
	"time"
)

// Change is embedded by the input of every mutation that a person calls (API-1).
type Change struct {
	Version        uint64 `query:"version" minimum:"1" doc:"refuse when the record is no longer at this version; leave out for any"`
	Reason         string `query:"reason" maxLength:"256" pattern:"^[^\\x00-\\x1f\\x7f]*$" doc:"why, for the event and the audit trail"`
	DryRun         bool   `query:"dry_run" doc:"decide and answer, change nothing"`
	IdempotencyKey string `header:"Idempotency-Key" maxLength:"128" pattern:"^[!-~]+$" doc:"the same key again answers what the first call did"`
}

// Outcome is embedded by the output of every mutation that a person calls: what
// the commit did, or would do.
type Outcome struct {
	Revision uint64   `json:"revision" doc:"of the commit; of the last one where nothing changed"`
	Facts    []string `json:"facts" doc:"what became true, in order; empty where nothing changed"`
	Replayed bool     `json:"replayed,omitempty" doc:"an earlier call with this Idempotency-Key did it"`
	Dry      bool     `json:"dry,omitempty" doc:"nothing was changed"`
	Moves    []Move   `json:"moves,omitempty" doc:"axes that moved"`
	Rows     []Row    `json:"rows,omitempty" doc:"rows that were written, in a dry run those that would be"`
}

// Move is one axis that went from one state to another.
type Move struct {
	Axis string `json:"axis" doc:"registration, boot, provision, scheduling, connectivity or run"`
	From string `json:"from"`
	To   string `json:"to"`
}

// Row is one row of the store that a commit touched. Its value is not shown.
type Row struct {
	Key    string `json:"key"`
	Change string `json:"change" enum:"put,delete"`
}

// Page is embedded by the inputs of lists.
type Page struct {
	Limit  int    `query:"limit" minimum:"1" maximum:"50" doc:"the most to answer with, 1-50; default 50"`
	Cursor string `query:"cursor" maxLength:"256" pattern:"^[A-Za-z0-9._:=-]+$" doc:"next_cursor of the page before"`
}

// Next is embedded by the outputs of lists.
type Next struct {
	NextCursor string `json:"next_cursor,omitempty" doc:"of the next page; absent on the last"`
}

// LongPoll is embedded by the inputs of long polls.
type LongPoll struct {
	Wait Duration `query:"wait" doc:"how long to wait for news, up to 60s; left out answers at once"`
}

// MaxWait is the longest that a long poll waits.
const MaxWait = time.Minute

// Empty is the input of an operation that takes none.
type Empty struct{}

// Duration is a length of time that is written like 1h30m.
type Duration struct{ time.Duration }

// MarshalText writes d as [time.Duration] prints it.
func (d Duration) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText reads what [time.ParseDuration] reads. Its error never carries
// the input.
func (d *Duration) UnmarshalText(b []byte) error {
	if len(b) > 64 {
		return &Malformed{Want: "a duration like 90s or 1h30m"}
	}
	v, err := time.ParseDuration(string(b))
	if err != nil || v < 0 {
		return &Malformed{Want: "a duration like 90s or 1h30m"}
	}
	d.Duration = v
	return nil
}

// A Malformed reports text that is not in the form that is wanted.
type Malformed struct{ Want string }

// Error says what is wanted.
func (e *Malformed) Error() string { return "api: want " + e.Want }

// Code is INVALID_INPUT.
func (*Malformed) Code() string { return "INVALID_INPUT" }

// Secret is a password, code or key on its way. It prints as [redacted]; only
// its JSON form carries it, and Show.
type Secret string

// Show returns s in the clear.
func (s Secret) Show() string { return string(s) }

// Format writes [redacted], whatever the verb.
func (Secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, "[redacted]") }

// LogValue is [redacted].
func (Secret) LogValue() slog.Value { return slog.StringValue("[redacted]") }
