// Package demo lives the life of machines in one process, on loopback and without
// root: a control plane and a booter as in production, and machines that boot by real
// DHCP, TFTP and HTTP, run the node agent's code and have sparse files for disks. At
// the end it looks at what is left.
//
// A machine asks for its address as the relay that it also is (RFC 8357): there is no
// broadcast on loopback, and so every packet goes the way that a relayed packet goes
// in production.
//
// With a [Fault] something goes wrong on purpose, once: a disk is full, an image is
// gone, two operators approve at once. What is promised then is looked at, with the
// booter's own account of why a machine is not served, and the demo ends well all the
// same.
package demo
