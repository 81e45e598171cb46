// Package bootscript says where a booting client goes on to, and writes the script
// of an iPXE.
//
// [Site.First] is what DHCP points a client at: firmware at a first boot program,
// such as an iPXE, by TFTP or HTTP; an iPXE at its script. [Path] is the grammar of
// those names, so that a server reads what it was asked for. A [Key] makes the tokens
// in them, by which a machine is known wherever its request comes from.
//
// Whatever comes from a record, a policy or an image passes a gate before it becomes
// a word of a script: nothing that iPXE would read as its own (a variable, an
// operator, another line) gets through. A value that does not pass makes no script.
package bootscript
