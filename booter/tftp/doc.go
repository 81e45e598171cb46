// Package tftp is a read-only TFTP server for network boot (BOOT-9): RFC 1350
// with the options of RFC 2347, 2348, 2349 and 7440.
//
// A [Server] is given a socket, and asks its Open for each file. Who may have
// what is decided there, by the decision that DHCP and HTTP use too. It runs
// no goroutine that Serve does not wait for, and dials nothing: the socket of
// each transfer comes from Listen, so that a whole network can be a test's.
//
// What it does where the RFCs leave a choice, or where firmware differs:
//
//   - Only mode octet is served. Firmware asks for nothing else, and netascii
//     would change programs; it gets ERROR 4 with a text that says so. A
//     write gets ERROR 2.
//   - Strangers hear nothing (BOOT-6): a packet that is no request, a request
//     to a broadcast or group address (RFC 1123 section 4.2.3.5), a client
//     that Admit does not know, and a request over [Limits]. The client's own
//     retry is its second chance.
//   - Option names and the mode are read in any case. The last NUL may be
//     missing, and bytes 0xff behind the name are cut off: old ROMs read past
//     the end of the DHCP option that holds it.
//   - An OACK holds only options that were asked for and understood, spelled
//     as the client spelled them. A bad value counts as not asked.
//   - Backslashes in names become slashes, and empty elements go. What remains
//     must pass fs.ValidPath: ".." gets ERROR 2, anything else ERROR 1.
//   - Block numbers wrap to 0, so size has no limit.
//   - A repeated ACK sends nothing again while a window is one block (RFC 1123
//     section 4.2.3.1). With a larger window, an ACK that leaves blocks out
//     means that they are lost, and they are sent again (RFC 7440 section 4).
//     If it may be the echo of a block that the client got twice, a short wait
//     decides, so that one packet doubled never doubles the rest.
//   - The same request from the same port is one transfer. It is answered as
//     before until the client goes on, and begins anew when the client had
//     fallen silent: many ROMs use the same port after each reset.
//   - A client that ends with an ERROR once it knows the size has got what it
//     wanted. That is [Probed], no failure.
//
// A transfer holds one buffer of a window's size, at most 256 KiB, and reads
// the file by ReadAt as it goes.
package tftp
