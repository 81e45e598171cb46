// Package statemachinetest holds the checks that every table deserves.
//
// [Matrix] compares a table with a matrix that a person wrote from the
// requirements, cell by cell. [Machine] drives a record's Step with random
// events, late and repeated reports among them, and checks the [Laws] of every
// table. [Cover] tells which rows a test never took. [Golden] keeps rendered
// pages and lists from drifting.
package statemachinetest
