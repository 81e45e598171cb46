package booting

import (
	"cmp"
	"slices"
)

// maxOffered is how many images, and how many disk images, a report of boots may have
// (ReportBoots of package api).
const maxOffered = 1024

// An offer is what is staged here, as it is reported: sorted, and cut where it is too
// long, what the site names last.
type offer struct {
	staged, disks []string
	left          int // were cut
}

func (o offer) equal(p offer) bool {
	return slices.Equal(o.staged, p.staged) && slices.Equal(o.disks, p.disks) && o.left == p.left
}

// offer is what this booter can serve.
func (d *Desk) offer() (o offer) {
	disks := d.disks()
	d.mu.Lock()
	staged := make([]string, 0, len(d.staged))
	for name := range d.staged {
		staged = append(staged, name)
	}
	var named map[string]bool
	if len(staged) > maxOffered {
		named = d.world.names()
	}
	d.mu.Unlock()
	o.left = max(0, len(staged)-maxOffered) + max(0, len(disks)-maxOffered)
	o.staged, o.disks = first(staged, named), first(disks, nil)
	return o
}

// first are the first of a list by name, those that are named before all others.
func first(list []string, named map[string]bool) []string {
	slices.SortFunc(list, func(a, b string) int {
		switch {
		case named[a] == named[b]:
			return cmp.Compare(a, b)
		case named[a]:
			return -1
		}
		return 1
	})
	list = list[:min(len(list), maxOffered)]
	slices.Sort(list)
	return list
}

// names are the images that the policy and the records name.
func (w *World) names() map[string]bool {
	out := map[string]bool{w.Policy.EnrollmentImage: true, w.Policy.RescueImage: true}
	for _, s := range w.boots {
		out[s.Image] = true
		if s.Entry != nil {
			out[s.Entry.Image] = true
		}
	}
	return out
}
