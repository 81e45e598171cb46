package claim

import "time"

// TTL is how long a code is valid after it was issued (REG-5).
const TTL = time.Hour

// Issued is what a row keeps of its claim code: facts, no secret. The zero
// Issued is a row without a code and refuses every one.
type Issued struct {
	Hash    Hash
	Expires time.Time // the first instant at which the code is dead
	Voided  bool      // replaced by a new register (REG-4) or ended by disable (REG-11)
	UsedBy  string    // the operator whose approval it made; "" until then
}

// A Verdict is what a right code does.
type Verdict string

// The verdicts of Check.
const (
	// Approves: the row moves to approved. Record it with Use.
	Approves Verdict = "approves"
	// Repeats: this operator used this code before (EDGE-16). Answer success
	// and change nothing.
	Repeats Verdict = "repeats"
)

// A Refusal names what was wrong with a code.
type Refusal string

// The refusals of REG-14.
const (
	Wrong   Refusal = "wrong"
	Expired Refusal = "expired"
	Void    Refusal = "void"
)

// Check decides what the code behind presented does for operator at now. The
// error is a [*Refused] and must be counted as a wrong try (REG-14). A code that
// was used works again for the same operator alone, and only until it would
// have expired (EDGE-16).
func (i Issued) Check(presented Hash, operator string, now time.Time) (Verdict, error) {
	switch {
	case !i.Hash.Equal(presented):
		return "", &Refused{Why: Wrong}
	case i.Voided:
		return "", &Refused{Why: Void}
	case !now.Before(i.Expires):
		return "", &Refused{Why: Expired}
	case i.UsedBy == "":
		return Approves, nil
	case i.UsedBy == operator:
		return Repeats, nil
	}
	return "", &Refused{Why: Void}
}

// Use returns i as used by operator, who must not be "".
func (i Issued) Use(operator string) Issued {
	i.UsedBy = operator
	return i
}

// Void returns i voided. It is never shown or accepted again.
func (i Issued) Void() Issued {
	i.Voided = true
	return i
}

// A Refused reports a well-formed code that approves nothing. The row stays as
// it is.
type Refused struct {
	Why Refusal
}

// Error says why and how a machine gets another code.
func (e *Refused) Error() string {
	return "claim: the claim code is " + string(e.Why) +
		" (REG-14; the agent registers again for a new one)"
}

// Code is the error's wire name (EDGE-17).
func (e *Refused) Code() string { return "INVALID_INPUT" }
