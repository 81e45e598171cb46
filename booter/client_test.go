package booter_test

import (
	"strings"
	"testing"

	"github.com/ingotmetal/ingot/booter"
)

// platforms is the table of architectures, by hand from IANA's registry.
var platforms = map[booter.Arch]booter.Platform{
	0: "bios", 6: "efi-ia32", 7: "efi-x64", 9: "efi-x64", 10: "efi-arm32", 11: "efi-arm64",
	15: "efi-ia32", 16: "efi-x64", 18: "efi-arm32", 19: "efi-arm64", 20: "bios",
	21: "u-boot-arm32", 22: "u-boot-arm64", 23: "u-boot-arm32", 24: "u-boot-arm64",
}

func TestEveryArch(t *testing.T) {
	for n := range 1 << 16 {
		a := booter.Arch(n)
		if got := a.Platform(); got != platforms[a] {
			t.Errorf("%d is %q, want %q", a, got, platforms[a])
		}
		if got, want := a.UBoot(), a >= 21 && a <= 24; got != want {
			t.Errorf("%d: U-Boot is %v", a, got)
		}
	}
}

func TestUnknownArchIsSilent(t *testing.T) {
	for a := range booter.Arch(32) {
		for _, uboot := range []bool{false, true} {
			p, req := site(), discover()
			p.UBoot, req.Archs = uboot, []booter.Arch{a}
			want := booter.Silence("")
			if platforms[a] == "" || a.UBoot() && !uboot {
				want = booter.UnknownArch
			}
			if _, why := p.Answer(enrolling(), req, now); why != want {
				t.Errorf("arch %d, U-Boot allowed %v: %q, want %q", a, uboot, why, want)
			}
		}
	}
}

func TestParseClass(t *testing.T) {
	tests := map[string]booter.Class{
		"":                                  {},
		"dhclient":                          {},
		"pxeclient":                         {},
		" PXEClient":                        {},
		"PXEClient":                         {Family: "PXEClient"},
		"PXEClientX":                        {Family: "PXEClient"},
		"PXEClient:Arch:00007:UNDI:003000":  {Family: "PXEClient", Arch: 7, HasArch: true},
		"PXEClient:Arch:00000":              {Family: "PXEClient", HasArch: true},
		"PXEClient:Arch:7:UNDI:003000":      {Family: "PXEClient"},
		"PXEClient:Arch:0000x:UNDI:003000":  {Family: "PXEClient"},
		"PXEClient:Arch:+0007:UNDI:003000":  {Family: "PXEClient"},
		"PXEClient:Arch:65536":              {Family: "PXEClient"},
		"PXEClient:Arch:65535":              {Family: "PXEClient", Arch: 65535, HasArch: true},
		"HTTPClient:Arch:00016:UNDI:003000": {Family: "HTTPClient", Arch: 16, HasArch: true},
		"U-Boot.armv8":                      {Family: "U-Boot"},
	}
	for in, want := range tests {
		if got := booter.ParseClass(in); got != want {
			t.Errorf("%q is %+v, want %+v", in, got, want)
		}
	}
}

func TestChecklistOfClients(t *testing.T) {
	arch := func(a ...booter.Arch) []booter.Arch { return a }
	tests := []struct {
		name     string
		class    string
		archs    []booter.Arch
		user     []string
		ipxe     bool // option 175
		uboot    bool // allowed
		stage    booter.Stage
		platform booter.Platform
		shaped   bool
	}{
		{"BIOS PXE", "PXEClient:Arch:00000:UNDI:002001", arch(0), nil, false, false, booter.PXE, booter.BIOS, true},
		{"UEFI x64 PXE", "PXEClient:Arch:00007:UNDI:003000", arch(7), nil, false, false, booter.PXE, booter.X64, true},
		{"UEFI arm64 PXE", "PXEClient:Arch:00011:UNDI:003000", arch(11), nil, false, false, booter.PXE, booter.ARM64, true},
		{"UEFI HTTP boot, architecture 16 is x64", "HTTPClient:Arch:00016:UNDI:003000", arch(16), nil, false, false, booter.HTTP, booter.X64, true},
		{"HTTPClient with architecture 7 is HTTP boot: 60 outranks 93", "HTTPClient", arch(7), nil, false, false, booter.HTTP, booter.X64, true},
		{"PXEClient with architecture 16 is PXE on x64: 60 outranks 93", "PXEClient", arch(16), nil, false, false, booter.PXE, booter.X64, true},
		{"the first architecture of 93 that is served counts", "PXEClient", arch(2, 11, 7), nil, false, false, booter.PXE, booter.ARM64, true},
		{"without 93 the architecture of 60 counts", "PXEClient:Arch:00007:UNDI:003000", nil, nil, false, false, booter.PXE, booter.X64, true},
		{"an odd or empty 93 is no architecture, and not BIOS", "PXEClient:Arch:00007:UNDI:003000", arch(booter.BadArch), nil, false, false, booter.PXE, "", true},
		{"no architecture at all is unknown, and not BIOS", "PXEClient", nil, nil, false, false, booter.PXE, "", true},
		{"iPXE by user class 77", "PXEClient:Arch:00007", arch(7), []string{"iPXE"}, false, false, booter.IPXE, booter.X64, true},
		{"iPXE by 175 alone, as FlexBoot", "", arch(0), nil, true, false, booter.IPXE, booter.BIOS, true},
		{"our own user class ends the chain", "PXEClient:Arch:00007", arch(7), []string{"iPXE", "ingot"}, true, false, booter.Chained, booter.X64, true},
		{"foreign iPXE without HTTP", "PXEClient:Arch:00000", arch(0), []string{"iPXE"}, true, false, booter.IPXETFTP, booter.BIOS, true},
		{"our iPXE without HTTP", "PXEClient:Arch:00000", arch(0), []string{"iPXE", "ingot"}, true, false, booter.Chained, booter.BIOS, true},
		{"U-Boot by class", "U-Boot.armv8", arch(22), nil, false, true, booter.UBoot, booter.UBootARM64, true},
		{"U-Boot by 93", "", arch(21), nil, false, true, booter.UBoot, booter.UBootARM32, true},
		{"U-Boot by HTTP", "U-Boot.armv8", arch(24), nil, false, true, booter.UBootHTTP, booter.UBootARM64, true},
		{"U-Boot by class, EFI by 93", "U-Boot.armv8", arch(11), nil, false, true, booter.UBoot, booter.ARM64, true},
		{"U-Boot that policy does not allow is not PXE-shaped", "U-Boot.armv8", arch(22), nil, false, false, booter.UBoot, "", false},
		{"U-Boot as PXE client, not allowed", "PXEClient", arch(22), nil, false, false, booter.PXE, "", true},
		{"the same with another", "PXEClient", arch(22, 11), nil, false, false, booter.PXE, booter.ARM64, true},
		{"architecture without a class", "", arch(16), nil, false, false, booter.HTTP, booter.X64, false},
		{"an operating system is not PXE-shaped", "MSFT 5.0", nil, nil, false, false, booter.Plain, "", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p, req := site(), discover()
			p.UBoot = tt.uboot
			req.Class, req.Archs, req.UserClasses, req.IPXE = tt.class, tt.archs, tt.user, tt.ipxe
			req.NoHTTP = strings.Contains(tt.name, "without HTTP")
			got, shaped := p.Client(&req, now)
			if want := (booter.Client{Stage: tt.stage, Platform: tt.platform}); got != want || shaped != tt.shaped {
				t.Errorf("%+v, shaped %v; want %+v, %v", got, shaped, want, tt.shaped)
			}
		})
	}
}

// A bare REQUEST says nothing of itself: it is who the offer was made to.
func TestBareClient(t *testing.T) {
	p, req := site(), bare(1)
	got, shaped := p.Client(&req, now)
	if want := (booter.Client{Stage: booter.PXE, Platform: booter.ARM64}); got != want || !shaped {
		t.Errorf("%+v, shaped %v", got, shaped)
	}
}

// Without a class of its own a site takes no iPXE for its own, not even one
// that sends an empty class.
func TestNoChainClass(t *testing.T) {
	p, req := site(), discover()
	p.ChainClass, req.UserClasses = "", []string{"", "iPXE"}
	if got, _ := p.Client(&req, now); got.Stage != booter.IPXE {
		t.Errorf("%+v", got)
	}
}

func FuzzParseClass(f *testing.F) {
	for _, s := range []string{"", "PXEClient", "PXEClient:Arch:00007:UNDI:003000", "HTTPClient:Arch:00016", "U-Boot.armv8", "PXEClient:Arch:"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		c := booter.ParseClass(s)
		if c.Family != booter.NoFamily && (len(s) < len(c.Family) || s[:len(c.Family)] != string(c.Family)) {
			t.Errorf("%q is no %s", s, c.Family)
		}
		if c.Family == booter.NoFamily && c != (booter.Class{}) {
			t.Errorf("%q: %+v has no family", s, c)
		}
		if !c.HasArch && c.Arch != 0 {
			t.Errorf("%q: %+v", s, c)
		}
	})
}
