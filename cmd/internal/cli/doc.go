// Package cli is the command line ingot: a verb for every operation of the table
// in cmd/api, and what a person needs beside them. A new operation has its verb,
// its flags, its completion and its page in the reference without a line here.
//
// It opens nothing by itself: streams, environment, network, clock and entropy come
// in with a [World], so that whole lives run in a test.
//
// Rules that hold for every verb: a command that cannot be meant, or that destroys
// without --yes, sends no request (CLI-1); there are no prompts but for secrets,
// and for the BMC that a destructive conformance run is to be let loose on;
// the exit code says what became of it ([Exits]).
package cli
