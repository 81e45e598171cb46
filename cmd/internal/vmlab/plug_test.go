package vmlab

import (
	"net"
	"strings"
	"testing"
)

// A device that is pulled is gone once the guest has let it go, whenever QEMU says so.
func TestPull(t *testing.T) {
	const done, left = `{"return": {}, "id": %d}`, `{"event": "DEVICE_DELETED", "data": {"device": "disk1", "path": "x"}}`
	for _, c := range []struct {
		name string
		said []string
		want string
	}{
		{"after the answer", []string{done, left}, ""},
		{"before the answer", []string{left, done}, ""},
		{"after other events", []string{`{"event": "NIC_RX_FILTER_CHANGED", "data": {}}`, done, left}, ""},
		{"another leaves", []string{done, strings.ReplaceAll(left, "disk1", "disk2"), `{"event": "STOP"}`, "no message"}, "does not let disk1 go"},
		{"refused", []string{`{"id": %d, "error": {"class": "GenericError", "desc": "no hotplug"}}`}, "no hotplug"},
	} {
		t.Run(c.name, func(t *testing.T) {
			ours, theirs := net.Pipe()
			defer ours.Close()
			go fakeQEMU(theirs, map[string][]string{"device_del": c.said})
			q, err := newMonitor(ours)
			if err == nil {
				err = q.do("device_del", map[string]any{"id": "disk1"}, nil)
			}
			if err == nil {
				err = q.left("disk1")
			}
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("%v", err)
			}
		})
	}
}
