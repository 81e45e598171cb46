// Package probetest has a disk in memory, and signatures to plant on it: every
// entry of a public table of places at which something says what a disk holds.
package probetest

import "io"

// A Disk is mostly zeros: what was planted, by its place.
type Disk struct {
	Size    int64
	Planted map[int64][]byte
}

// NewDisk is an empty disk of size bytes.
func NewDisk(size int64) *Disk { return &Disk{size, map[int64][]byte{}} }

// Plant puts bytes at a place; later ones over earlier ones only at the same
// place.
func (d *Disk) Plant(at int64, what string) { d.Planted[at] = []byte(what) }

// ReadAt reads as from a file of Size bytes.
func (d *Disk) ReadAt(b []byte, at int64) (int, error) {
	clear(b)
	for from, what := range d.Planted {
		for i, c := range what {
			if p := from + int64(i) - at; p >= 0 && p < int64(len(b)) {
				b[p] = c
			}
		}
	}
	if n := d.Size - at; n < int64(len(b)) {
		return int(max(n, 0)), io.EOF
	}
	return len(b), nil
}
