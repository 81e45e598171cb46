// Package identity is about who a machine proves to be, and what a key may do.
// It holds no types; each protocol is a package of its own below it.
//
//   - claim: the six characters an operator types to approve a machine
//   - keys: API keys, their scopes, and the one table of what each may do
//
// All of them are pure: the caller draws the entropy, reads the clock and keeps
// the rows.
package identity
