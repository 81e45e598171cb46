package apply

import (
	"github.com/ingotmetal/ingot/disklayout"
	"github.com/ingotmetal/ingot/disklayout/probe"
)

// Inventory asks every disk who it is and looks at what is on it: the announced
// form. A disk that cannot be looked at is in the list with nil Signatures,
// which the planner takes for not looked at, and one that does not even say
// what it is with what is known of it, which makes it none to be written. missed
// has the reason for each, in the order of the disks.
func Inventory(sources []Source) (disks []disklayout.Disk, missed []*Refused) {
	for _, s := range sources {
		d, err := s.Identity()
		d.Signatures, d.Partitions = nil, nil
		if err != nil {
			missed = append(missed, refuse(Unidentified, name(&d), "it does not say what it is", err))
			disks = append(disks, d)
			continue
		}
		f, err := examineSource(s, &d)
		if err != nil {
			missed = append(missed, refuse(NotLooked, name(&d), "it cannot be looked at", err))
		} else {
			d.Signatures, d.Partitions = f.Signatures, f.Partitions
		}
		disks = append(disks, d)
	}
	return disks, missed
}

func examineSource(s Source, d *disklayout.Disk) (probe.Found, error) {
	r, err := s.Look()
	if err != nil {
		return probe.Found{}, err
	}
	defer r.Close()
	return probe.Look(r, int64(min(d.Size, disklayout.MaxSize)), d.LogicalSector)
}

// name is what people know a disk by.
func name(d *disklayout.Disk) string {
	if d.Serial != "" {
		return d.Serial
	}
	return d.Name
}
