// Package storetest holds the promises of store.Store as laws, and the store that
// keeps them all.
//
// A store's whole conformance test is one call of [Run]. [Memory] is a store for
// the tests of other packages; a [Disk] is one with hooks: it can be opened again,
// lose a commit, or lose the reply to one. [Hostile] makes any store as unkind as
// the contract lets it be, so that closures which lean on luck are caught.
package storetest
