package control

// Refused reports a call that the door itself does not take. Nothing changed.
type Refused struct {
	code string
	Why  string
	next string
}

// Code is the error's wire name (API-3).
func (e *Refused) Code() string { return e.code }

// Error says why and what to do.
func (e *Refused) Error() string { return e.Why + "; " + e.next }

// Next is what to do.
func (e *Refused) Next() string { return e.next }

// conflict refuses what another call was first to take.
func conflict(why, next string) *Refused { return &Refused{"CONFLICT", why, next} }

// Taken reports that another machine has a name that the step would give (MACH-1):
// two machines are never merged.
type Taken struct{ Name string } // its kind and itself, such as server/<UUID>

// Code is the error's wire name (API-3).
func (*Taken) Code() string { return "CONFLICT" }

// Error says what to do.
func (e *Taken) Error() string {
	return "another machine has the name " + e.Name + "; delete or retire the one that is gone (MACH-1)"
}
