package control

// Refused reports a call that the door itself does not take. Nothing changed.
type Refused struct {
	code string
	Why  string
	Next string // what to do
}

// Code is the error's wire name (API-3).
func (e *Refused) Code() string { return e.code }

// Error says why and what to do.
func (e *Refused) Error() string { return e.Why + "; " + e.Next }

// conflict refuses what another call was first to take.
func conflict(why, next string) *Refused { return &Refused{"CONFLICT", why, next} }

// absent refuses what names nothing.
func absent(what string) *Refused {
	return &Refused{"NOT_FOUND", "there is no " + what, "list what there is"}
}
