// Package crashtest holds the crash campaign of package bolt, as tests alone.
//
// A child process works on a store under strace, which shows each write, truncation
// and sync with its data, and each acknowledgement between them. From that the
// tests make what a disk may hold after a loss of power at each instant, open every
// such image, and want all that was acknowledged and nothing half done. Other tests
// kill the child at each of its calls, have calls fail, fill the disk, and kill the
// whole control plane.
//
// An ordinary run takes a part of all that. INGOT_CRASH=full takes all of it: at
// least 10,000 images, a kill at every call, more lives of the control plane.
// INGOT_CRASH_SEED chooses the seed of the images.
//
// What a device mapper would show, a file system that loses power under its own
// journal, is not here: the images are those of two files and a folder.
package crashtest
