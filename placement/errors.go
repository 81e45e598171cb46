package placement

import (
	"fmt"
	"strconv"
)

// quoted is how much of a refused value an error shows, in bytes: enough to
// recognise it, too little to flood a log.
const quoted = 64

// Invalid reports an input that a rule refuses. Nothing has changed.
type Invalid struct {
	What  string // what was given, such as "taint key"
	Value string // the value, as it came in
	Want  string // what would be legal
	Req   string // the requirement that says so, such as "TAINT-1"
}

// Error names the requirement, and shows at most the first 64 bytes of the
// value, quoted.
func (e *Invalid) Error() string {
	v := e.Value
	if len(v) > quoted {
		v = v[:quoted] + "..."
	}
	return fmt.Sprintf("placement: %s %s refused: want %s (%s)", e.What, strconv.Quote(v), e.Want, e.Req)
}

// Code is the error's wire name (API-3).
func (e *Invalid) Code() string { return "INVALID_INPUT" }
