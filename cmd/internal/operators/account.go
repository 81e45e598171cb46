package operators

import (
	"log/slog"
	"regexp"
	"time"
)

// AccountSchema is the schema number of accounts written now.
const AccountSchema = 1

// nameForm and tenantForm are the grammars of names (API-5 has the tenant's).
var (
	nameForm   = regexp.MustCompile(`^[a-z_][a-z0-9_.-]{0,63}$`)
	tenantForm = regexp.MustCompile(`^[A-Za-z0-9._:-]{1,128}$`)
)

// An Account is an operator's. Its methods never change the one they are called
// on. It logs as name, tenant and what may be seen of its state; its JSON, which
// the store needs, has the password's hash.
type Account struct {
	Schema   int
	Name     string
	Tenant   string
	Password PHC

	Seed         string    `json:",omitzero"` // sealed; "" without a second factor
	Pending      string    `json:",omitzero"` // sealed, of an enrolment that no code has confirmed
	PendingUntil time.Time `json:",omitzero"` // the first instant at which it is void
	LastStep     uint64    `json:",omitzero"` // of the last code that was used

	// Generation rises with all that must end the account's sessions.
	Generation      uint64
	Created         time.Time
	PasswordChanged time.Time
	Disabled        time.Time `json:",omitzero"` // zero while it may sign in
}

// NewAccount returns an account with a password from [Hasher.Hash]. The first one
// of a site is made on the control plane's own host (ID-8). The error is
// [*Invalid].
func NewAccount(name, tenant string, password PHC, now time.Time) (Account, error) {
	a := Account{
		Schema: AccountSchema, Name: name, Tenant: tenant, Password: password,
		Generation: 1, Created: stamp(now), PasswordChanged: stamp(now),
	}
	if err := a.Validate(); err != nil {
		return Account{}, err
	}
	return a, nil
}

// DecodeAccount reads an account's JSON. The error is [*Newer] or [*Invalid].
func DecodeAccount(b []byte) (Account, error) {
	return decode[Account]("account", AccountSchema, b)
}

func checkName(name string) error {
	if !nameForm.MatchString(name) {
		return &Invalid{"name", "is not 1 to 64 of a-z, 0-9, _ . and -, beginning with a letter or _"}
	}
	return nil
}

// Validate reports every fact that cannot be, joined.
func (a Account) Validate() error {
	f := faults{record: "account"}
	_, bad := a.Password.parse()
	f.want(a.Schema >= 1 && a.Schema <= AccountSchema, "has no schema number that is known")
	f.want(nameForm.MatchString(a.Name), "has a name that is not 1 to 64 of a-z, 0-9, _ . and -, beginning with a letter or _")
	f.want(tenantForm.MatchString(a.Tenant), "has a tenant that is not 1 to 128 letters, digits, . _ : and - (API-5)")
	f.want(bad == nil, "has no password hash that can be checked; set the password again on the host")
	f.want(a.Generation >= 1, "has no generation")
	f.want(!a.Created.IsZero() && !a.PasswordChanged.IsZero(), "lacks a time")
	f.want((a.Pending == "") == a.PendingUntil.IsZero(), "has half an enrolment")
	return f.err()
}

// LogValue is what logs show of an account.
func (a Account) LogValue() slog.Value {
	return slog.GroupValue(
		slog.String("name", a.Name), slog.String("tenant", a.Tenant),
		slog.Bool("disabled", !a.Disabled.IsZero()), slog.Bool("mfa", a.HasTOTP()),
		slog.Uint64("generation", a.Generation))
}

// SetPassword returns a with another password, its sessions ended.
func (a Account) SetPassword(password PHC, now time.Time) (Account, error) {
	if _, err := password.parse(); err != nil {
		return a, err
	}
	a.Password, a.PasswordChanged = password, stamp(now)
	a.Generation++
	return a, nil
}

// Rehashed returns a with the password that p proved, hashed anew: nothing else
// changes. The error is [*Conflict] where the account has changed since.
func (a Account) Rehashed(p Proof, password PHC) (Account, error) {
	if _, err := password.parse(); err != nil {
		return a, err
	}
	if !a.is(p) {
		return a, &Conflict{"account", "has changed since it was proven; its password stays"}
	}
	a.Password = password
	return a, nil
}

// Disable returns a that may not sign in, its sessions ended. The first time
// stays.
func (a Account) Disable(now time.Time) Account {
	if a.Disabled.IsZero() {
		a.Disabled = stamp(now)
		a.Generation++
	}
	return a
}

// Enable returns a that may sign in again. Its old sessions stay ended.
func (a Account) Enable() Account {
	a.Disabled = time.Time{}
	return a
}

// is reports whether p proved this very account, unchanged since.
func (a Account) is(p Proof) bool {
	return p.name != "" && p.name == a.Name && p.created.Equal(a.Created) && p.generation == a.Generation && a.Disabled.IsZero()
}
