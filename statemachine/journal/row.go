// Package journal is a site's one log as values: a row for each commit, each
// with the hash of the row before. It is audit trail, event feed and change feed
// at once.
//
// [Head.Append] makes the next row; the caller writes it in the same transaction
// as the change it tells of. [Verify] walks rows, from anywhere a [Head] is known,
// and names the revision where they were tampered with (ID-6).
//
// What a chain can tell: any row that was changed, removed, moved or doubled,
// since its neighbours no longer fit. What it cannot tell by itself: that its end
// is missing, or that whoever holds the store made all of it anew. For both,
// keep heads where the store's keeper cannot write, and give them to Verify.
//
// Observations are no rows: a row tells at least one fact (MACH-9).
package journal

import (
	"fmt"
	"time"
)

// The bounds of a row. Bytes unless said otherwise. They are far above what a
// commit needs: the largest is a bulk call's, on 10,000 nodes (PROV-6).
const (
	MaxActor   = 256
	MaxFacts   = 1 << 16 // facts
	MaxType    = 128
	MaxSubject = 256
	MaxBody    = 64 << 10
	MaxKeys    = 1 << 18 // keys
	MaxKey     = 1024
	MaxRow     = 32 << 20 // the encoded row
)

// A Fact is one thing that a commit made true: an event, to those who follow
// them.
type Fact struct {
	// Type is its name of EVENT-2, such as node.cordoned: a lower-case letter,
	// then lower-case letters, digits and . - _ up to MaxType in all.
	Type string
	// Subject is what it is about: a node's ID, or the key of a record that is
	// no node's.
	Subject string
	// Body is the rest, in the caller's own encoding. It must hold no secret:
	// rows are kept for good.
	Body string
}

// An Entry is what a commit has to tell.
type Entry struct {
	Time  time.Time // the commit's; wall time, so it may go backwards
	Actor string    // who caused it; never ""
	Facts []Fact    // at least one, in the order they came true
	Keys  []string  // the store's keys that the commit touched, in any order
}

// A Row is an Entry in its place in the log. Keys are sorted, each once.
type Row struct {
	Revision uint64 // 1, 2, 3 and so on, without gaps
	Time     time.Time
	Actor    string
	Facts    []Fact
	Keys     []string
	Prev     Hash // of the row before; of the log's start for row 1
}

// validate reports the first thing by which r is no row.
func (r Row) validate() error {
	switch {
	case r.Revision == 0:
		return malformed("revision", "0 is before the first row")
	case r.Time.Year() < 1970 || r.Time.Year() > 9999:
		return malformed("time", "year %d is not in 1970 to 9999", r.Time.Year())
	case r.Actor == "" || len(r.Actor) > MaxActor:
		return malformed("actor", "%d bytes, want 1 to %d", len(r.Actor), MaxActor)
	case len(r.Facts) == 0:
		return malformed("facts", "none; what changes nothing is no row (MACH-9)")
	case len(r.Facts) > MaxFacts:
		return malformed("facts", "%d, want at most %d", len(r.Facts), MaxFacts)
	case len(r.Keys) > MaxKeys:
		return malformed("keys", "%d, want at most %d", len(r.Keys), MaxKeys)
	}
	for i, f := range r.Facts {
		if err := f.validate(); err != nil {
			return fmt.Errorf("fact %d: %w", i, err)
		}
	}
	for i, k := range r.Keys {
		if k == "" || len(k) > MaxKey {
			return malformed("keys", "key %d is %d bytes, want 1 to %d", i, len(k), MaxKey)
		}
		if i > 0 && k <= r.Keys[i-1] {
			return malformed("keys", "key %d is not after the one before it", i)
		}
	}
	if n := r.size(); n > MaxRow {
		return malformed("row", "%d bytes, want at most %d", n, MaxRow)
	}
	return nil
}

// validate reports the first thing by which f is no fact.
func (f Fact) validate() error {
	switch {
	case !typeName(f.Type, MaxType):
		return malformed("type", "%d bytes that are no name of a fact (EVENT-2)", len(f.Type))
	case len(f.Subject) > MaxSubject:
		return malformed("subject", "%d bytes, want at most %d", len(f.Subject), MaxSubject)
	case len(f.Body) > MaxBody:
		return malformed("body", "%d bytes, want at most %d", len(f.Body), MaxBody)
	}
	return nil
}

// typeName reports whether s is a lower-case letter followed by lower-case
// letters, digits, dots, dashes and underscores: states such as awaiting_setup
// end the names of facts (EVENT-2).
func typeName(s string, longest int) bool {
	for i := range len(s) {
		switch c := s[i]; {
		case 'a' <= c && c <= 'z':
		case i > 0 && ('0' <= c && c <= '9' || c == '.' || c == '-' || c == '_'):
		default:
			return false
		}
	}
	return s != "" && len(s) <= longest
}

// A Malformed reports bytes or values that are no part of a journal. Nothing was
// appended or read.
type Malformed struct {
	What string
	Why  string // never holds the input
}

func malformed(what, why string, args ...any) *Malformed {
	return &Malformed{what, fmt.Sprintf(why, args...)}
}

// Error says what is wrong and what would do.
func (e *Malformed) Error() string { return "journal: " + e.What + ": " + e.Why }

// Code is the error's wire name (API-3).
func (e *Malformed) Code() string { return "INVALID_INPUT" }
