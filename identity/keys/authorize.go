package keys

import (
	"fmt"
	"strings"
	"time"
)

// A Caller is who asks, once proven: a key or an operator's session. Take it
// from [Key.Caller] or [Session.Caller]. The zero Caller may do nothing.
type Caller struct {
	// Scope is the key's; for a session, that of the key it was opened with, ""
	// if with none.
	Scope Scope
	// Node is the node that an agent's key is bound to, else "".
	Node string
	// Operator is the operator identity of a session, "" for a key.
	Operator string
}

// A Session is an operator's, from signing in as an operator identity (ID-8).
type Session struct {
	Operator   string    // the identity; never ""
	MFA        bool      // a second factor was shown (ID-4); for the edge, it decides nothing here
	Ends       time.Time // the first instant at which it is dead
	OpenedWith Scope     // the scope of the key it was opened with, "" if by signing in
}

// Caller returns who asks by s at now. The error is [*Unauthenticated]: the
// session has ended, or is nobody's.
func (s Session) Caller(now time.Time) (Caller, error) {
	switch {
	case s.Operator == "":
		return Caller{}, &Unauthenticated{What: "session", Why: "names no operator"}
	case !now.Before(s.Ends):
		return Caller{}, &Unauthenticated{What: "session", Why: "has ended"}
	}
	return Caller{Scope: s.OpenedWith, Operator: s.Operator}, nil
}

// Authorize decides whether c may do action on node; node is "" where the action
// concerns none, or something wider. The error is [*Denied].
//
// An operator's session that was opened with a key may do what both may (SET-2).
// An agent's key reaches the node it is bound to and no other (REG-15). Whether
// c may see the node at all is not decided here (API-1: absent, not denied).
func (c Caller) Authorize(action Action, node string) error {
	r := rule(action)
	switch {
	case !c.holds(r):
		return &Denied{Caller: c, Action: action, Holders: r.holders.scopes(), Req: r.req}
	case c.Scope == Agent && (c.Node == "" || c.Node != node):
		return &Denied{Caller: c, Action: action, Holders: r.holders.scopes(), OtherNode: true, Req: "REG-15"}
	}
	return nil
}

// holds reports whether every column that c stands in holds r: the operator's
// for a session, the scope's for a key, both for a session opened with one.
func (c Caller) holds(r row) bool {
	if c.Operator != "" && r.holders&operator == 0 {
		return false
	}
	if c.Operator != "" && c.Scope == "" {
		return true
	}
	return c.Scope.Valid() && r.holders&column(c.Scope) != 0
}

// A Denied reports an action that the caller may not do. Nothing was looked up
// or changed.
type Denied struct {
	Caller    Caller
	Action    Action
	Holders   []Scope // who may do it, Operator standing for a session; empty for an action nobody has
	OtherNode bool    // the scope would do, but its key is bound to another node
	Req       string  // the requirement that says so; "" for an unknown action
}

// Error says who may do the action instead.
func (e *Denied) Error() string {
	who := fmt.Sprintf("a key of scope %q", e.Caller.Scope)
	switch {
	case e.Caller.Operator != "" && e.Caller.Scope != "":
		who = fmt.Sprintf("an operator's session opened with a key of scope %q", e.Caller.Scope)
	case e.Caller.Operator != "":
		who = "an operator's session"
	}
	switch {
	case e.Req == "":
		return fmt.Sprintf("keys: %s may not %q: there is no such action; Rules lists all", who, e.Action)
	case e.Caller == Caller{}:
		return fmt.Sprintf("keys: a caller that proved nothing may not do %s: authenticate first (%s)", e.Action, e.Req)
	case e.OtherNode:
		return fmt.Sprintf("keys: %s may do %s on its own node only (%s)", who, e.Action, e.Req)
	}
	names := make([]string, len(e.Holders))
	for i, s := range e.Holders {
		names[i] = string(s)
	}
	return fmt.Sprintf("keys: %s may not do %s: held by %s (%s)", who, e.Action, strings.Join(names, ", "), e.Req)
}

// Code is the error's wire name (API-3).
func (e *Denied) Code() string { return "ACCESS_DENIED" }
