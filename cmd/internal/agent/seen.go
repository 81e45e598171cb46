package agent

import (
	"github.com/ingotmetal/ingot/disklayout"
	"github.com/ingotmetal/ingot/disklayout/apply"
)

// Known is the machine's UUID, and whether its key is kept.
func (a *Agent) Known() (uuid string, key bool, err error) {
	uuid, _, err = who(a.Machine)
	if err != nil {
		return "", false, err
	}
	kept, err := load(a.Keep, uuid)
	return uuid, kept != nil, err
}

// Seen is the inventory of the disks, and what could not be seen.
func Seen(m Machine) ([]disklayout.Disk, []error) {
	sources, err := m.Disks()
	if err != nil {
		return nil, []error{err}
	}
	disks, missed := apply.Inventory(sources)
	var errs []error
	for _, e := range missed {
		errs = append(errs, e)
	}
	return disks, errs
}

// OnDisk keeps the key of a machine on the disk that setup wrote for it.
func OnDisk(m Machine) (DiskKeep, error) {
	_, uuid, err := who(m)
	return DiskKeep{Machine: uuid, Disks: m.Disks}, err
}
