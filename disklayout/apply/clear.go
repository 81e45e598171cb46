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

// The order in which signatures die. What is left at any time must be some of
// what was there, as it was: a look after a cut finds nothing of which the plan
// does not speak.
const (
	first    = iota // swap: it has its UUID in another sector, which a later one may clear
	inner           // while a table is there, what lies in its partitions is found
	backups         // of which only a primary may know the place
	boot            // the first sector: a protective MBR without its GPT would be a signature of its own
	damaged         // tables that nobody knows the owner of, while those that are known keep a mark from vouching
	primary         // tables
	boundary        // the first sector, where it has a table of its own
	groups
)

// doomed are the signatures that die, group by group.
func (i *install) doomed() [groups][]disklayout.Signature {
	var all []disklayout.Signature
	for _, l := range i.order.Plan.Disks[0].Lost {
		all = append(all, l.Signature)
	}
	all = slices.Concat(all, i.found.Signatures, i.hidden)
	zero := boot
	if slices.ContainsFunc(all, func(s disklayout.Signature) bool { return s.Type == "dos" && s.Offset < 512 }) {
		zero = boundary
	}
	var out [groups][]disklayout.Signature
	for _, s := range all {
		if s.Type != probe.MarkType && s.Type != "partition" {
			n := i.group(s, zero)
			out[n] = append(out[n], s)
		}
	}
	if len(out[backups])+len(out[damaged])+len(out[primary]) > 0 {
		out[zero] = append(out[zero], disklayout.Signature{Type: "PMBR", Offset: 510})
	}
	return out
}

// group is the one in which a signature dies; zero is that of the first sector.
func (i *install) group(s disklayout.Signature, zero int) int {
	switch {
	case s.Offset < uint64(i.layout.sector):
		return zero
	case s.Type == "swap" || s.Type == "swsuspend":
		return first
	case s.Type != "gpt":
		return inner
	case s.UUID == "":
		return damaged
	case s.Offset == 512 || s.Offset == 4096:
		return primary
	}
	return backups
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
