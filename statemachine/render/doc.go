// Package render draws a table for people: [Page] as Markdown, [Mermaid] as a
// diagram. The same table gives the same text, so that a page can be kept in
// Git and checked for drift.
//
// A page answers, in this order, what a reader of a lifecycle asks:
//
//   - What does it look like? The diagram.
//   - What is true of a machine in this state, how long may it last, and what
//     may be driven? States.
//   - How does it get from here to there? Moves.
//   - What happens if I call this now? Stays, Refusals and the Matrix.
//   - What was decided without naming the state? Decided by default: the part
//     to review when a state is added.
//
// Rules appear in the order of the spec, each with the states in which it
// decides after defaults have been resolved.
package render
