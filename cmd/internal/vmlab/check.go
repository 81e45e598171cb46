package vmlab

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
)

// A need is a program or file of the host, and the Debian package that has it.
type need struct{ what, debian string }

// programs are what the lab runs.
func programs() []need {
	return []need{{"qemu-system-x86_64", "qemu-system-x86"}, {"ip", "iproute2"}, {"swtpm", "swtpm"}}
}

// files are what the lab reads.
func (f Firmware) files() (out []need) {
	for _, path := range []string{f.Code, f.Vars, f.SecureCode, f.SecureVars, snakeoilKey, snakeoilCert} {
		out = append(out, need{path, "ovmf"})
	}
	return append(out, need{ipxeUEFI, "ipxe"}, need{ipxeBIOS, "ipxe"}, need{stubFile, "systemd-boot-efi"})
}

// maxSocket is the longest path of a Unix socket, in bytes (unix(7): 108 with its end).
const maxSocket = 107

// A host is how a lab looks for what it needs.
type host struct {
	program func(name string) error
	file    func(path string) error // it can be opened
	device  func(path string) error
}

func thisHost() host {
	open := func(path string, flag int) error {
		f, err := os.OpenFile(path, flag, 0)
		if err != nil {
			return err
		}
		return f.Close()
	}
	return host{
		func(name string) error { _, err := exec.LookPath(name); return err },
		func(path string) error { return open(path, os.O_RDONLY) },
		func(path string) error { return open(path, os.O_RDWR) },
	}
}

// check looks for what the lab needs before anything is made.
func (o Options) check(h host) error {
	if err := o.checkDir(); err != nil {
		return err
	}
	for _, n := range programs() {
		if h.program(n.what) != nil {
			return &Missing{n.what, "apt-get install " + n.debian}
		}
	}
	for _, n := range o.Firmware.files() {
		if err := h.file(n.what); err != nil {
			return &Missing{n.what, "apt-get install " + n.debian + because(err)}
		}
	}
	for _, name := range []string{"ingotd", "booterd", "noded"} {
		if err := h.file(filepath.Join(o.Bin, name)); err != nil {
			return &Missing{name + " in " + o.Bin, buildNext(o.Bin) + because(err)}
		}
	}
	if err := h.file(o.Kernel); err != nil {
		return &Missing{"the kernel package " + o.Kernel, "apt-get download what linux-image-cloud-amd64 depends on, and name it with --kernel" + because(err)}
	}
	switch err := h.device(tun); {
	case errors.Is(err, fs.ErrPermission):
		return &Missing{tun + " to be open to you", "run it as root, or let everybody use the device, as is usual: chmod 0666 " + tun + because(err)}
	case err != nil:
		return &Missing{tun, "modprobe tun; in a container, pass the device" + because(err)}
	}
	return nil
}

// tun is the device that a machine's network card is plugged into.
const tun = "/dev/net/tun"

// because is why, where it is not plain absence.
func because(err error) string {
	if errors.Is(err, fs.ErrNotExist) {
		return ""
	}
	return " (" + err.Error() + ")"
}

// checkDir looks whether the lab's folder may be called so: the paths of sockets have a
// bound, and QEMU reads a comma as the end of a path.
func (o Options) checkDir() error {
	if longest := filepath.Join(o.Dir, "m100", "qmp.sock"); len(longest) > maxSocket {
		return &Invalid{fmt.Sprintf("the folder %s has a path of %d bytes", o.Dir, len(o.Dir)), fmt.Sprintf("at most %d, since Unix sockets are made in it", maxSocket-len(longest)+len(o.Dir))}
	}
	if strings.Contains(o.Dir, ",") {
		return &Invalid{"the folder " + o.Dir, "no comma in its path, which QEMU reads as the path's end"}
	}
	return nil
}

// opening is the error of a step of making the lab, with a type, the step, and what to
// do.
func opening(step string, err error) error {
	if errors.Is(err, syscall.ENOSPC) {
		return &Failed{Step: step, Err: err, Next: "the disk is full: a lab needs some 800 MiB, and what its machines write; give --out on another disk"}
	}
	if _, ok := errors.AsType[interface {
		error
		Code() string
	}](err); ok {
		return err
	}
	return &Failed{Step: step, Err: err}
}
