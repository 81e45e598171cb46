package journal

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"slices"
)

// A Harm is what was done to a log.
type Harm string

// The harms that Verify tells apart. A log harmed in several ways at once is
// always found broken, at its first harm, which may then bear another name.
const (
	Altered    Harm = "altered"    // a row is not what was appended, or another took its place
	Missing    Harm = "missing"    // rows are not there, or come much later
	Reordered  Harm = "reordered"  // two neighbours changed places
	Repeated   Harm = "repeated"   // a row comes again, or another with its revision
	Unreadable Harm = "unreadable" // a row's bytes are no row
	Truncated  Harm = "truncated"  // the log ends before a known head
	Surplus    Harm = "surplus"    // a segment goes on after its end
)

// A Broken reports where a log was tampered with or damaged.
type Broken struct {
	Harm Harm
	// First and Last bound the revisions that are harmed. They differ where
	// several are, or where the rows at hand cannot say which one is.
	First, Last uint64
	Sound       Head  // the last row that still fits; for Repeated, perhaps the false one of two
	Err         error // why a row is unreadable, else nil
}

// Error names the harm and the revisions.
func (e *Broken) Error() string {
	rows := fmt.Sprintf("row %d", e.First)
	if e.First != e.Last {
		rows = fmt.Sprintf("rows %d to %d", e.First, e.Last)
	}
	switch {
	case e.Err != nil:
		return fmt.Sprintf("journal: %s %s: %v (ID-6)", rows, e.Harm, e.Err)
	case e.Harm == Repeated:
		return fmt.Sprintf("journal: %s repeated after row %d (ID-6)", rows, e.Sound.Revision)
	}
	return fmt.Sprintf("journal: %s %s (ID-6)", rows, e.Harm)
}

// Unwrap returns why a row is unreadable.
func (e *Broken) Unwrap() error { return e.Err }

// Code is the error's wire name (API-3): the log is in no state to go on from.
func (e *Broken) Code() string { return "INVALID_STATE" }

// Verify walks the rows that follow from, oldest first, and returns the head it
// reached. Every known head must be met on the way, or the log ends too early or
// was made anew; heads at or after from may be given in any order.
//
// The error is [*Broken] for harm; [*Malformed] for known heads that contradict
// each other or from, or lie before it, where these rows prove nothing; else what
// rows yielded, wrapped: a *Malformed from there makes its row Unreadable. Verify
// holds on to one row while it reads the next, to tell which of two neighbours
// was altered; rows must not share memory.
func Verify(from Head, rows iter.Seq2[Row, error], known ...Head) (Head, error) {
	w := walk{head: from, trusted: from.Revision, known: slices.SortedFunc(slices.Values(known), func(a, b Head) int {
		return cmp.Compare(a.Revision, b.Revision)
	})}
	if err := w.begin(); err != nil {
		return Head{}, err
	}
	for row, err := range rows {
		if err != nil {
			return Head{}, w.unread(err)
		}
		if broken := w.step(row); broken != nil {
			return Head{}, broken
		}
	}
	if broken := w.end(); broken != nil {
		return Head{}, broken
	}
	return w.head, nil
}

// A walk is a verification under way.
type walk struct {
	head    Head   // the last row that fits
	trusted uint64 // up to here, known heads vouch for the rows
	known   []Head // those ahead, by revision
	doubted *Row   // the row after head, which does not fit; the next one tells why
	buf     []byte
}

// broken reports harm to rows first to last.
func (w *walk) broken(harm Harm, first, last uint64) *Broken {
	return &Broken{Harm: harm, First: first, Last: last, Sound: w.head}
}

// begin refuses known heads that contradict each other or concern no row ahead.
func (w *walk) begin() error {
	w.known = slices.Compact(w.known)
	for i := range w.known {
		if i > 0 && w.known[i-1].Revision == w.known[i].Revision {
			return malformed("known heads", "two of revision %d differ", w.known[i].Revision)
		}
	}
	if len(w.known) > 0 && w.known[0].Revision < w.head.Revision {
		return malformed("known head", "revision %d is before %d, where these rows begin", w.known[0].Revision, w.head.Revision)
	}
	if w.awaits(w.head.Revision) {
		if w.known[0] != w.head {
			return malformed("known head", "it and the one to begin from differ at revision %d", w.head.Revision)
		}
		w.known = w.known[1:]
	}
	return nil
}

// step takes the next row.
func (w *walk) step(row Row) *Broken {
	if w.doubted != nil {
		return w.settle(&row)
	}
	if row.Revision != w.head.Revision+1 || row.Prev != w.head.Hash {
		w.doubt(row)
		return nil
	}
	reached := Head{Revision: row.Revision}
	reached.Hash, w.buf = row.hash(w.buf)
	if w.awaits(row.Revision) {
		if w.known[0] != reached {
			w.doubt(row)
			return nil
		}
		w.trusted, w.known = row.Revision, w.known[1:]
	}
	w.head = reached
	return nil
}

// doubt keeps a row that does not fit until the next one is there. The copy is
// what escapes to the heap, so that rows that do fit stay off it.
func (w *walk) doubt(row Row) { w.doubted = &row }

// awaits reports whether a known head is at revision.
func (w *walk) awaits(revision uint64) bool {
	return len(w.known) > 0 && w.known[0].Revision == revision
}

// end takes the end of the rows.
func (w *walk) end() *Broken {
	if w.doubted != nil {
		return w.settle(nil)
	}
	if n := len(w.known); n > 0 {
		return w.broken(Truncated, w.head.Revision+1, w.known[n-1].Revision)
	}
	return nil
}

// unread takes a row that could not be read.
func (w *walk) unread(err error) error {
	if w.doubted != nil {
		return w.settle(nil)
	}
	at := w.head.Revision + 1
	if bad, ok := errors.AsType[*Malformed](err); ok {
		b := w.broken(Unreadable, at, at)
		b.Err = bad
		return b
	}
	return fmt.Errorf("journal: reading row %d: %w", at, err)
}

// settle names what is wrong with the doubted row, given the one after it, nil
// where there is none.
func (w *walk) settle(next *Row) *Broken {
	row, want := *w.doubted, w.head.Revision+1
	chained := row.Prev == w.head.Hash
	switch {
	case chained && row.Revision == want:
		return w.disowned(next)
	case chained: // the right row, under a wrong revision
		return w.broken(Altered, want, want)
	case row.Revision < want:
		return w.broken(Repeated, row.Revision, row.Revision)
	case row.Revision > want && next != nil && next.Revision == want:
		return w.broken(Reordered, want, row.Revision)
	case row.Revision > want:
		return w.broken(Missing, want, row.Revision-1)
	}
	// In its place, but not after the row that is before it.
	return w.unchained(row, next)
}

// disowned settles a row that follows the one before, but is not the one that a
// known head vouches for: either it alone was altered, and then the next row
// still carries the known hash, or all since the last trusted row were made anew.
func (w *walk) disowned(next *Row) *Broken {
	want := w.head.Revision + 1
	if next != nil && next.Prev == w.known[0].Hash {
		return w.broken(Altered, want, want)
	}
	return w.broken(Altered, w.trusted+1, want)
}

// unchained settles a row in its place that does not carry the hash of the row
// before it: one of the two was altered. If the rest of the log stands by this
// row, it was the one before.
func (w *walk) unchained(row Row, next *Row) *Broken {
	before, want := w.head.Revision, w.head.Revision+1
	sum := row.Hash()
	switch {
	// A head vouches for the row before, so it is this one.
	case w.trusted == before:
		return w.broken(Altered, want, want)
	case next != nil && next.Prev == sum, w.awaits(want) && w.known[0].Hash == sum:
		return w.broken(Altered, before, before)
	case next != nil, w.awaits(want):
		return w.broken(Altered, want, want)
	}
	return w.broken(Altered, before, want)
}

// A Segment is a run of rows that was sealed: it may leave the store and be
// verified alone. Segments follow each other where one's From is the other's To.
type Segment struct {
	From Head // the head before its first row
	To   Head // its last row
}

// Verify proves that rows are the segment, whole and nothing more. Its errors
// are those of the function Verify.
func (s Segment) Verify(rows iter.Seq2[Row, error]) error {
	reached, err := Verify(s.From, rows, s.To)
	if err == nil && reached != s.To {
		return &Broken{Harm: Surplus, First: s.To.Revision + 1, Last: reached.Revision, Sound: s.To}
	}
	return err
}
