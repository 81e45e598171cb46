// Package bench sets ingot's packages beside their peers. It is a module of
// its own, so that what a peer depends on never becomes a dependency of
// ingot.
//
// A comparison is one benchmark with a sub-benchmark named ingot and one for
// each peer:
//
//	BenchmarkNext/ingot
//	BenchmarkNext/looplab
//
// Beside it stands a parity test, which demands that both sides give the same
// answers on what is measured; a comparison without one says nothing. The
// command table turns the output of go test into one table, in which each
// peer's row says how it compares.
package bench
