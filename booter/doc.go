// Package booter decides what a booting MAC is served, or why nothing.
//
// [Policy.Answer] takes the packet's facts ([Request]), the MAC's [Record] and
// the time, and returns the reply as data or the reason of silence. It never
// refuses out loud: there is no NAK (BOOT-6), since a NAK resets a client that
// a second server was about to serve. The price is time: a client that asks
// for a wrong address waits until its request times out.
//
// Reading packets, writing them and moving files are the business of the
// edges. Admission belongs to statemachine/netboot: here a machine is answered
// for what its record says, never for having been seen or listed (BOOT-18).
//
// A [Silence] is a reason: a name for counters and logs, the requirement
// behind it, and what an operator can do about it. [Policy.Why] lists all that
// apply, so "why was this machine not answered" needs no packet capture, only
// the facts of its last packet.
//
// One decision serves every protocol. DHCP asks [Policy.Answer]; TFTP and
// HTTP, which know the client already, ask [Policy.Boot], its middle part.
//
// What the booter remembers between packets (rates, boots, offers) is a
// [Memory]: a value with bounds, which the caller locks, shows each packet to
// and asks for the [Recent] facts of the next one.
package booter
