// Package storetest holds the promises of store.Store as laws, and the store that
// keeps them all.
//
// A store's whole conformance test is one call of [Run]. [Memory] is a store for
// the tests of other packages; a [Disk] is one with hooks: it can be opened again,
// lose a commit, or lose the reply to one. [Hostile] makes any store as unkind as
// the contract lets it be, so that closures which lean on luck are caught.
//
// The laws:
//
// What a closure reads and writes:
//   - rows are as in a map
//   - an empty value is there
//   - a range is in order of bytes
//   - a closure sees its own writes
//   - a range sees what is written ahead of it
//   - reads nest
//   - a value is kept as a copy
//   - a slice lives as long as its closure, a key for ever
//   - a closure may run twice
//
// What is refused:
//   - a refused closure leaves nothing
//   - a change is told
//   - a closure logs once
//   - an entry that is no row is refused
//   - bad keys are refused
//   - a value has its bound
//
// The log and those who follow it:
//   - a row is what was logged, with the keys that were written
//   - revisions have no gap
//   - the log is one chain
//   - followers see each row once, in order, with its keys
//   - Changed fires at the next row
//
// Views:
//   - a view is a snapshot
//   - a view shows nothing that is not durable
//   - what is acknowledged is seen
//   - a view ends in time
//
// Updates at once:
//   - no update is lost
//   - two closures never take the same free key
//   - registers are linearizable
//   - the lowest free address is linearizable
//
// How calls and stores end:
//   - a context withdraws what has not run
//   - a context withdraws nothing that has run
//   - a panic reaches its caller alone
//   - Failed and Err tell the end
//   - Close waits for what has begun
//   - what Close meets is kept or refused
//   - nothing is served after Close
//
// What is kept:
//   - opening again finds everything
//   - trimming drops old rows alone
//   - a crash loses nothing acknowledged
//
// Commits that fail:
//   - a batch that does not begin changes nothing
//   - an unknown commit stops the store
//   - a killed commit is whole or gone
//
// Laws that need a subject which can crash, or whose commits can be made to fail,
// are skipped on one that cannot. The kit's own tests break each law by stores that
// are wrong in one way.
package storetest
