package vmlab

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
)

// A Boot is the firmware of a machine and the way it boots first.
type Boot string

// The ways.
const (
	PXE    Boot = "uefi-pxe"    // UEFI, PXE over IPv4
	HTTP   Boot = "uefi-http"   // UEFI HTTP boot
	BIOS   Boot = "bios-ipxe"   // BIOS with the iPXE ROM of the network card
	Secure Boot = "secure-boot" // UEFI with Secure Boot, PXE over IPv4
)

// check refuses what is no way.
func (b Boot) check() error {
	switch b {
	case PXE, HTTP, BIOS, Secure:
		return nil
	}
	return &Invalid{"way " + string(b), fmt.Sprintf("one of %s, %s, %s, %s", PXE, HTTP, BIOS, Secure)}
}

// A Bus is what a disk is attached to.
type Bus string

// The buses.
const (
	NVMe Bus = "nvme"
	USB  Bus = "usb"
	SATA Bus = "sata"
)

// A Drive is a disk of a machine.
type Drive struct {
	Path   string // a raw file
	Serial string
	Bus    Bus
}

// A Spec is a machine. It is data alone: QEMU's arguments follow from it.
type Spec struct {
	Name   string
	UUID   string
	Serial string // SMBIOS
	MAC    string
	Tap    string
	Boot   Boot
	Local  bool // its disks come before the network
	Memory int  // MiB
	Drives []Drive
	Ports  int    // of the NVMe disks, the first ones, how many can be pulled while it runs
	TPM    string // path of swtpm's socket; "" is none
}

// Firmware is where the firmware's files are. BIOS and its network ROM are QEMU's own.
type Firmware struct{ Code, Vars, SecureCode, SecureVars string }

// DebianFirmware is where the package ovmf has it.
func DebianFirmware() Firmware {
	return Firmware{
		Code: "/usr/share/OVMF/OVMF_CODE_4M.fd", Vars: "/usr/share/OVMF/OVMF_VARS_4M.fd",
		SecureCode: "/usr/share/OVMF/OVMF_CODE_4M.secboot.fd", SecureVars: "/usr/share/OVMF/OVMF_VARS_4M.snakeoil.fd",
	}
}

// dumped is how many bytes of each packet are kept: enough for DHCP.
const dumped = 700

// A First is what a machine is told to boot from before all else.
type First string

// What it can be told. The zero First leaves the order to its Spec.
const (
	FromNetwork First = "network"
	FromDisk    First = "disk"
	FromMedium  First = "medium"
)

// A Start is what holds for one power cycle.
type Start struct {
	First  First
	Medium string // a raw file, in a drive on USB that can only be read; "" is none
}

// args are QEMU's. The files of this machine's own are in dir: its firmware's variables,
// its packets and the socket of its monitor.
func (s Spec) args(f Firmware, dir string, now Start) []string {
	a := []string{"-nodefaults", "-no-user-config", "-name", s.Name, "-display", "none", "-vga", "std", "-smp", "1", "-m", strconv.Itoa(s.Memory), "-cpu", "max",
		"-accel", "tcg,thread=multi", "-chardev", "stdio,id=console,signal=off", "-serial", "chardev:console",
		"-smbios", "type=1,manufacturer=ingot,product=vmlab,uuid=" + s.UUID + ",serial=" + s.Serial,
		"-object", "rng-random,filename=/dev/urandom,id=rng", "-device", "virtio-rng-pci,rng=rng", "-rtc", "base=utc,clock=host"}
	a = append(a, s.firmware(f, dir)...)
	a = append(a, "-netdev", "tap,id=n0,ifname="+s.Tap+",script=no,downscript=no,vnet_hdr=off", "-device", s.card(now))
	a = append(a, "-object", "filter-dump,id=f0,netdev=n0,maxlen="+strconv.Itoa(dumped)+",file="+filepath.Join(dir, "packets.pcap"))
	a = append(a, "-qmp", "unix:"+monitorFile(dir)+",server=on,wait=off")
	a = append(a, "-device", "qemu-xhci,id=xhci")
	for i := range s.Ports {
		a = append(a, "-device", fmt.Sprintf("pcie-root-port,id=%s,chassis=%d,slot=%d", portName(i), i+1, i+1))
	}
	for i, d := range s.Drives {
		twin := slices.ContainsFunc(s.Drives[:i], func(o Drive) bool { return o.Bus == d.Bus && o.Serial == d.Serial })
		if twin && d.Bus == NVMe {
			a = append(a, s.twin(i)...)
			continue
		}
		a = append(a, d.args(i, s.Ports)...)
	}
	a = append(a, now.medium()...)
	if s.TPM != "" {
		a = append(a, "-chardev", "socket,id=tpm,path="+s.TPM, "-tpmdev", "emulator,id=tpm0,chardev=tpm", "-device", "tpm-crb,tpmdev=tpm0")
	}
	return a
}

func (s Spec) firmware(f Firmware, dir string) []string {
	vars := "if=pflash,unit=1,format=raw,file=" + filepath.Join(dir, "vars.fd")
	switch s.Boot {
	case BIOS:
		return []string{"-machine", "q35,graphics=off"}
	case Secure:
		return []string{"-machine", "q35,smm=on", "-global", "driver=cfi.pflash01,property=secure,value=on",
			"-drive", "if=pflash,unit=0,format=raw,readonly=on,file=" + f.SecureCode, "-drive", vars}
	}
	a := []string{"-machine", "q35", "-drive", "if=pflash,unit=0,format=raw,readonly=on,file=" + f.Code, "-drive", vars}
	if s.Boot == HTTP { // OVMF tries PXE first where it may
		a = append(a, "-fw_cfg", "name=opt/org.tianocore/IPv4PXESupport,string=n", "-fw_cfg", "name=opt/org.tianocore/IPv6PXESupport,string=n")
	}
	return a
}

// card is the network card. UEFI brings its own driver and PXE client; BIOS takes the
// card's ROM, which is an iPXE. Its place in the order is before the disks or behind.
func (s Spec) card(now Start) string {
	place := 0
	if now.First == "" && s.Local || now.First == FromDisk || now.First == FromMedium {
		place = behind
	}
	card := fmt.Sprintf("virtio-net-pci,netdev=n0,bootindex=%d,mac=%s", place, s.MAC)
	if s.Boot == BIOS {
		return card
	}
	return card + ",romfile="
}

// behind is a place in the boot order behind all disks.
const behind = 100

// medium is the drive of a medium. Nothing boots from it by itself, as it is the last.
func (now Start) medium() []string {
	if now.Medium == "" {
		return nil
	}
	place := behind + 1
	if now.First == FromMedium {
		place = 0
	}
	return []string{"-drive", "if=none,format=raw,readonly=on,id=medium,file=" + now.Medium,
		"-device", fmt.Sprintf("usb-storage,bus=xhci.0,removable=on,drive=medium,serial=MEDIUM,bootindex=%d", place)}
}

// twin are the arguments of an NVMe disk whose serial another one has. QEMU names an NVM
// subsystem by the serial, and Linux takes one disk of each and none of its twins: a twin
// has a subsystem of another name.
func (s Spec) twin(n int) []string {
	id := strconv.Itoa(n)
	return []string{"-drive", "if=none,format=raw,discard=unmap,id=d" + id + ",file=" + s.Drives[n].Path, "-device", "nvme-subsys,id=subsystem" + id + ",nqn=twin" + id,
		"-device", "nvme,id=twin" + id + ",serial=" + s.Drives[n].Serial + ",subsys=subsystem" + id,
		"-device", "nvme-ns,drive=d" + id + ",bus=twin" + id + ",nsid=1,uuid=" + s.UUID}
}

// portName is a PCIe port's, and slot that of the disk in it.
func portName(n int) string { return fmt.Sprint("port", n) }
func slot(n int) string     { return fmt.Sprint("disk", n) }

// args are those of a machine's nth disk; the first ones are in ports.
func (d Drive) args(n, ports int) []string {
	id := fmt.Sprint("d", n)
	back := []string{"-drive", "if=none,format=raw,discard=unmap,id=" + id + ",file=" + d.Path}
	index := ",bootindex=" + strconv.Itoa(n+1)
	switch d.Bus {
	case USB:
		return append(back, "-device", "usb-storage,bus=xhci.0,removable=on,drive="+id+",serial="+d.Serial+index)
	case SATA:
		return append(back, "-device", "ide-hd,drive="+id+",serial="+d.Serial+index)
	}
	if n < ports {
		index += ",id=" + slot(n) + ",bus=" + portName(n)
	}
	return append(back, "-device", "nvme,drive="+id+",serial="+d.Serial+index)
}

// words say what is not as always.
func (now Start) words() string {
	w := ""
	if now.First != "" {
		w += ", first from " + string(now.First)
	}
	if now.Medium != "" {
		w += ", with a medium"
	}
	return w
}
