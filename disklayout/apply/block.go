package apply

import (
	"io/fs"
	"os"

	"github.com/ingotmetal/ingot/disklayout"
)

// A Block is a block device of Linux. Elsewhere it can be described from a
// sysfs, and neither looked at nor claimed.
type Block struct {
	Name string // kernel name, such as sda
	Sys  fs.FS  // sysfs, with links; os.DirFS("/sys") on a machine
	Dev  string // the folder of device nodes; default "/dev"
}

// Blocks lists the disks of a machine from its sysfs: every block device that is
// neither made out of others nor of memory, removable ones too.
func Blocks(sys fs.FS, dev string) ([]Source, error) {
	all, err := names(sys)
	if err != nil {
		return nil, refuse(Unidentified, "", "sysfs does not list the disks", err)
	}
	out := make([]Source, len(all))
	for i, n := range all {
		out[i] = Block{Name: n, Sys: sys, Dev: dev}
	}
	return out, nil
}

// Identity is what sysfs says.
func (b Block) Identity() (disklayout.Disk, error) { return described(b.Sys, b.Name) }

// Look opens the device to read it.
func (b Block) Look() (Reader, error) { return b.open(os.O_RDONLY) }

func (b Block) path() string {
	if b.Dev == "" {
		return "/dev/" + b.Name
	}
	return b.Dev + "/" + b.Name
}
