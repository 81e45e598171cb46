package vmlab

import (
	"bytes"
	"io"
	"strings"
	"testing"
)

// A line to a QEMU that has said all that it will say.
type line struct {
	io.Reader
	sent bytes.Buffer
}

func (l *line) Write(b []byte) (int, error) { return l.sent.Write(b) }

// A device that is pulled is gone once the guest has let it go, whenever QEMU says so.
func TestTalk(t *testing.T) {
	const greeting, done, left = `{"QMP":{}}{"return":{}}`, `{"return":{}}`, `{"event":"DEVICE_DELETED","data":{"device":"disk1","path":"x"}}`
	for said, want := range map[string]string{
		greeting + done + left: "",
		greeting + left + done: "",
		greeting + `{"event":"NIC_RX_FILTER_CHANGED","data":{}}` + done + left: "",
		greeting + done: "does not let disk1 go",
		greeting + done + strings.ReplaceAll(left, "disk1", "disk2"): "does not let disk1 go",
		greeting + `{"error":{"class":"x","desc":"no hotplug"}}`:     "device_del: no hotplug",
		greeting: "EOF",
		"":       "EOF",
	} {
		l := &line{Reader: strings.NewReader(said)}
		err := talk(l, []command{{"device_del", map[string]any{"id": "disk1"}}}, "disk1")
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v", said, err)
		}
		if want == "" && l.sent.String() != "{\"execute\":\"qmp_capabilities\"}\n{\"execute\":\"device_del\",\"arguments\":{\"id\":\"disk1\"}}\n" {
			t.Errorf("%q", l.sent.String())
		}
	}
}
