// Package vmlab runs real machines in a file: QEMU with firmware that nobody here
// wrote, on a network of its own, against ingotd and booterd as processes. It shows
// that what the rest of this repository says of machines is so.
//
// Everything runs in one network namespace, which the kernel takes away with the last
// process in it: nothing is left running, mounted or named. QEMU emulates the
// processor (TCG); the kernel's own virtualization is not needed.
package vmlab
