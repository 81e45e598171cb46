package bmc_test

import (
	"strings"
	"testing"

	"github.com/ingotmetal/ingot/bmc"
)

func TestReadMAC(t *testing.T) {
	tests := []struct {
		raw   string
		want  string
		fault bmc.MACFault
	}{
		{"04:32:01:aB:cd:ef", "04:32:01:ab:cd:ef", bmc.NoFault},
		{"04-32-01-AB-CD-EF", "04:32:01:ab:cd:ef", bmc.NoFault},
		{"043201ABCDEF", "04:32:01:ab:cd:ef", bmc.NoFault},
		{" 04:32:01:ab:cd:ef\n", "04:32:01:ab:cd:ef", bmc.NoFault},
		{"02:00:00:00:00:01", "02:00:00:00:00:01", bmc.NoFault}, // administered locally
		{"", "", bmc.Absent},
		{"  ", "", bmc.Absent},
		{"Not Available", "", bmc.Absent}, // Cray EX
		{"N/A", "", bmc.Absent},
		{"null", "", bmc.Absent},
		{"00:00:00:00:00:00", "", bmc.Zero},
		{"ff:ff:ff:ff:ff:ff", "", bmc.Zero},
		{"01:00:5e:00:00:01", "", bmc.Group},
		{"33:33:00:00:00:01", "", bmc.Group},
		{"80:00:02:08:fe:80:00:00:00:00:00:00:04:3f:72:03:00:e4:28:10", "", bmc.Malformed}, // InfiniBand
		{"04:32:01:ab:cd", "", bmc.Malformed},
		{"04:32:01:ab:cd:ef:00", "", bmc.Malformed},
		{"04:32-01:ab:cd:ef", "", bmc.Malformed},
		{"0432:01ab:cdef:::", "", bmc.Malformed},
		{"04::32:01:ab:cdef", "", bmc.Malformed},
		{"4:32:1:ab:cd:ef", "", bmc.Malformed},
		{"gg:32:01:ab:cd:ef", "", bmc.Malformed},
		{"0432.01ab.cdef", "", bmc.Malformed},
		{"::::::", "", bmc.Malformed},
	}
	for _, tt := range tests {
		m, fault := bmc.ReadMAC(tt.raw)
		if fault != tt.fault || fault == bmc.NoFault && m.String() != tt.want || fault != bmc.NoFault && m != (bmc.MAC{}) {
			t.Errorf("%q: %s, %q", tt.raw, m, fault)
		}
	}
}

func FuzzReadMAC(f *testing.F) {
	for _, s := range []string{"", "04:32:01:ab:cd:ef", "04-32-01-AB-CD-EF", "043201abcdef", "ff:ff:ff:ff:ff:ff", "04::32:01:ab:cdef"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		m, fault := bmc.ReadMAC(s)
		if fault != bmc.NoFault {
			if m != (bmc.MAC{}) {
				t.Errorf("%q: %s beside the fault %s", s, m, fault)
			}
			return
		}
		lower := strings.ToLower(strings.TrimSpace(s))
		if lower != m.String() && lower != strings.ReplaceAll(m.String(), ":", "-") && lower != strings.ReplaceAll(m.String(), ":", "") {
			t.Errorf("%q is read as %s", s, m)
		}
		if again, fault := bmc.ReadMAC(m.String()); again != m || fault != bmc.NoFault || m[0]&1 != 0 || m == (bmc.MAC{}) {
			t.Errorf("%q: %s does not stand again: %s", s, m, fault)
		}
	})
}

func TestClaimUUID(t *testing.T) {
	tests := []struct{ raw, uuid, swapped, fault string }{
		{"4c4c4544-0042-3510-8052-b4c04f4d4e32", "4c4c4544-0042-3510-8052-b4c04f4d4e32", "44454c4c-4200-1035-8052-b4c04f4d4e32", ""},
		{"4C4C4544004235108052B4C04F4D4E32", "4c4c4544-0042-3510-8052-b4c04f4d4e32", "44454c4c-4200-1035-8052-b4c04f4d4e32", ""},
		{" 4c4c4544-0042-3510-8052-b4c04f4d4e32 ", "4c4c4544-0042-3510-8052-b4c04f4d4e32", "44454c4c-4200-1035-8052-b4c04f4d4e32", ""},
		{"", "", "", "absent"},
		{" ", "", "", "absent"},
		{"Not Available", "", "", "malformed"},
		{"4c4c4544-0042-3510-8052-b4c04f4d4e3", "", "", "malformed"},
		{"4c4c454400-42-3510-8052-b4c04f4d4e32", "", "", "malformed"},
		{"4c4c4544-0042-3510-8052-b4c04f4d4e3g", "", "", "malformed"},
		{"{4c4c4544-0042-3510-8052-b4c04f4d4e32}", "", "", "malformed"},
		{"00000000-0000-0000-0000-000000000000", "", "", "a placeholder"},
		{"FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF", "", "", "a placeholder"},
		{"20202020-2020-2020-2020-202020202020", "", "", "a placeholder"},
		{"03000200-0400-0500-0006-000700080009", "", "", "a placeholder"},
		{"00020003-0004-0005-0006-000700080009", "", "", "a placeholder"}, // the same, in the other order
		{"12345678-1234-5678-90ab-cddeefaabbcc", "", "", "a placeholder"},
		{"78563412-3412-7856-90ab-cddeefaabbcc", "", "", "a placeholder"},
		{"00000000-0000-0000-0000-7cc2558e4f08", "", "", "a placeholder"}, // Supermicro: zeros and a MAC
	}
	for _, tt := range tests {
		c := bmc.ClaimUUID(tt.raw)
		if c.Raw != tt.raw || c.Fault != tt.fault {
			t.Errorf("%q: %+v, want the fault %q", tt.raw, c, tt.fault)
		}
		if tt.uuid != "" && (c.UUID.String() != tt.uuid || c.Swapped.String() != tt.swapped) {
			t.Errorf("%q: %s and %s", tt.raw, c.UUID, c.Swapped)
		}
	}
}

func FuzzClaimUUID(f *testing.F) {
	for _, s := range []string{"", "4c4c4544-0042-3510-8052-b4c04f4d4e32", "4C4C4544004235108052B4C04F4D4E32", "03000200-0400-0500-0006-000700080009"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		c := bmc.ClaimUUID(s)
		if c.Fault == "absent" || c.Fault == "malformed" {
			if c.UUID != (bmc.UUID{}) || c.Swapped != (bmc.UUID{}) {
				t.Errorf("%q: %+v", s, c)
			}
			return
		}
		if bmc.ClaimUUID(c.UUID.String()).UUID != c.UUID || c.UUID.Swapped() != c.Swapped || c.Swapped.Swapped() != c.UUID {
			t.Errorf("%q: %s and %s", s, c.UUID, c.Swapped)
		}
		if other := bmc.ClaimUUID(c.Swapped.String()); other.Fault != c.Fault {
			t.Errorf("%q has the fault %q, and in the other order %q", s, c.Fault, other.Fault)
		}
	})
}

// Of two cards with one address the first keeps it; what had a fault before is
// left as it is, and gives nothing away.
func TestJudgeNICs(t *testing.T) {
	nic := func(raw string) bmc.NIC {
		m, fault := bmc.ReadMAC(raw)
		return bmc.NIC{MAC: m, Raw: raw, Fault: fault}
	}
	usb := nic("02:00:00:00:00:09")
	usb.Fault = bmc.ToController
	in := bmc.Inspection{NICs: bmc.JudgeNICs([]bmc.NIC{
		usb, nic("02:00:00:00:00:01"), nic(""), nic("02:00:00:00:00:02"), nic("02:00:00:00:00:01"), nic("02:00:00:00:00:09"), nic("junk"),
	})}
	want := []bmc.MACFault{bmc.ToController, bmc.NoFault, bmc.Absent, bmc.NoFault, bmc.Duplicate, bmc.NoFault, bmc.Malformed}
	for i, n := range in.NICs {
		if n.Fault != want[i] {
			t.Errorf("NIC %d, %q: %q, want %q", i, n.Raw, n.Fault, want[i])
		}
	}
	var got []string
	for _, m := range in.MACs() {
		got = append(got, m.String())
	}
	if strings.Join(got, " ") != "02:00:00:00:00:01 02:00:00:00:00:02 02:00:00:00:00:09" {
		t.Errorf("the addresses are %v", got)
	}
}
