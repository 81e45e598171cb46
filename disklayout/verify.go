package disklayout

import (
	"fmt"
	"slices"
	"strings"
)

// Verify is what a node asks of an approved plan before it writes (SET-14,
// DISK-3): the plan is of this server and is the one that its digest names, and
// each disk that it writes is here once, may be written, is what it was, and
// holds nothing but what the plan lets die and what the running attempt, whose
// epoch stamp names, has written itself (SET-15). That p.Digest is the approved
// one is for the caller to compare.
//
// Other disks may have come and gone since. The error is a [*Refused].
func (p *Plan) Verify(disks []Disk, stamp Stamp) error {
	switch {
	case stamp.Server != p.Server:
		return refuse(StampInvalid, nil, "the plan is of server "+p.Server.String()+", this is "+stamp.Server.String())
	case p.Sum() != p.Digest:
		return refuse(PlanChanged, nil, "the plan has not the digest that it says")
	}
	all, err := survey(disks)
	if err != nil {
		return err
	}
	selectors := make([]Selector, len(p.Disks))
	for i := range p.Disks {
		selectors[i] = Selector{Serial: p.Disks[i].Serial}
	}
	chosen, err := choose(selectors, all)
	if err != nil {
		return err
	}
	for i, d := range chosen {
		if err := d.still(&p.Disks[i], stamp); err != nil {
			return err
		}
	}
	return nil
}

// still refuses a disk that is not what it was, or holds what was not there.
func (d *seen) still(w *Written, stamp Stamp) error {
	if why := w.changed(d.written(nil)); len(why) > 0 {
		return refuse(DiskChanged, d, "it is another than in the plan: "+strings.Join(why, ", "))
	}
	for _, sig := range d.signatures() {
		_, resumed := stamp.owns(sig.Stamp)
		if !resumed && !slices.ContainsFunc(w.Lost, func(l Loss) bool { return l.Signature == sig }) {
			return d.foreign(sig)
		}
	}
	return nil
}

// changed tells in what a disk is another than it was, but for what is on it.
func (w *Written) changed(now Written) (why []string) {
	for _, f := range []struct{ what, now, was string }{
		{"model", now.Model, w.Model}, {"WWN", now.WWN, w.WWN}, {"transport", now.Transport, w.Transport},
		{"size", fmt.Sprint(now.Size), fmt.Sprint(w.Size)},
		{"logical sector", fmt.Sprint(now.LogicalSector), fmt.Sprint(w.LogicalSector)},
		{"physical sector", fmt.Sprint(now.PhysicalSector), fmt.Sprint(w.PhysicalSector)},
		{"rotation", turns(now.Rotational), turns(w.Rotational)},
	} {
		if f.now != f.was {
			why = append(why, fmt.Sprintf("%s %s, was %s", f.what, or(plain(f.now), "none"), or(plain(f.was), "none")))
		}
	}
	return why
}

// turns is a rotation for people.
func turns(b *bool) string { return [...]string{"unknown", "no", "yes"}[rotation(b)] }
