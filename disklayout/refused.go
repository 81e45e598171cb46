package disklayout

import (
	"fmt"
	"strings"
)

// A Refused reports why there is no plan. Nothing has changed.
type Refused struct {
	Reason Reason
	Disk   string // its serial, or without one its kernel name; empty: the request as a whole
	Why    string
	Next   string // what to do
	Req    string // the requirement's name
	// Candidates are the disks between which nothing decides, sorted.
	Candidates []string
	Missing    uint64    // of too_small: bytes
	Signature  Signature // of foreign_signature and pool_member
	code       string
}

// Error has one line: disk, reason, candidates, requirement and what to do.
func (e *Refused) Error() string {
	var b strings.Builder
	b.WriteString("disklayout: ")
	if e.Disk != "" {
		b.WriteString("disk " + plain(e.Disk) + ": ")
	}
	fmt.Fprintf(&b, "%s: %s", e.Reason, e.Why)
	for i, c := range e.Candidates {
		b.WriteString([]string{": ", ", "}[min(i, 1)] + plain(c))
	}
	fmt.Fprintf(&b, " (%s); %s", e.Req, e.Next)
	return b.String()
}

// Code is the error's wire name (API-3).
func (e *Refused) Code() string { return e.code }

// refuse fills in what the table says of the reason. why holds nothing that a
// machine announced unless plain made it.
func refuse(r Reason, d *seen, why string) *Refused {
	known := rules[r]
	e := &Refused{Reason: r, Why: why, Next: known.next, Req: known.req, code: known.code}
	if d != nil {
		e.Disk = d.called()
	}
	return e
}
