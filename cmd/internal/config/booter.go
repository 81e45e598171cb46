package config

import (
	"net/netip"
	"path/filepath"
	"regexp"
	"slices"

	"github.com/ingotmetal/ingot/booter"
	"github.com/ingotmetal/ingot/cmd/internal/pin"
)

var (
	interfaceName = regexp.MustCompile(`^[^/\s]{1,15}$`)       // as the kernel takes them
	chainClass    = regexp.MustCompile(`^[\x20-\x7e]{0,255}$`) // option 77 is at most so long
)

// A Booter is one file of booterd.
type Booter struct {
	Name       string         `json:"name,omitzero" doc:"of this booter at the control plane, 1-128 of A-Z, a-z, 0-9, '.', '_', ':' and '-'"`
	State      string         `json:"state,omitzero" doc:"folder for everything that must last: what is known of the site, keys; local disk, mode 0700"`
	Server     Server         `json:"server,omitzero" doc:"the control plane"`
	Address    netip.Addr     `json:"address,omitzero" doc:"own IPv4 address on the admin network, by which machines reach TFTP, HTTP and sessions; required"`
	Interfaces []string       `json:"interfaces,omitzero" doc:"names of the interfaces on which DHCP is answered to machines that are not behind a relay; default none"`
	DHCP       DHCP           `json:"dhcp,omitzero" doc:"how DHCP is answered"`
	Images     string         `json:"images,omitzero" doc:"folder of staged images (ingot image stage); default images in state"`
	Loader     string         `json:"loader,omitzero" doc:"image with the first boot programs, such as iPXE's"`
	Carry      []netip.Prefix `json:"carry,omitzero" doc:"networks of BMCs to which ingotd may connect through this booter, where its own configuration says so (bmc.through); default none"`
	Listen     BooterListen   `json:"listen,omitzero" doc:"ports and sockets; of an address that is left out the host is every interface"`
	Log        Log            `json:"log,omitzero" doc:"what booterd writes to standard error"`
	Metrics    string         `json:"metrics,omitzero" doc:"own address host:port for Prometheus, plain HTTP, no authentication: keep it on an inner network; default none, the Unix socket always serves /metrics"`
}

// Server says where the control plane is and with which keys this booter asks it.
type Server struct {
	Address   string `json:"address,omitzero" doc:"host:port of ingotd's TLS listener; required"`
	Pin       string `json:"pin,omitzero" doc:"pin of ingotd's key, as ingotd pin shows it; required"`
	BooterKey string `json:"booter_key_file,omitzero" doc:"file, mode 0600, with an API key of the scope booter; required"`
	EnrollKey string `json:"enroll_key_file,omitzero" doc:"file, mode 0600, with an API key of the scope ur_enroll; required"`
}

// DHCP says how DHCP is answered.
type DHCP struct {
	Proxy      bool         `json:"proxy,omitzero" doc:"proxyDHCP: another server gives the addresses"`
	UBoot      bool         `json:"u_boot,omitzero" doc:"U-Boot may boot (BOOT-20)"`
	ChainClass string       `json:"chain_class,omitzero" doc:"user class of your own iPXE; default none"`
	AskPXE     bool         `json:"ask_pxe,omitzero" doc:"let UEFI firmware ask port 4011 for its file, as some needs to"`
	DNS        []netip.Addr `json:"dns,omitzero" doc:"name servers to tell machines; default none"`
	PerMAC     int          `json:"per_mac,omitzero" doc:"packets of one MAC that are heard in 10 s (BOOT-21)"`
	PerSecond  int          `json:"per_second,omitzero" doc:"packets of all machines that are heard in a second (BOOT-21)"`
}

// BooterListen says where booterd listens. None turns a socket off.
type BooterListen struct {
	DHCP    string `json:"dhcp,omitzero" doc:"UDP address of DHCP"`
	PXE     string `json:"pxe,omitzero" doc:"UDP address of the PXE boot server; none turns it off"`
	TFTP    string `json:"tftp,omitzero" doc:"UDP address of TFTP"`
	HTTP    string `json:"http,omitzero" doc:"TCP address of HTTP boot"`
	Session string `json:"session,omitzero" doc:"TCP address of the agents' sessions, TLS by a key made at the first start"`
	Unix    string `json:"unix,omitzero" doc:"path of the Unix socket for ingot why-silent and ingot boot explain; none turns it off"`
}

// DefaultBooter is what an empty file means.
func DefaultBooter() Booter { return Booter{}.Filled() }

// Filled returns b with each empty field taking its default.
func (b Booter) Filled() Booter {
	or(&b.Name, "booter")
	or(&b.State, "/var/lib/ingot-booter")
	or(&b.Images, filepath.Join(b.State, "images"))
	or(&b.Loader, "ipxe")
	or(&b.DHCP.PerMAC, 20)
	or(&b.DHCP.PerSecond, 5000)
	or(&b.Listen.DHCP, ":67")
	or(&b.Listen.PXE, ":4011")
	or(&b.Listen.TFTP, ":69")
	or(&b.Listen.HTTP, ":8080")
	or(&b.Listen.Session, ":8444")
	or(&b.Listen.Unix, "/run/ingot/booterd.sock")
	or(&b.Log.Level, "info")
	or(&b.Log.Format, "text")
	return b
}

// faults looks at no file: whether a path leads somewhere is found out by who opens it.
func (b Booter) faults() []*Invalid {
	j := &judge{}
	j.want(tenantName.MatchString(b.Name), "name", "want 1-128 of A-Z, a-z, 0-9, '.', '_', ':' and '-'")
	j.path("state", b.State)
	j.path("images", b.Images)
	j.want(isAddress(b.Server.Address), "server.address", "want host:port of the control plane, such as ingot.example.net:8443")
	_, badPin := pin.Parse(b.Server.Pin)
	j.want(badPin == nil, "server.pin", "want the pin that ingotd pin shows: sha256/ and 44 characters")
	j.path("server.booter_key_file", b.Server.BooterKey)
	j.path("server.enroll_key_file", b.Server.EnrollKey)
	j.want(b.Address.Is4() && !b.Address.IsUnspecified() && !b.Address.IsMulticast(), "address", "want this host's own IPv4 address on the admin network")
	j.want(booter.Gate(b.Loader) == nil, "loader", "want an image's name: 1-64 letters, digits and . _ -")
	for i, name := range b.Interfaces {
		j.want(interfaceName.MatchString(name), item("interfaces", i), "want the name of an interface")
		j.want(!slices.Contains(b.Interfaces[:i], name), item("interfaces", i), "is given twice")
	}
	j.want(chainClass.MatchString(b.DHCP.ChainClass), "dhcp.chain_class", "want 1-255 printable characters")
	j.between("dhcp.per_mac", b.DHCP.PerMAC, 4, 10_000)
	j.between("dhcp.per_second", b.DHCP.PerSecond, 10, 1_000_000)
	for i, a := range b.DHCP.DNS {
		j.want(a.Is4(), item("dhcp.dns", i), "want an IPv4 address")
	}
	for i, p := range b.Carry {
		j.want(p.IsValid() && p == p.Masked(), item("carry", i), "want an address prefix with no bits set after its length, such as 10.9.0.0/16")
	}
	for _, l := range []struct{ path, value string }{{"listen.dhcp", b.Listen.DHCP}, {"listen.tftp", b.Listen.TFTP}, {"listen.http", b.Listen.HTTP}, {"listen.session", b.Listen.Session}} {
		j.want(isAddress(l.value), l.path, "want host:port, such as :67")
	}
	j.want(b.Listen.PXE == None || isAddress(b.Listen.PXE), "listen.pxe", "want host:port, or none")
	if b.Listen.Unix != None {
		j.path("listen.unix", b.Listen.Unix)
		j.want(len(b.Listen.Unix) <= 107, "listen.unix", "want at most 107 bytes: the kernel takes no longer path")
	}
	j.want(b.Metrics == "" || isAddress(b.Metrics), "metrics", "want host:port, such as 127.0.0.1:9470")
	j.oneOf("log.level", b.Log.Level, "debug", "info", "warn", "error")
	j.oneOf("log.format", b.Log.Format, "text", "json")
	return j.faults
}
