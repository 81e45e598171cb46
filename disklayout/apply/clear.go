package apply

import (
	"slices"

	"github.com/ingotmetal/ingot/disklayout"
	"github.com/ingotmetal/ingot/disklayout/probe"
)

// clear lets die what the plan names and what this server had here, and then
// writes the mark. The mark comes last: an older one vouches for what is left of
// its layout, and the plan names that with that stamp.
func (i *install) clear() error {
	i.at(Clear, 0, 0)
	for _, group := range i.doomed() {
		if err := i.erase(group); err != nil {
			return err
		}
	}
	return i.putSynced(i.layout.mark)
}

// doomed are the signatures that die, in groups that die one after the other.
// While a table is there, what lies in its partitions is found and was approved;
// so a table dies after that. A protective MBR without its GPT is a signature of
// which no plan speaks; so it dies before the primary header, but after the
// backup, which only the primary may know the place of.
func (i *install) doomed() [4][]disklayout.Signature {
	var out [4][]disklayout.Signature
	var all []disklayout.Signature
	for _, l := range i.order.Plan.Disks[0].Lost {
		all = append(all, l.Signature)
	}
	for _, s := range slices.Concat(all, i.found.Signatures, i.hidden) {
		switch {
		case s.Type == probe.MarkType || s.Type == "partition":
		case s.Type == "gpt" && (s.Offset == 512 || s.Offset == 4096):
			out[3] = append(out[3], s)
		case s.Type == "gpt":
			out[1] = append(out[1], s)
		default:
			at := 0
			if s.Offset < 512 {
				at = 2
			}
			out[at] = append(out[at], s)
		}
	}
	if len(out[1])+len(out[3]) > 0 {
		out[2] = append(out[2], disklayout.Signature{Type: "PMBR", Offset: 510})
	}
	return out
}

// erase lets signatures die, each by the sector that has its magic: a disk
// writes that whole or not at all, so that it is found as it was or not found.
func (i *install) erase(sigs []disklayout.Signature) error {
	if len(sigs) == 0 {
		return nil
	}
	for _, s := range sigs {
		if s.Type == "zfs_member" {
			if err := i.eraseLabel(s.Offset); err != nil {
				return err
			}
			continue
		}
		if err := i.zero(s.Offset, 1); err != nil {
			return err
		}
	}
	return i.sync()
}

// eraseLabel lets a ZFS label die: the uberblocks first, while the names still
// say whose it is, and then the names.
func (i *install) eraseLabel(at uint64) error {
	if err := i.zero(at+128<<10, 128<<10); err != nil {
		return err
	}
	if err := i.sync(); err != nil {
		return err
	}
	return i.zero(at+16<<10, 1)
}

// zero writes zeros over the sectors that hold n bytes from at, and leaves the
// mark as it is.
func (i *install) zero(at, n uint64) error {
	sector := uint64(i.layout.sector)
	from, to := at/sector*sector, (at+n+sector-1)/sector*sector
	mark := i.layout.mark
	if from < mark.end() && to > mark.at {
		if from < mark.at {
			if err := i.put(piece{from, make([]byte, mark.at-from)}); err != nil {
				return err
			}
		}
		from = mark.end()
	}
	if from >= to {
		return nil
	}
	return i.put(piece{from, make([]byte, min(to, i.size)-from)})
}
