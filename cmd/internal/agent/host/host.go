// Package host is the machine that noded runs on, as sysfs and the kernel show it, and
// what a process does that is the machine's first.
package host

import (
	"io/fs"
	"log/slog"
	"path"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ingotmetal/ingot/cmd/internal/agent"
	"github.com/ingotmetal/ingot/disklayout/apply"
)

// A Host is an agent.Machine.
type Host struct {
	Sys  fs.FS  // sysfs, with links
	Proc fs.FS  // procfs
	Dev  string // the folder of device nodes
	Now  func() time.Time
	Log  *slog.Logger
}

// UUID is the SMBIOS product UUID; reading it takes root.
func (h Host) UUID() (string, error) {
	raw, err := fs.ReadFile(h.Sys, "class/dmi/id/product_uuid")
	return strings.TrimSpace(string(raw)), err
}

// maxNICs bounds how many interfaces are listed.
const maxNICs = 256

// NICs are the Ethernet interfaces that are hardware, in the order of their names.
func (h Host) NICs() ([]agent.NIC, error) {
	all, err := fs.ReadDir(h.Sys, "class/net")
	if err != nil {
		return nil, err
	}
	var out []agent.NIC
	for _, e := range all {
		dir := path.Join("class/net", e.Name())
		if _, err := fs.Stat(h.Sys, path.Join(dir, "device")); err != nil || h.line(dir, "type") != "1" {
			continue // a bridge, a tunnel, a loopback, an InfiniBand port
		}
		mac := h.line(dir, "address")
		if len(mac) == 17 && strings.Trim(mac, "0:") != "" && len(out) < maxNICs {
			out = append(out, agent.NIC{Name: e.Name(), MAC: mac})
		}
	}
	slices.SortFunc(out, func(a, b agent.NIC) int { return strings.Compare(a.Name, b.Name) })
	return out, nil
}

// Disks are the machine's block devices that may be disks.
func (h Host) Disks() ([]apply.Source, error) { return apply.Blocks(h.Sys, h.Dev) }

// Facts are what a person wants to know of a machine before approving it.
func (h Host) Facts() map[string]any {
	out := map[string]any{"cpus": runtime.NumCPU(), "arch": runtime.GOARCH}
	for member, file := range map[string]string{"vendor": "sys_vendor", "product": "product_name", "product_serial": "product_serial", "bios_version": "bios_version"} {
		if s := h.line("class/dmi/id", file); s != "" {
			out[member] = s
		}
	}
	_, err := fs.Stat(h.Sys, "firmware/efi")
	out["uefi"] = err == nil
	if raw, err := fs.ReadFile(h.Proc, "sys/kernel/osrelease"); err == nil {
		out["kernel"] = tidy(string(raw))
	}
	if n := h.memory("meminfo", "MemTotal:"); n > 0 {
		out["memory"] = n
	}
	return out
}

// memory is a field of a file of procfs that counts kB, in bytes, or 0.
func (h Host) memory(file, field string) uint64 {
	raw, err := fs.ReadFile(h.Proc, file)
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(raw)) {
		if rest, ok := strings.CutPrefix(line, field); ok {
			n, _ := strconv.ParseUint(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 10, 44)
			return n << 10
		}
	}
	return 0
}

// line is the text of a small file, or "".
func (h Host) line(dir, file string) string {
	raw, err := fs.ReadFile(h.Sys, path.Join(dir, file))
	if err != nil {
		return ""
	}
	return tidy(string(raw))
}

// tidy makes a text of firmware one that any reader takes.
func tidy(s string) string {
	s = strings.ToValidUTF8(strings.Trim(s, " \t\r\n\x00"), "?")
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return -1
		}
		return r
	}, s)
	return strings.ToValidUTF8(s[:min(len(s), 128)], "")
}

// near is how far the clock may be off and is left alone: a machine that keeps time
// by itself knows better than a message on its way.
const near = 2 * time.Second

// SetClock sets the system's clock where it is off.
func (h Host) SetClock(to time.Time) error {
	off := to.Sub(h.Now().Round(0)) // by the wall clock
	if off.Abs() < near {
		return nil
	}
	h.Log.Info("the clock is set", "off", off.Round(time.Millisecond).String(), "to", to)
	return setClock(to)
}

// Restart restarts the machine at once, its caches written. It tells the memory that
// this process took at most, and what the machine has left.
func (h Host) Restart() error {
	h.Log.Info("the machine restarts", "peak_mib", h.memory("self/status", "VmHWM:")>>20, "available_mib", h.memory("meminfo", "MemAvailable:")>>20)
	return restart()
}
