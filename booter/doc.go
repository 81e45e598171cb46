// Package booter decides what a booting MAC is served, or why nothing.
//
// [Policy.Answer] takes the packet's facts ([Request]), the MAC's [Record] and
// the time, and returns the reply as data or the reason of silence. It never
// refuses out loud: there is no NAK (BOOT-6). Reading packets, writing them
// and moving files are the business of the edges; so is admission, which
// belongs to statemachine/netboot.
//
// One decision serves every protocol. DHCP asks [Policy.Answer]; TFTP and
// HTTP, which know the client already, ask [Policy.Boot], its middle part.
//
// What the booter remembers between packets (rates, boots, offers) is a
// [Memory]: a value with bounds, which the caller locks, shows each packet to
// and asks for the [Recent] facts of the next one.
package booter
