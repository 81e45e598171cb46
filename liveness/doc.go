// Package liveness turns heartbeats into verdicts about whether a node can be
// reached: connected, disconnected, unreachable or lost.
//
// It holds four small parts. A [Ledger] keeps when each node was last seen. An
// [Observation] is what is known of one node, and [Windows.Judge] its verdict.
// [Graces] remember our own faults, so that these never look like dead
// machines. [Sweep] judges every node and yields only what changed. [Clones]
// tells a copied certificate from a machine that flaps.
//
// # Time
//
// Nobody's wall clock is asked. Every instant is an [Instant] of one observer's
// monotonic clock, and what is stored or sent is an age. So a wall clock that
// jumps, on a node, a gateway or the store, changes no verdict.
//
// # Disconnected is not dead
//
// Unreachable keeps new work away and does nothing else (LIVE-3). No verdict
// here releases anything, and connectivity says nothing of health (LIVE-6).
//
// # What stays with the caller
//
// The caller commits a change together with its scheduling reason and wake
// edge, reads the store anew before it commits a bad verdict, and closes the
// older of two sessions. Last-seen is an observation: it is overwritten in the
// ledger and never enters the audit chain (MACH-9).
package liveness
