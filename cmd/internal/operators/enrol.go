package operators

import (
	"time"

	"github.com/ingotmetal/ingot/cmd/internal/secrets"
)

// EnrolTTL is how long an enrolment of a second factor waits for its first code.
const EnrolTTL = 15 * time.Minute

// HasTOTP reports whether a needs a code to sign in.
func (a Account) HasTOTP() bool { return a.Seed != "" }

// place is where a's seeds are sealed. An account made later under the same name
// has another.
func (a Account) place() secrets.Place {
	return secrets.Place{Purpose: secrets.TOTPSeed, Row: "operator/" + a.Name, Epoch: uint64(a.Created.UnixNano())}
}

// BeginTOTP returns a with seed waiting for its first code. Until that comes,
// nothing changes for signing in; an enrolment begun before is forgotten. Where a
// has a second factor already, let only a session with the MFA mark or the host
// do this. The error is the sealer's, or [*Invalid].
func (a Account) BeginTOTP(s *secrets.Sealer, seed Seed, now time.Time) (Account, error) {
	if seed.reveal == nil {
		return a, &Invalid{"seed", "is missing"}
	}
	raw := seed.reveal()
	sealed, err := s.Seal(a.place(), raw[:])
	if err != nil {
		return a, err
	}
	a.Pending, a.PendingUntil = sealed, stamp(now.Add(EnrolTTL))
	return a, nil
}

// ConfirmTOTP returns a whose waiting seed counts from now on, if the code typed
// is of it. Count wrong ones as tries ([Limits.Take]). The error is [*Conflict]
// where none waits, [ErrUnauthenticated], or the sealer's.
func (a Account) ConfirmTOTP(s *secrets.Sealer, typed string, now time.Time) (Account, error) {
	if a.Pending == "" || !now.Before(a.PendingUntil) {
		return a, &Conflict{"second factor", "has no enrolment that waits for a code; begin one, and confirm it within 15 minutes"}
	}
	seed, err := a.open(s, a.Pending)
	if err != nil {
		return a, err
	}
	step, ok := seed.match(parseCode(typed), now, 0)
	if !ok {
		return a, ErrUnauthenticated
	}
	a.Seed, a.LastStep = a.Pending, step
	a.Pending, a.PendingUntil = "", time.Time{}
	return a, nil
}

// DropTOTP returns a without a second factor, its sessions ended: the way back
// for who lost it, on the host.
func (a Account) DropTOTP() Account {
	a.Seed, a.LastStep = "", 0
	a.Pending, a.PendingUntil = "", time.Time{}
	a.Generation++
	return a
}

// open returns a seed that was sealed for a.
func (a Account) open(s *secrets.Sealer, sealed string) (Seed, error) {
	raw, err := s.Open(a.place(), sealed)
	if err != nil {
		return Seed{}, err
	}
	if len(raw) != SeedSize {
		return Seed{}, &secrets.Unsealable{Place: a.place(), Why: "is not a seed"}
	}
	return NewSeed([SeedSize]byte(raw))
}
