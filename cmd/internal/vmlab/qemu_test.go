package vmlab

import (
	"errors"
	"strings"
	"testing"
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
		line := strings.Join(s.args(DebianFirmware(), "dir", Start{}), " ")
		for _, w := range append(want, "ifname=tap0", "bootindex=0,mac=52:54:00:1a:b0:01", "nvme,drive=d0,serial=A1,bootindex=1", "usb-storage,bus=xhci.0,removable=on,drive=d1,serial=B2,bootindex=2",
			"ide-hd,drive=d2,serial=C3,bootindex=3", "uuid=1ab00000-0000-4000-8000-000000000001,serial=LAB0001", "tpm-crb", "dir/packets.pcap", "unix:dir/qmp.sock,server=on") {
			if !strings.Contains(line, w) {
				t.Errorf("%s: no %q in %s", way, w, line)
			}
		}
		if (way == BIOS) == strings.Contains(line, "pflash") || (way == HTTP) != strings.Contains(line, "IPv4PXESupport") {
			t.Errorf("%s: %s", way, line)
		}
	}
}

// Disks in ports can be pulled, the others cannot.
func TestPorts(t *testing.T) {
	s := Spec{Boot: BIOS, Ports: 1, Drives: []Drive{{"a.img", "A1", NVMe}, {"b.img", "B2", NVMe}}}
	line := strings.Join(s.args(Firmware{}, "dir", Start{}), " ")
	for _, w := range []string{"-qmp unix:dir/qmp.sock,server=on", "pcie-root-port,id=port0,chassis=1", "nvme,drive=d0,serial=A1,bootindex=1,id=disk0,bus=port0", "serial=B2,bootindex=2"} {
		if !strings.Contains(line, w) {
			t.Errorf("no %q in %s", w, line)
		}
	}
	if strings.Contains(line, "port1") || strings.Contains(line, "disk1") {
		t.Error(line)
	}
}

// An NVMe disk with the serial of another one has a subsystem of its own; other buses
// have none.
func TestTwins(t *testing.T) {
	s := Spec{Boot: BIOS, UUID: "u", Drives: []Drive{{"a.img", "A1", NVMe}, {"b.img", "B2", NVMe}, {"c.img", "A1", NVMe}, {"d.img", "A1", USB}}}
	line := strings.Join(s.args(Firmware{}, "dir", Start{}), " ")
	for _, w := range []string{"nvme,drive=d0,serial=A1", "nvme,drive=d1,serial=B2", "nvme-subsys,id=subsystem2,nqn=twin2", "nvme,id=twin2,serial=A1,subsys=subsystem2", "nvme-ns,drive=d2,bus=twin2", "drive=d3,serial=A1"} {
		if !strings.Contains(line, w) {
			t.Errorf("no %q in %s", w, line)
		}
	}
	if strings.Count(line, "nvme-subsys") != 1 {
		t.Error(line)
	}
}

func TestScenarios(t *testing.T) {
	if all, err := known(Scenarios()); err != nil || len(all) != len(Scenarios()) {
		t.Error(err)
	}
	for _, bad := range [][]string{nil, {"floppy"}} {
		_, err := known(bad)
		if e, ok := errors.AsType[*Invalid](err); !ok || e.Code() != "INVALID_INPUT" || !strings.Contains(e.Error(), "uefi-pxe, uefi-http, bios-ipxe, secure-boot") {
			t.Errorf("%v: %v", bad, err)
		}
	}
}
