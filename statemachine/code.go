package statemachine

// A Code is the wire name of a refusal (API-3). It is stable across releases.
type Code string

// The codes that a table or a lifecycle may answer (API-3).
const (
	InvalidInput    Code = "INVALID_INPUT"   // 400: the call is malformed or names nonsense
	Unauthenticated Code = "UNAUTHENTICATED" // 401: a dead or unknown credential
	Denied          Code = "ACCESS_DENIED"   // 403: known, but not allowed
	NotFound        Code = "NOT_FOUND"       // 404: no such record
	InvalidState    Code = "INVALID_STATE"   // 409: the state does not accept the event
	Conflict        Code = "CONFLICT"        // 409: another holder, attempt or version stands in the way
	RateLimited     Code = "RATE_LIMITED"    // 429: too many; the error says until when
	Unsupported     Code = "UNSUPPORTED"     // 501: this site cannot do it
	InvalidConfig   Code = "INVALID_CONFIG"  // 501: a part that the call needs is not configured
	Unavailable     Code = "UNAVAILABLE"     // 503: exhausted or cannot answer now
)

// known reports whether c is one of the codes.
func (c Code) known() bool {
	switch c {
	case InvalidInput, Unauthenticated, Denied, NotFound, InvalidState,
		Conflict, RateLimited, Unsupported, InvalidConfig, Unavailable:
		return true
	}
	return false
}
