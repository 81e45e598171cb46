// Package machine runs what package bmc decides: it waits, tries again, logs in
// late and once, and keeps to what a BMC bears.
//
// A [Machine] is one machine behind one BMC, for all who want something of it.
// [Gates] holds one budget for each BMC, shared by all its machines and callers; a
// [Poller] reads the power of very many machines, and [Idle] bounds how many
// sessions stay open between reads.
//
// # One verb at a time
//
// While a verb runs, another is a conflict that names it: waiting behind it would
// act on a machine that has changed since somebody asked. [bmc.TurnOff] is
// the exception: it takes over whatever else runs, as one expects of the switch
// for emergencies. The verb that it takes over sends nothing more, its request
// under way is let end, and its caller gets the conflict.
//
// # Refused credentials
//
// After one refusal nothing is sent with the same version of the credentials. What
// asks then costs a look at the source and no request to the BMC, since
// three wrong logins lock some accounts.
//
// # Written down first
//
// What must not be done twice is told to a [Journal] before it is sent. What a
// crash leaves begun and not ended nobody knows: [Machine.Resume] looks, and
// sends nothing.
package machine
