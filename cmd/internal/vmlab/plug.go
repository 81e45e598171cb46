package vmlab

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"time"
)

// plugWait is how long QEMU, and for a disk that is pulled its guest, may take.
const plugWait = 30 * time.Second

// A command is one of QEMU's machine protocol (QMP).
type command struct {
	Execute   string         `json:"execute"`
	Arguments map[string]any `json:"arguments,omitempty"`
}

// An answer is whatever QEMU says: to a command, or by itself.
type answer struct {
	Return json.RawMessage `json:"return"`
	Error  *struct {
		Desc string `json:"desc"`
	} `json:"error"`
	Event string `json:"event"`
	Data  struct {
		Device string `json:"device"`
	} `json:"data"`
}

// talk has QEMU do some commands, and then waits until the device gone has left, where
// one is named.
func talk(c io.ReadWriter, all []command, gone string) error {
	in, out := json.NewDecoder(c), json.NewEncoder(c)
	left := gone == ""
	hear := func() (a answer, err error) {
		if err := in.Decode(&a); err != nil {
			return a, err
		}
		left = left || a.Event == "DEVICE_DELETED" && a.Data.Device == gone
		return a, nil
	}
	if _, err := hear(); err != nil { // its greeting
		return err
	}
	for _, do := range append([]command{{Execute: "qmp_capabilities"}}, all...) {
		if err := out.Encode(do); err != nil {
			return err
		}
		for answered := false; !answered; {
			a, err := hear()
			switch {
			case err != nil:
				return err
			case a.Error != nil:
				return errors.New("QEMU: " + do.Execute + ": " + a.Error.Desc)
			}
			answered = a.Return != nil
		}
	}
	for !left {
		if _, err := hear(); err != nil {
			return fmt.Errorf("the guest does not let %s go: %w", gone, err)
		}
	}
	return nil
}

// qmp talks with the machine's QEMU.
func (m *Machine) qmp(ctx context.Context, gone string, all ...command) error {
	c, err := m.lab.Dial("unix", m.plugs(m.dir))
	if err != nil {
		return err
	}
	defer c.Close()
	defer context.AfterFunc(ctx, func() { c.Close() })()
	if err := c.SetDeadline(m.lab.Now().Add(plugWait)); err != nil {
		return err
	}
	return talk(c, all, gone)
}

// plugs is where QEMU listens, for a machine with disks that come and go.
func (s Spec) plugs(dir string) string { return filepath.Join(dir, "qmp") }

// stick is the name of a disk on USB that comes while the machine runs.
const stick = "stick"

// Plug puts a disk into a port of the running machine, or into its USB, and waits until
// the kernel says that it sees it.
func (m *Machine) Plug(ctx context.Context, port int, d Drive) error {
	m.plugged++
	node, name, says := fmt.Sprintf("plug%d", m.plugged), slot(port), "poll queues"
	device := map[string]any{"driver": "nvme", "id": name, "bus": portName(port), "drive": node, "serial": d.Serial}
	if d.Bus == USB {
		name = stick
		device = map[string]any{"driver": "usb-storage", "id": stick, "bus": "xhci.0", "drive": node, "serial": d.Serial}
		says = "Attached SCSI"
	}
	_, since, _ := m.Console().Lines(0)
	err := m.qmp(ctx, "",
		command{"blockdev-add", map[string]any{"driver": "raw", "node-name": node, "discard": "unmap", "file": map[string]any{"driver": "file", "filename": d.Path}}},
		command{"device_add", device})
	if err != nil {
		return err
	}
	m.backs[name] = node
	if _, err := m.await(ctx, since, says); err != nil {
		return err
	}
	m.lab.say(m.Name, "plug", fmt.Sprintf("%s disk %s comes", d.Bus, d.Serial))
	return nil
}

// Pull takes a disk out of a port, or the one on USB.
func (m *Machine) Pull(ctx context.Context, device string) error {
	if err := m.qmp(ctx, device, command{"device_del", map[string]any{"id": device}}); err != nil {
		return err
	}
	if node := m.backs[device]; node != "" { // QEMU itself drops the back end of a disk that was there from the start
		if err := m.qmp(ctx, "", command{"blockdev-del", map[string]any{"node-name": node}}); err != nil {
			return err
		}
		delete(m.backs, device)
	}
	m.lab.say(m.Name, "plug", device+" leaves")
	return nil
}
