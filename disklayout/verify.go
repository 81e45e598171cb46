package disklayout

import "slices"

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
	now := d.written(nil)
	if now.WWN != w.WWN || now.Model != w.Model || now.Size != w.Size || now.Transport != w.Transport ||
		now.LogicalSector != w.LogicalSector || now.PhysicalSector != w.PhysicalSector || rotation(now.Rotational) != rotation(w.Rotational) {
		return refuse(DiskChanged, d, "its WWN, model, size, sectors, rotation or transport is another than in the plan")
	}
	for _, sig := range d.signatures() {
		_, resumed := stamp.owns(sig.Stamp)
		if !resumed && !slices.ContainsFunc(w.Lost, func(l Loss) bool { return l.Signature == sig }) {
			return d.foreign(sig)
		}
	}
	return nil
}
