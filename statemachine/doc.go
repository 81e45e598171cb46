// Package statemachine decides lifecycles from tables of data.
//
// A [Spec] lists states, events and rules. [New] proves it total: every state,
// event and combination of guards has exactly one rule, which moves, stays or
// refuses. The resulting [Table] is immutable, safe for concurrent use, and is
// the only authority: [Table.Next] decides a bare state, [Table.Step] a state
// with its attempt (epoch, deadline, repeated and stale reports).
//
// Nothing here reads a clock, draws a number or calls back. Guards are named
// bits that the caller computes; the table only compares them, so it can be
// checked, rendered and diffed without running anything.
package statemachine
