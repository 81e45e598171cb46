package vmlab

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"
)

// Each way of booting has its own firmware; the network card comes first, then the
// disks in their order.
func TestArguments(t *testing.T) {
	s := Spec{Name: "m1", UUID: "1ab00000-0000-4000-8000-000000000001", Serial: "LAB0001", MAC: "52:54:00:1a:b0:01", Tap: "tap0", Memory: 512, TPM: "tpm.sock",
		Drives: []Drive{{"a.img", "A1", NVMe}, {"b.img", "B2", USB}, {"c.img", "C3", SATA}}}
	for way, want := range map[Boot][]string{
		PXE:    {"OVMF_CODE_4M.fd", "unit=1,format=raw,file=dir/vars.fd", "romfile="},
		HTTP:   {"OVMF_CODE_4M.fd", "IPv4PXESupport,string=n"},
		BIOS:   {"q35,graphics=off"},
		Secure: {"smm=on", "property=secure,value=on", "OVMF_CODE_4M.secboot.fd"},
	} {
		s.Boot = way
		line := strings.Join(s.args(DebianFirmware(), "dir"), " ")
		for _, w := range append(want, "ifname=tap0", "bootindex=0,mac=52:54:00:1a:b0:01", "nvme,drive=d0,serial=A1,bootindex=1", "usb-storage,bus=xhci.0,removable=on,drive=d1,serial=B2,bootindex=2",
			"ide-hd,drive=d2,serial=C3,bootindex=3", "uuid=1ab00000-0000-4000-8000-000000000001,serial=LAB0001", "tpm-crb", "dir/packets.pcap", "unix:dir/qmp") {
			if !strings.Contains(line, w) {
				t.Errorf("%s: no %q in %s", way, w, line)
			}
		}
		if (way == BIOS) == strings.Contains(line, "pflash") || (way == HTTP) != strings.Contains(line, "IPv4PXESupport") {
			t.Errorf("%s: %s", way, line)
		}
	}
}

func TestWays(t *testing.T) {
	if err := known(Ways()); err != nil {
		t.Error(err)
	}
	for _, bad := range [][]Boot{nil, {"floppy"}} {
		err := known(bad)
		if e, ok := errors.AsType[*Invalid](err); !ok || e.Code() != "INVALID_INPUT" || !strings.Contains(e.Error(), "uefi-pxe, uefi-http, bios-ipxe, secure-boot") {
			t.Errorf("%v: %v", bad, err)
		}
	}
}

// A QEMU that is played: it greets, sends an event before each answer, and refuses one
// command.
func playQEMU(t *testing.T, conn net.Conn) {
	fmt.Fprintln(conn, `{"QMP": {"version": {}, "capabilities": []}}`)
	in := bufio.NewScanner(conn)
	for in.Scan() {
		var ask struct{ Execute string }
		if err := json.Unmarshal(in.Bytes(), &ask); err != nil {
			t.Error(err)
		}
		fmt.Fprintln(conn, `{"event": "RTC_CHANGE", "timestamp": {}}`)
		if ask.Execute == "screendump" {
			fmt.Fprintln(conn, `{"error": {"class": "GenericError", "desc": "no such file"}}`)
			continue
		}
		fmt.Fprintln(conn, `{"return": {"status": "running"}}`)
	}
}

func TestQMP(t *testing.T) {
	here, there := net.Pipe()
	done := make(chan struct{})
	go func() { defer close(done); playQEMU(t, there) }()
	q, err := newQMP(here, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	var got struct{ Status string }
	if err := q.do(time.Now, "query-status", nil, &got); err != nil || got.Status != "running" {
		t.Errorf("%+v, %v", got, err)
	}
	if err := q.do(time.Now, "screendump", map[string]any{"filename": "x"}, nil); err == nil || !strings.Contains(err.Error(), "no such file") {
		t.Errorf("%v", err)
	}
	_ = here.Close()
	<-done
	if err := q.do(time.Now, "query-status", nil, nil); err == nil {
		t.Error("a connection that is gone answers")
	}
}
