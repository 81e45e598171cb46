package vmlab

import (
	"context"
	"fmt"
)

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
	err := m.ask(ctx, func(q *monitor) error {
		if err := q.do("blockdev-add", map[string]any{"driver": "raw", "node-name": node, "discard": "unmap", "file": map[string]any{"driver": "file", "filename": d.Path}}, nil); err != nil {
			return err
		}
		return q.do("device_add", device, nil)
	})
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
	err := m.ask(ctx, func(q *monitor) error {
		if err := q.do("device_del", map[string]any{"id": device}, nil); err != nil {
			return err
		}
		if err := q.left(device); err != nil {
			return err
		}
		if node := m.backs[device]; node != "" { // QEMU itself drops the back end of a disk that was there from the start
			return q.do("blockdev-del", map[string]any{"node-name": node}, nil)
		}
		return nil
	})
	if err != nil {
		return err
	}
	delete(m.backs, device)
	m.lab.say(m.Name, "plug", device+" leaves")
	return nil
}
