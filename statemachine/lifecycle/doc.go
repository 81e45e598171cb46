// Package lifecycle holds a machine's whole life as one value, and decides
// every change of it.
//
// [Step] takes a [State] (one [Node] with the boot records in its reach, and
// the [Site]), an [Input] and the time, and returns the whole next value with
// the facts to publish, or a typed error with nothing changed. The axes are
// the tables of packages registration, netboot, provision, schedule and run;
// where several must move together this package is the joint (JOINT-1 to
// JOINT-10), in one value and so in one commit.
//
// What a store keeps is [Rows], index rows included: a pure function of the
// value, so that a commit writes the difference and nothing can be forgotten.
// [Load] reads them back. [Due] is when a node must be looked at again.
// [Needs] is what its state wants from the world; nothing here calls anybody.
//
// Secrets, epochs' numbers and facts from elsewhere (allocations, staged
// images, power observations) come in with the input. Everything is safe for
// concurrent use: values are never changed in place. A step keeps the slices and
// maps that its input brings, so their caller must not change them afterwards.
package lifecycle
