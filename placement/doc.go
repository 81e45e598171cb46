// Package placement answers which node gets the work, or why none does.
//
// Its heart is one predicate, [Judge]: may this tenant's work go to this node?
// Every path that places work asks it and nothing else, so that two paths
// never disagree. What differs between paths is a value, [Policy]. Around it:
//
//   - [Reasons] is the set of NoSchedule reasons of a node, each with exactly
//     one owner. [Flatten] boils it down to the small [Node] that Judge reads.
//   - [Explain] lists every blocker, who can lift it, and how.
//   - [Admits] turns the question round: whom does this node let through?
//     [Edge] compares two such answers and names the tenants to wake.
//   - [Index] answers Judge for a whole fleet at once.
//   - [Device.Bucket] and [Rollup] count capacity.
//   - [Labels] applies an operator's label call, [Allocation] says when booked
//     work is open, live or overdue.
//
// Everything here is a value or a pure function of values. Nothing is safe to
// change from several goroutines; everything is safe to read from many.
//
// The rules carry the names of the requirements they come from: TAINT, SCHED,
// PLACE, LABEL, LIVE, REG and API.
package placement
