package booter

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

// Arch is a processor architecture type of option 93 (RFC 4578 section 2.1
// and IANA's registry of RFC 5970).
type Arch uint16

// BadArch stands for an option 93 of odd or no length: an unknown
// architecture, and never BIOS, whose number is 0.
const BadArch Arch = 0xffff

// Platform is what a boot program must be built for.
type Platform string

// The platforms.
const (
	BIOS       Platform = "bios"
	IA32       Platform = "efi-ia32"
	X64        Platform = "efi-x64"
	ARM32      Platform = "efi-arm32"
	ARM64      Platform = "efi-arm64"
	UBootARM32 Platform = "u-boot-arm32"
	UBootARM64 Platform = "u-boot-arm64"
)

// archs are the architectures served. Firmware sends 9 for x64 as well as 7:
// the two changed places between RFC 4578 and its erratum.
var archs = [...]struct {
	arch        Arch
	platform    Platform
	http, uboot bool
}{
	{arch: 0, platform: BIOS},
	{arch: 6, platform: IA32},
	{arch: 7, platform: X64},
	{arch: 9, platform: X64},
	{arch: 10, platform: ARM32},
	{arch: 11, platform: ARM64},
	{arch: 15, platform: IA32, http: true},
	{arch: 16, platform: X64, http: true},
	{arch: 18, platform: ARM32, http: true},
	{arch: 19, platform: ARM64, http: true},
	{arch: 20, platform: BIOS, http: true},
	{arch: 21, platform: UBootARM32, uboot: true},
	{arch: 22, platform: UBootARM64, uboot: true},
	{arch: 23, platform: UBootARM32, http: true, uboot: true},
	{arch: 24, platform: UBootARM64, http: true, uboot: true},
}

// traits returns a's platform, "" for an unknown one, whether it boots by
// HTTP, and whether it is U-Boot.
func (a Arch) traits() (p Platform, http, uboot bool) {
	for i := range archs {
		if archs[i].arch == a {
			return archs[i].platform, archs[i].http, archs[i].uboot
		}
	}
	return "", false, false
}

// Platform returns what a boots, "" for an architecture not served.
func (a Arch) Platform() Platform {
	p, _, _ := a.traits()
	return p
}

// UBoot reports whether a is U-Boot's, served only where policy allows it.
func (a Arch) UBoot() bool {
	_, _, uboot := a.traits()
	return uboot
}

// Family is what the vendor class of option 60 begins with.
type Family string

// The families. NoFamily is any other class, or none.
const (
	NoFamily   Family = ""
	PXEClient  Family = "PXEClient"
	HTTPClient Family = "HTTPClient"
	UBootClass Family = "U-Boot"
)

// Class is option 60, read.
type Class struct {
	Family  Family
	Arch    Arch // of "<family>:Arch:nnnnn" (PXE 2.1, table 2-1)
	HasArch bool
}

// ParseClass reads option 60. It accepts every string: what it cannot read
// stays zero.
func ParseClass(s string) Class {
	for _, f := range [...]Family{PXEClient, HTTPClient, UBootClass} {
		rest, ok := strings.CutPrefix(s, string(f))
		if !ok {
			continue
		}
		arch, ok := classArch(rest)
		return Class{Family: f, Arch: arch, HasArch: ok}
	}
	return Class{}
}

// archDigits is how many digits a class gives its architecture.
const archDigits = 5

// classArch reads ":Arch:nnnnn", which ends there or at a colon.
func classArch(s string) (Arch, bool) {
	s, ok := strings.CutPrefix(s, ":Arch:")
	if !ok {
		return 0, false
	}
	digits, _, _ := strings.Cut(s, ":")
	if len(digits) != archDigits {
		return 0, false
	}
	n, err := strconv.ParseUint(digits, 10, 16)
	if err != nil {
		return 0, false
	}
	return Arch(n), true
}

// Stage is how far a client has come, and so what it can be handed next.
type Stage string

// The stages (BOOT-8).
const (
	Plain     Stage = "plain"       // does not boot: an address, if anything
	PXE       Stage = "pxe"         // firmware, by TFTP
	HTTP      Stage = "http"        // firmware, by HTTP boot
	IPXE      Stage = "ipxe"        // an iPXE that has HTTP, or does not say what it has
	IPXETFTP  Stage = "ipxe-tftp"   // an iPXE that says it has no HTTP: it is given the site's own by TFTP
	Chained   Stage = "chained"     // the site's own iPXE, ready for its script
	UBoot     Stage = "u-boot"      // U-Boot, by TFTP
	UBootHTTP Stage = "u-boot-http" // U-Boot, by HTTP
)

// Client is who asks. The platform is "" where the architecture is unknown.
type Client struct {
	Stage    Stage
	Platform Platform
}

// ipxeClass is the user class of every iPXE; some ROMs send option 175 alone.
const ipxeClass = "iPXE"

// Client says who sent req, and whether it is PXE-shaped (BOOT-20).
//
// Option 60 outranks the transport that option 93 implies, since firmware
// mixes them. The first architecture that is served counts (RFC 4578 section
// 2.1); without option 93, the one in the class. A bare REQUEST that takes up
// our offer is the client that the offer was made to.
func (p *Policy) Client(req *Request, now time.Time) (c Client, shaped bool) {
	class := ParseClass(req.Class)
	switch {
	case class.Family == PXEClient, class.Family == HTTPClient, p.isIPXE(req):
		shaped = true
	case p.UBoot && (class.Family == UBootClass || slices.ContainsFunc(req.Archs, Arch.UBoot)):
		shaped = true
	case req.bare() && req.Recent.Offer.outstanding(now, p.Limits.offer()):
		return req.Recent.Offer.Client, true
	}
	platform, http := p.arch(req.Archs, class)
	return Client{p.stage(req, class, platform, http), platform}, shaped
}

// bare reports whether r is a REQUEST as some firmware sends it after an
// OFFER: with neither class nor architecture. An operating system's renewal,
// which names its address in ciaddr, is not one.
func (r *Request) bare() bool {
	return r.Type == TypeRequest && r.Class == "" && len(r.Archs) == 0 && !set(r.ClientIP)
}

// isIPXE reports whether any iPXE sent req. FlexBoot, for one, sends option
// 175 without the user class.
func (p *Policy) isIPXE(req *Request) bool {
	return req.IPXE || slices.Contains(req.UserClasses, ipxeClass) || p.isChained(req)
}

// isChained reports whether the site's own iPXE sent req, so that it is given
// its script and not its own program once more.
func (p *Policy) isChained(req *Request) bool {
	return p.ChainClass != "" && slices.Contains(req.UserClasses, p.ChainClass)
}

// arch picks the first architecture served, and says whether it is one of
// HTTP boot.
func (p *Policy) arch(list []Arch, class Class) (Platform, bool) {
	if len(list) == 0 && class.HasArch {
		list = []Arch{class.Arch}
	}
	for _, a := range list {
		platform, http, uboot := a.traits()
		if platform != "" && (p.UBoot || !uboot) {
			return platform, http
		}
	}
	return "", false
}

// stage names the stage of a client of the platform, which is "" if unknown.
// An iPXE outranks the firmware that it runs on, whose class it repeats. A
// client without a class that sends option 93 is judged by its architecture.
func (p *Policy) stage(req *Request, class Class, platform Platform, http bool) Stage {
	uboot := class.Family == UBootClass || platform == UBootARM32 || platform == UBootARM64
	switch {
	case p.isChained(req):
		return Chained
	case p.isIPXE(req) && req.NoHTTP:
		return IPXETFTP
	case p.isIPXE(req):
		return IPXE
	case uboot && (http || class.Family == HTTPClient):
		return UBootHTTP
	case uboot:
		return UBoot
	case class.Family == HTTPClient:
		return HTTP
	case class.Family == PXEClient:
		return PXE
	case len(req.Archs) == 0:
		return Plain
	case http:
		return HTTP
	}
	return PXE
}
