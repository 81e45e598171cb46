// Package dhcp4 is the DHCPv4 edge of booter: it reads packets into the facts of a
// [booter.Request], writes a [booter.Reply] as a packet, and serves ports 67 and
// 4011 with them.
//
// [Packet.Read] is the guard and the parser in one: it walks every option once, and
// through the fields file and sname where they are overloaded (RFC 2131 section
// 4.1), joins options that were split (RFC 3396) and tolerates a missing END where
// the options end on a whole option (BOOT-23). It takes any bytes, never panics, and
// names what is wrong as a [booter.Flaw].
//
// [Append] writes the reply: at least 300 bytes, since relays and old firmware drop
// shorter ones (RFC 1542 section 2.1), and at most what the client takes (BOOT-23).
// Option 53 comes first, 82 last (RFC 3046 section 2.2), the others in order of
// their numbers, so equal replies have equal bytes.
//
// Both allocate next to nothing: a site that loses power boots all of its machines
// at once.
package dhcp4
