package imagebuild

import (
	"bytes"
	"slices"

	"github.com/ingotmetal/ingot/cmd/internal/imagebuild/kmod"
)

// DefaultModules are those that machines need to be set up: network interfaces, disks,
// USB sticks, the firmware's variables and the TPM. What a kernel does not have is left
// out.
func DefaultModules() []string {
	return []string{
		"virtio_pci", "virtio_net", "virtio_blk", "virtio_scsi", // machines in machines
		"e1000", "e1000e", "igb", "igc", "ixgbe", "i40e", "ice", "bnxt_en", "mlx4_en", "mlx5_core", "r8169", "tg3", "ena", "vmxnet3",
		"nvme", "ahci", "ata_piix", "sd_mod", "megaraid_sas", "mpt3sas", "smartpqi", "hpsa", "aacraid", "vmw_pvscsi",
		"xhci_pci", "ehci_pci", "usb_storage", "uas",
		"efivarfs", "tpm_tis", "tpm_crb",
	}
}

// An Enroll is what an image that machines enroll with is made of.
type Enroll struct {
	Kernel Kernel
	Noded  []byte // the agent, a static program
	// Modules are those that are loaded, beside what they need. A kernel that lacks one is
	// an error. nil: DefaultModules, as far as the kernel has them.
	Modules []string
	Files   map[string][]byte // beside it in the RAM disk, by name
}

// Ramdisk makes the RAM disk. The error is an *Invalid or one of kmod's.
func (e Enroll) Ramdisk() (Ramdisk, error) {
	if err := checkInit(e.Noded, e.Kernel.Arch); err != nil {
		return Ramdisk{}, err
	}
	names := e.Modules
	if names == nil {
		names = slices.DeleteFunc(DefaultModules(), func(n string) bool { return !e.Kernel.Modules.Has(n) })
	}
	modules, err := e.Kernel.Modules.Order(names)
	if err != nil {
		return Ramdisk{}, err
	}
	return Ramdisk{Init: e.Noded, Release: e.Kernel.Release, Modules: modules, Files: e.Files}, nil
}

// Initrd makes the RAM disk, as the kernel takes it, and says which modules it holds.
func (e Enroll) Initrd() ([]byte, []kmod.Module, error) {
	d, err := e.Ramdisk()
	if err != nil {
		return nil, nil, err
	}
	var b bytes.Buffer
	if _, err := d.WriteTo(&b); err != nil {
		return nil, nil, err
	}
	return b.Bytes(), d.Modules, nil
}
