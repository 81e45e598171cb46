// Package booting is the inside of booterd: what it knows of the site, how it answers
// machines from that, and what it tells the control plane.
//
// A [World] is the site's policy and boot records as of one revision. A [Follower]
// keeps it, from the control plane's feed and in a file, so that machines are served
// while the control plane is away. A [Desk] answers packets and requests for files
// from it, by the one decision of package booter, and never waits: what it has to
// tell leaves by bounded queues ([Seen], [Served]), and the machine's own retry closes
// the loop.
//
// [Setups] stands between agents and the control plane while machines are set up. It
// takes a bundle only once there is room to keep it, since a bundle is handed out once
// (SET-6). A [Reporter] tells what was seen and served, and a [Checker] reads what is
// staged again, so that a disk's errors are noticed before a machine boots them.
//
// What a full or broken disk does to a booter is said once in the log, for as long as it
// lasts in a metric, and beside the machine that waits for it in [Desk.Why]. Machines
// are served from memory meanwhile.
package booting
