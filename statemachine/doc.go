// Package statemachine decides lifecycles from tables of data.
//
// A [Spec] lists states, events and rules. [New] proves it total: every state,
// event and combination of guards has exactly one rule, which moves, stays or
// refuses. The resulting [Table] is immutable, safe for concurrent use, and is
// the only authority: [Table.Next] decides a bare state, [Table.Step] a state
// with its attempt (epoch, deadline, repeated and stale reports).
//
// # Rules
//
// A rule names an event and the states in which it decides. A rule without
// states is the event's default: it decides wherever no rule of the event
// names the state. Guards split a cell: as many rules as needed name the same
// state and event, and their conditions divide the valuations among them.
//
// # Attempts
//
// Work that takes time is an attempt. Entering an in-flight state opens one,
// and so does a rule with Opens in a stable state. An attempt has an epoch,
// which comes in with the event, and a deadline. It ends by a report that
// names its epoch, by an order, or by the state's expiry event, which is legal
// from the deadline on. What decided it is remembered, also while the next one
// runs, so that the same report may come again, by a retry or a slow path, and do
// no harm ([Table.Repeats]).
//
// # Questions
//
// A table answers more than steps: what is legal here ([Table.Legal]), why not
// ([Refused]), by which events a state is reached ([Table.Path]), and what
// another release decides otherwise ([Diff]).
//
// # What it is not
//
// Nothing here reads a clock, draws a number or calls back. Guards are named
// bits that the caller computes; the table only compares them, so it can be
// checked, rendered and diffed without running anything. There are no nested
// states and no parallel regions: two things that vary apart are two tables.
package statemachine
