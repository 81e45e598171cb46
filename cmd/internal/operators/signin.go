package operators

import (
	"context"
	"time"

	"github.com/ingotmetal/ingot/cmd/internal/secrets"
)

// An Attempt is what somebody presents to sign in.
type Attempt struct {
	Name     string
	Password Password
	Code     string // as typed; not looked at where the account has no second factor
}

// A Proof says that somebody signed in. Only [Door.Verify] makes one that counts;
// the zero Proof proves nobody. Hand it to [Open].
type Proof struct {
	name       string
	created    time.Time
	generation uint64
	seed       string // sealed, of the code that was checked; "" for none
	step       uint64 // of that code
	outdated   bool
}

// MFA reports whether a code of the second factor was checked.
func (p Proof) MFA() bool { return p.step != 0 }

// Outdated reports whether the password should be hashed anew and stored by
// [Account.Rehashed], since the cost has been changed.
func (p Proof) Outdated() bool { return p.outdated }

// A Door checks who signs in. It is safe for concurrent use.
type Door struct {
	Hasher *Hasher
	Sealer *secrets.Sealer
}

// Verify checks an attempt against its account, the zero Account where there is
// none. It takes about a tenth of a second and as much work whether the account is
// unknown, disabled or real. It changes nothing: a code that it took still works
// until Open has used it up.
//
// The error is [ErrUnauthenticated] for whatever was wrong, [*Busy], ctx's, or
// [*secrets.Unsealable] where all but the site's own keeping of the seed was
// right.
func (d Door) Verify(ctx context.Context, a Account, try Attempt, now time.Time) (Proof, error) {
	live := a.Name != "" && a.Name == try.Name && a.Disabled.IsZero()
	if !live {
		a = Account{}
	}
	match, outdated, err := d.Hasher.Check(ctx, a.Password, try.Password)
	if err != nil {
		return Proof{}, err
	}
	step, passed, err := d.second(a, try.Code, now)
	switch {
	case !live || !match:
		return Proof{}, ErrUnauthenticated
	case err != nil:
		return Proof{}, err
	case !passed:
		return Proof{}, ErrUnauthenticated
	}
	return Proof{a.Name, a.Created, a.Generation, a.Seed, step, outdated}, nil
}

// second checks the second factor of an account that has one, before anybody
// knows whether the password was right.
func (d Door) second(a Account, typed string, now time.Time) (step uint64, passed bool, err error) {
	if !a.HasTOTP() {
		return 0, true, nil
	}
	seed, err := a.open(d.Sealer, a.Seed)
	if err != nil {
		return 0, false, err
	}
	step, passed = seed.match(parseCode(typed), now, a.LastStep)
	return step, passed, nil
}

// admit uses up what p took: in the transaction, where of two that present the
// same code one fails. The error is [ErrUnauthenticated].
func (a Account) admit(p Proof) (Account, error) {
	if !a.is(p) || p.seed != a.Seed || p.MFA() && p.step <= a.LastStep {
		return a, ErrUnauthenticated
	}
	if p.MFA() {
		a.LastStep = p.step
	}
	return a, nil
}
