package operators

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/ingotmetal/ingot/identity/keys"
)

// APIKeySchema is the schema number of API keys written now.
const APIKeySchema = 1

const maxComment = 256

var dayForm = regexp.MustCompile(`^[0-9]{4}-[0-9]{2}-[0-9]{2}$`)

// An APIKey is what is kept of a key that an operator minted: facts, no secret.
// Its methods never change the one they are called on.
type APIKey struct {
	Schema    int
	Key       keys.Key
	Tenant    string
	Comment   string `json:",omitzero"` // what it is for: at most 256 bytes of printable UTF-8
	CreatedBy string // the operator
	LastUsed  string `json:",omitzero"` // the day in UTC, YYYY-MM-DD; "" if never
}

// A KeyRequest says what key to mint.
type KeyRequest struct {
	Scope   keys.Scope // any but agent
	Tenant  string
	Comment string
}

// MintKey returns the row of a key that secret opens, minted by an operator. The
// caller has been authorized for [keys.KeysMint]. An agent's key is minted by an
// approval alone (REG-14, SET-5), never by hand. The error is [*Invalid] or
// [*keys.Invalid].
func MintKey(secret keys.Secret, r KeyRequest, by string, now time.Time) (APIKey, error) {
	if r.Scope == keys.Agent {
		return APIKey{}, &Invalid{"scope", "agent cannot be minted by hand: approve the machine, which gives it its key (REG-14)"}
	}
	k, err := keys.NewKey(secret, r.Scope, "", 0, stamp(now))
	if err != nil {
		return APIKey{}, err
	}
	out := APIKey{Schema: APIKeySchema, Key: k, Tenant: r.Tenant, Comment: r.Comment, CreatedBy: by}
	if err := out.Validate(); err != nil {
		return APIKey{}, err
	}
	return out, nil
}

// DecodeAPIKey reads a key's JSON. The error is [*Newer], [*Invalid] or
// [*keys.Invalid].
func DecodeAPIKey(b []byte) (APIKey, error) {
	return decode[APIKey]("API key", APIKeySchema, b)
}

// Validate reports every fact that cannot be, joined.
func (k APIKey) Validate() error {
	f := faults{record: "API key"}
	f.want(k.Schema >= 1 && k.Schema <= APIKeySchema, "has no schema number that is known")
	f.want(k.Key.Scope != keys.Agent, "has the scope agent, which is never minted by hand")
	f.want(tenantForm.MatchString(k.Tenant), "has a tenant that is not 1 to 128 letters, digits, . _ : and - (API-5)")
	f.want(nameForm.MatchString(k.CreatedBy), "was created by nobody")
	odd := func(r rune) bool { return !unicode.IsPrint(r) }
	f.want(len(k.Comment) <= maxComment && utf8.ValidString(k.Comment) && !strings.ContainsFunc(k.Comment, odd),
		fmt.Sprintf("has a comment that is not at most %d bytes of printable UTF-8", maxComment))
	f.want(k.LastUsed == "" || dayForm.MatchString(k.LastUsed), "was last used on no day")
	return errors.Join(f.err(), k.Key.Validate())
}

// Check returns who asks by presented. The error is [*keys.Unauthenticated].
func (k APIKey) Check(presented keys.Secret) (keys.Caller, error) {
	if err := k.Key.Check(presented, 0); err != nil {
		return keys.Caller{}, err
	}
	return k.Key.Caller(), nil
}

// Used returns k used at now, and whether it must be written: once a day.
func (k APIKey) Used(now time.Time) (APIKey, bool) {
	day := now.UTC().Format(time.DateOnly)
	if k.LastUsed >= day || !dayForm.MatchString(day) {
		return k, false
	}
	k.LastUsed, k.Key = day, k.Key.Consume(stamp(now))
	return k, true
}

// Revoke returns k revoked at now; the first time stays. Nothing revives it.
func (k APIKey) Revoke(now time.Time) APIKey {
	k.Key = k.Key.Revoke(stamp(now))
	return k
}
