// Package booting is the inside of booterd: what it knows of the site, how it answers
// machines from that, and what it tells the control plane.
//
// A [World] is the site's policy and boot records as of one revision. A [Follower]
// keeps it, from the control plane's feed and in a file, so that machines are served
// while the control plane is away. A [Desk] answers packets and requests for files
// from it, by the one decision of package booter, and never waits: what it has to
// tell leaves by bounded queues ([Seen], [Served]), and the machine's own retry closes
// the loop.
package booting
