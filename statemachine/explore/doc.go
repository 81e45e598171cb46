// Package explore checks a machine by walking every state it can reach.
//
// A [Model] says where the machine starts, what may come in, and how a step
// answers. [Run] walks the reachable states breadth first and holds every
// [Invariant] over every state, every accepted step and every refusal. The
// first one broken comes back as a [Counterexample] with the shortest history
// that breaks it; [Counterexample.GoTest] writes that history as a Go test and
// [Retell] plays it again. When all hold, and Model.Stable is set, Run goes on
// to liveness: once faults and operators rest, does the machine come to rest
// too (see [Settles])?
//
// # Memory
//
// Run keeps no states but those of two layers of the walk. For each other
// state it keeps the key, its parent and the place of the input that led here,
// in all about 1.5 x (size of K + 5) + 8 bytes: 111 for a key of 64 bytes.
// Liveness adds at most 33 bytes a state and 4 bytes a system step. The
// history is made by stepping again from the start, so Step, Inputs and Key
// must answer alike each time. The better K holds no pointers (no strings), so
// that the collector never looks at the keys, and has at most 128 bytes, so
// that a Go map keeps it in place.
//
// # Determinism
//
// The same model gives the same result and the same counterexample: of the
// shortest, the one that takes the earliest inputs in the order of Inputs. A
// run uses one goroutine and no clock. Runs share nothing, so they may go on
// side by side if the model's functions may.
package explore
