// Package bmc drives a machine's power, boot order and media out of band, and
// says what a driver for a baseboard management controller must do.
//
// A [Driver] opens a [Session] with one machine. What the session can do beyond
// that is found by type, with [As]: [Power], [Boot], [Media], [Inventory] and the
// rest. Drivers stay thin: they send and they read. How long to wait, when to try
// again and what counts as done is shared, and pure: [Confirm] proves that a
// machine is off (BMC-2), and a [Course] takes a [Verb] to its end state (BMC-1,
// BMC-3). Package bmc/machine runs courses; package bmc/bmctest holds drivers to
// what is written here.
//
// # Off is a proof
//
// No single read proves that a machine is off: firmware answers early, late and
// from a cache. What destroys data or gives a machine away rests on [Confirm]
// alone.
//
// # Three facts
//
// A request that was made, a request that the BMC accepted and a state that was
// seen are different things. An [Error] says whether its request was sent: no,
// yes, or maybe. A maybe is looked at again, and never sent again where twice is
// not the same as once.
package bmc
