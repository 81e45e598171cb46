// Package statemachinetest holds the checks that every table deserves.
//
// [Matrix] compares a table with a matrix that a person wrote from the
// requirements, cell by cell. [Machine] drives a record's Step with random
// events, late and repeated reports among them, and checks the [Laws] of every
// table. [Cover] tells which rows a test never took. [Golden] keeps rendered
// pages and lists from drifting.
//
// The whole test of a machine is four calls:
//
//	func TestMatrix(t *testing.T) { statemachinetest.Matrix(t, Table, expected) }
//
//	func TestLaws(t *testing.T) { statemachinetest.Machine(t, subject).Require(t) }
//
//	func TestDefaults(t *testing.T) {
//		statemachinetest.Golden(t, "testdata/defaults.txt", statemachinetest.Defaults(Table))
//	}
//
//	func TestPage(t *testing.T) {
//		statemachinetest.Golden(t, "docs/machine.md", render.Page(Table))
//	}
//
// The kit decides again by itself what the engine decides: a kit that asked the
// engine would share its mistakes. Its own tests break each law on purpose.
//
// A machine needs no more. [Pairs] is for who writes a matrix of another form,
// [NewCover] for who drives a machine by tests of their own, and [Laws] for who
// checks steps that they recorded elsewhere.
//
// Matrix asks what the table says, and Machine whether Step obeys it. Neither
// replaces the other: a wrong table may be obeyed, a right one ignored.
package statemachinetest
