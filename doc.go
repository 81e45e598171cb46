// Package ingot is the tour of a library-first SDK for the life of bare-metal
// machines: how one is seen, claimed, booted, installed, used, drained, wiped
// and retired. It holds no types; everything is in the packages below it.
//
// # Axes and joints
//
// A machine has no single lifecycle. It has independent axes (registration,
// netboot, provision, scheduling, connectivity, run), each with a transition
// table of its own, and a control moves one of them. Where several must move
// together there is a named joint, decided whole and committed at once.
// docs/behaviour.md is the catalogue of what must hold. Its names, such as
// REG-5 or JOINT-1, stand in tables, in refusals and in tests;
// docs/decided.md says which package decides each of them.
//
// # The core is pure
//
// The families below decide and do not act. They take facts and the time as
// arguments and return a value, or a typed error with nothing changed. They
// open no socket, read no clock and draw no random number, so a test can try
// very many sequences of events and replay the one that failed. What acts, an
// edge, is always a package of its own.
//
// # Lifecycles
//
//   - [github.com/ingotmetal/ingot/statemachine]: a lifecycle as a table of
//     data, in which every state, event and guard is decided
//   - [github.com/ingotmetal/ingot/statemachine/registration],
//     [github.com/ingotmetal/ingot/statemachine/netboot],
//     [github.com/ingotmetal/ingot/statemachine/provision],
//     [github.com/ingotmetal/ingot/statemachine/schedule] and
//     [github.com/ingotmetal/ingot/statemachine/run]: the machines, one axis
//     each
//   - [github.com/ingotmetal/ingot/statemachine/lifecycle]: the node as one
//     value, and the joints
//   - [github.com/ingotmetal/ingot/statemachine/explore]: an exhaustive model
//     checker for any Step function
//   - [github.com/ingotmetal/ingot/statemachine/render]: a table as a page
//   - [github.com/ingotmetal/ingot/statemachine/journal]: a hash-chained log
//
// # Everything else a machine needs decided
//
//   - [github.com/ingotmetal/ingot/booter]: what a booting MAC is served, or
//     why nothing
//   - [github.com/ingotmetal/ingot/disklayout]: a layout realized on announced
//     disks, or why not
//   - [github.com/ingotmetal/ingot/identity]: who a machine proves to be, and
//     what keys may do, from [github.com/ingotmetal/ingot/identity/claim] codes
//     to [github.com/ingotmetal/ingot/identity/keys]
//   - [github.com/ingotmetal/ingot/bmc]: power, boot and inventory out of band,
//     and the proof that a machine is off, over the guarded HTTP of
//     [github.com/ingotmetal/ingot/bmc/wire]
//   - [github.com/ingotmetal/ingot/bmc/redfish]: the driver for BMCs that speak
//     Redfish
//   - [github.com/ingotmetal/ingot/bmc/machine]: runs drivers: budgets, retries,
//     sessions and polls of many machines
//   - [github.com/ingotmetal/ingot/placement]: which node gets the work, or
//     why none
//   - [github.com/ingotmetal/ingot/liveness]: from heartbeats to verdicts
//
// # Errors
//
// Every error that a caller can act on has a method Code() string, which
// returns a name of the closed list in API-3, such as CONFLICT. Find it
// without knowing the package:
//
//	if e, ok := errors.AsType[interface {
//		error
//		Code() string
//	}](err); ok {
//		reply(e.Code())
//	}
//
// # House laws
//
// The tests of this package hold the house together: who may import whom,
// what core code may call, that each requirement is cited where it is said to
// be decided. Each law is also handed a small tree that breaks it.
package ingot
